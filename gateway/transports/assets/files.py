"""The built browser files as they are served: bytes, type, and the address that pins their content."""

import base64
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from surface_host import asset_root, read_manifest

PREFIX: Final = "surface-host"
"""Files of other names are for tests and are not served."""

TYPES: Final = {".js": "text/javascript", ".mjs": "text/javascript", ".map": "application/json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedFile:
    """One file; `address` is the path that will always mean these bytes, None for source maps."""

    name: str
    body: bytes
    media_type: str
    etag: str
    address: str | None


def load_files() -> dict[str, ServedFile]:
    """Read what the browser build left, by name.

    Raises:
        FileNotFoundError: it was not run.
    """
    files: dict[str, ServedFile] = {}
    for name, asset in read_manifest().items():
        if not name.startswith(PREFIX):
            continue
        suffix = PurePosixPath(name).suffix
        tag = _short(asset.sri)
        files[name] = ServedFile(
            name=name,
            body=asset.path.read_bytes(),
            media_type=TYPES[suffix],
            etag=tag,
            address=f"/{PREFIX}/{tag}{suffix}",
        )
        source_map = asset_root() / f"{name}.map"
        if source_map.is_file():
            files[source_map.name] = ServedFile(
                name=source_map.name,
                body=source_map.read_bytes(),
                media_type=TYPES[".map"],
                etag=f"{tag}-map",
                address=None,
            )
    return files


def _short(sri: str) -> str:
    """The first 16 bytes of an integrity value as hex: enough to name a file."""
    return base64.b64decode(sri.partition("-")[2])[:16].hex()
