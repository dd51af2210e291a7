"""`python -m gateway.protocol.export [--check]`: the page channel's frames as JSON Schema, for readers and editors.

The types decide; the file is written from them, and `--check` says whether it still is.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final, get_args

from pydantic import TypeAdapter

from gateway.protocol.page_frames import Declaration, PageFrame

TARGET: Final = Path(__file__).resolve().parents[2] / "docs" / "spec" / "page-channel.schema.json"


def schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of every frame a page may send, with the declaration beside them."""
    kinds = [*get_args(PageFrame), Declaration]
    _, defined = TypeAdapter.json_schemas([(kind, "validation", TypeAdapter(kind)) for kind in kinds])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Page channel, version 1: frames from page to gateway",
        "oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in get_args(PageFrame)],
        "$defs": defined["$defs"],
    }


def text() -> str:
    """The file as it should be."""
    return json.dumps(schema(), indent=2, sort_keys=True) + "\n"


def main(arguments: list[str]) -> int:
    """Write the file, or with `--check` compare it; returns the exit code."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write("usage: python -m gateway.protocol.export [--check]\n")
        return 2
    if not arguments:
        TARGET.write_text(text())
        return 0
    if TARGET.is_file() and TARGET.read_text() == text():
        return 0
    sys.stderr.write(f"`{TARGET.name}` is not what the types say; run `python -m gateway.protocol.export`\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
