"""The MCP Inspector's command line as a function: what another team's client makes of the gateway."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from tests.support.node_tools import package_file, run_node

PACKAGE: Final = "@modelcontextprotocol/inspector"

Era = Literal["modern", "legacy", "auto"]


@dataclass(frozen=True, slots=True)
class InspectorAnswer:
    """What the Inspector printed: one JSON document, and its notes beside it."""

    exit_code: int
    document: Mapping[str, Any]  # {"result": …} or {"error": {"code": …, "message": …}}
    notes: str

    @property
    def result(self) -> Any:
        """The MCP result. Raises: AssertionError with the Inspector's own words if there is none."""
        assert "result" in self.document, f"inspector ended with {self.exit_code}: {self.document} {self.notes}"
        return self.document["result"]


async def run_inspector(
    url: str,
    method: str,
    *options: str,
    home: Path,
    token: str | None = None,
    era: Era = "modern",
    strict: bool = True,
    time_limit: float = 60,
) -> InspectorAnswer:
    """One request, for example `run_inspector(url, "tools/list", home=tmp_path, token=token)`.

    `home` is a scratch folder for its settings. `strict` makes it judge a tool list as picky
    clients do; other methods have no such check. Raises: ToolMissing, TimeoutError.
    """
    script = package_file(PACKAGE, "clients/launcher/build/index.js")
    arguments = [
        "--cli",
        url,
        "--transport",
        "http",
        "--protocol-era",
        era,
        "--method",
        method,
        "--format",
        "json",
    ]
    if token is not None:
        arguments += ["--header", f"Authorization: Bearer {token}"]
    if strict and method == "tools/list":
        arguments += ["--strict"]
    env = {"HOME": str(home), "NO_COLOR": "1"}
    ended = await run_node(script, *arguments, *options, cwd=home, env=env, time_limit=time_limit)
    document, notes = _first_document(ended.stdout, ended.stderr)
    return InspectorAnswer(ended.exit_code, document, notes)


async def call_tool(url: str, name: str, arguments: Mapping[str, Any], *, home: Path, **how: Any) -> InspectorAnswer:
    """`tools/call` through the Inspector; `how` as in `run_inspector`."""
    options = ("--tool-name", name, "--tool-args-json", json.dumps(arguments))
    return await run_inspector(url, "tools/call", *options, home=home, **how)


def _first_document(*streams: str) -> tuple[Mapping[str, Any], str]:
    """Results come on standard output, errors on standard error, each as one JSON document on its lines."""
    for index, text in enumerate(streams):
        others = "".join(other for position, other in enumerate(streams) if position != index)
        start = text.find("{")
        if start >= 0:
            try:
                document, end = json.JSONDecoder().raw_decode(text, start)
            except ValueError:
                continue
            return document, text[:start] + text[end:] + others
    return {}, "".join(streams)
