"""`python -m gateway.protocol.export [--check]`: what we speak on the wire as JSON Schema, for readers and editors.

The types decide; the files are written from them, and `--check` says whether they still are.
"""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, get_args

from pydantic import TypeAdapter

from gateway.protocol import lineup
from gateway.protocol.page_frames import Declaration, PageFrame

SPEC: Final = Path(__file__).resolve().parents[2] / "docs" / "spec"


def page_channel() -> dict[str, Any]:
    """JSON Schema 2020-12 of every frame a page may send, with the declaration beside them."""
    kinds = [*get_args(PageFrame), Declaration]
    _, defined = TypeAdapter.json_schemas([(kind, "validation", TypeAdapter(kind)) for kind in kinds])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Page channel, version 1: frames from page to gateway",
        "oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in get_args(PageFrame)],
        "$defs": defined["$defs"],
    }


TARGETS: Final[Mapping[str, Callable[[], dict[str, Any]]]] = {
    "page-channel.schema.json": page_channel,
    "lineup-v1.schema.json": lineup.schema,
}
"""Each file with what it is written from."""


def text_of(target: str) -> str:
    """The file as it should be."""
    return json.dumps(TARGETS[target](), indent=2, sort_keys=True) + "\n"


def main(arguments: list[str]) -> int:
    """Write the files, or with `--check` compare them; returns the exit code."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write("usage: python -m gateway.protocol.export [--check]\n")
        return 2
    if not arguments:
        for target in TARGETS:
            (SPEC / target).write_text(text_of(target))
        return 0
    stale = [target for target in TARGETS if _present(target) != text_of(target)]
    for target in stale:
        sys.stderr.write(f"`{target}` is not what the types say; run `python -m gateway.protocol.export`\n")
    return int(bool(stale))


def _present(target: str) -> str | None:
    path = SPEC / target
    return path.read_text() if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
