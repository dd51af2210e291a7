"""How the answer of a mini app looks: `ui` is taken off what a handler returned and judged apart (rules I1)."""

from dataclasses import replace
from typing import Any, Final, cast

import orjson

from gateway.domain.canonical import canonical
from gateway.runtime.settlement import Answer
from surface_host.genui import is_ui_schema, sanitize_genui_props

UI: Final = "ui"
"""The key of a handler's return that is no part of its result."""


def parted(answer: Answer) -> Answer:
    """The answer of a handler without `ui`, and beside it what of that may be drawn, or that it is dropped."""
    # Most results hold no such key, and are not read for it.
    if answer.code is not None or answer.output is None or f'"{UI}"' not in answer.output:
        return answer
    output: Any = orjson.loads(answer.output)
    if not isinstance(output, dict) or UI not in output:
        return answer
    rest = cast("dict[str, Any]", output)
    schema = rest.pop(UI)
    drawn = _drawn(schema) if is_ui_schema(schema) else None
    return replace(answer, output=canonical(rest).decode(), ui=drawn, drops_ui=drawn is None)


def _drawn(schema: dict[str, Any]) -> str:
    return canonical({"type": schema["type"], "props": sanitize_genui_props(schema["props"])}).decode()
