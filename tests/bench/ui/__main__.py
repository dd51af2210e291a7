"""`python -m tests.bench.ui`: everything in one run, as a table and as build/bench-ui.json.

Baselines: for the verdict in Python, `json.loads` and pydantic models of the language, and `jsonschema-rs` with the
published schema, both of which judge less; in the browser one frame of 60 a second; for a file the most it may have.
"""

import asyncio
import gzip
import json
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import jsonschema_rs

from surface_host import asset_root
from surface_host.documents import judge
from tests.bench.rows import Row, print_rows, write_rows
from tests.bench.ui.browser import measure
from tests.bench.ui.document import PATCHED, document
from tests.bench.ui.models import adapter

REPORT: Final = Path("build/bench-ui.json")
SCHEMA: Final = Path("docs/spec/ui-document.schema.json")
ROUNDS: Final = 60
FRAME_MS: Final = 1_000 / 60

SIZES: Final = {
    "surface-host-render.mjs": 40,
    "surface-host-documents.mjs": 14,
    "surface-host-genui.mjs": 6,
    "sandbox-frame.html": 4,
}
"""KiB, packed: the renderer, the judge, GenUI, and the frame surfaces live in."""


def main() -> None:
    """Measure, print, write."""
    raw = document()
    rows = [*in_python(raw), *in_browser(raw), *sizes()]
    print_rows(rows, title=f"a document of {len(raw):,} bytes and 199 nodes; ratio: value over baseline")
    write_rows(rows, REPORT)


def in_python(raw: bytes) -> Iterator[Row]:
    """The verdict beside its baselines, in turn, so that a drifting machine drifts for all."""
    models, schema = adapter(), jsonschema_rs.validator_for(json.loads(SCHEMA.read_text()))
    contenders: dict[str, Callable[[], Any]] = {
        "verdict": lambda: judge(raw),
        "pydantic": lambda: models.validate_python(json.loads(raw)),
        "schema": lambda: schema.validate(json.loads(raw)),
        "loads": lambda: json.loads(raw),
    }
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, work in contenders.items():
            began = time.perf_counter()
            work()
            taken[name].append((time.perf_counter() - began) * 1_000)
    middle = {name: statistics.median(times) for name, times in taken.items()}
    for name, baseline in (
        ("pydantic", "json.loads + pydantic"),
        ("schema", "jsonschema-rs"),
        ("loads", "json.loads"),
    ):
        yield _row(f"python.verdict / {baseline}", middle["verdict"], middle[name])


def in_browser(raw: bytes) -> Iterator[Row]:
    """From the text to the screen, and a patch of one node, against one frame."""
    props = _props(json.loads(raw)["root"])
    props["rows"][0]["place"] = "Street 0, house 99"
    taken = asyncio.run(measure(raw, props))
    for name, times in taken.items():
        yield _row(f"browser.{name} / frame", statistics.median(times), FRAME_MS)


def _props(node: dict[str, Any]) -> dict[str, Any]:
    nodes = [node]
    while nodes:
        at = nodes.pop()
        if at["id"] == PATCHED:
            return at["props"]
        nodes += at.get("children", [])
    raise LookupError(PATCHED)


def sizes() -> Iterator[Row]:
    """What each lazy entry costs on the way."""
    for name, budget in SIZES.items():
        packed = len(gzip.compress((asset_root() / name).read_bytes(), 9)) / 1_024
        yield Row(name=f"size.{name}", value=packed, unit="KiB gz", baseline=budget, ratio=packed / budget)


def _row(name: str, value: float, baseline: float) -> Row:
    return Row(name=name, value=value, unit="ms", baseline=baseline, ratio=value / baseline)


if __name__ == "__main__":
    main()
