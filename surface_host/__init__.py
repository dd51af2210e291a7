"""The built browser files of the surface host: where they are and what a page may pin.

This module knows names, paths and integrity values. It does not serve anything.
"""

import json
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

__all__ = ["Asset", "asset_root", "read_manifest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """One built file."""

    name: str
    path: Traversable
    sri: str


def asset_root() -> Traversable:
    """The folder of the built files; it exists after the browser build."""
    return files(__name__) / "dist"


def read_manifest() -> dict[str, Asset]:
    """Reads which files exist, by name.

    Raises:
        FileNotFoundError: the browser half was not built.
    """
    root = asset_root()
    manifest: dict[str, dict[str, dict[str, str]]] = json.loads((root / "manifest.json").read_text("utf-8"))
    return {
        name: Asset(name=name, path=root / entry["path"], sri=entry["sri"])
        for name, entry in manifest["files"].items()
    }
