"""Packages with one surface, for tests of what frames show."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from capabilities.manifest import MANIFEST_NAME, make_manifest


def surface_package(
    html: str = "<p>hello</p>",
    css: str | None = None,
    js: str | None = None,
    *,
    events: Sequence[str] = (),
    tools: Sequence[Mapping[str, Any]] = (),
    app: str = "dev.example.probe",
) -> tuple[str, dict[str, bytes]]:
    """The digest of such a package, and its files."""
    parts = {"main.html": html, "main.css": css, "main.js": js}
    files = {path: text.encode() for path, text in parts.items() if text is not None}
    manifest = make_manifest(
        {
            "manifest": 1,
            "app": {"id": app, "name": "Probe", "version": "1.0.0", "description": "For tests."},
            "contract_version": "1",
            "tools": [dict(tool) for tool in tools],
            "surfaces": [
                {
                    "id": "main",
                    "title": "Probe",
                    "html": "main.html",
                    "css": None if css is None else "main.css",
                    "js": None if js is None else "main.js",
                    "events": list(events),
                }
            ],
            "python": None,
            "files": [
                {"path": path, "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
                for path, body in sorted(files.items())
            ],
        }
    )
    return manifest.digest, {MANIFEST_NAME: manifest.text, **files}
