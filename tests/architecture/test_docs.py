"""The documentation says what the code does: generated pages are current, links resolve, nothing is left out."""

import ast
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from gateway.cli import app
from gateway.domain.audit import AuditEvent
from gateway.domain.errors import ErrorCode
from gateway.settings import Limits, Server

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md"), ROOT / "surface_host" / "README.md"])


def _load_program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_program", ROOT / "scripts" / "docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks its module up by name.
    sys.modules[spec.name] = module
    sys.path.insert(0, str(ROOT / "scripts"))
    spec.loader.exec_module(module)
    return module


program: Any = _load_program()


# ---- generated pages ----------------------------------------------------------------------------------------


def test_generated_pages_are_up_to_date() -> None:
    stale: dict[Path, str] = program.stale()
    assert stale == {}, "\n".join([*stale.values(), "run `python scripts/docs.py`"])


def test_every_code_has_a_meaning() -> None:
    assert set(program.MEANINGS) == set(ErrorCode)


def test_every_audit_event_is_documented() -> None:
    assert set(program.EVENTS) == set(AuditEvent)


def test_every_fact_of_an_event_is_explained_and_no_other() -> None:
    used = {fact for event in program.EVENTS.values() for fact in event.facts.split()}
    assert used == set(program.FACTS)


def _facts_written() -> Iterator[tuple[AuditEvent, str, str]]:
    """Every fact the sources name beside an event, as (event, fact, where)."""
    base = {
        "of_call": program.CALL,
        "of_approval": program.APPROVAL,
        "of_page": program.PAGE,
        "note": program.DOOR,
        "of_admin": "",
        "of_access": "",
    }
    for path in sorted((ROOT / "gateway").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            owner = ast.unparse(node.func.value)
            name = node.func.attr
            if name not in base or (name == "note") != owner.endswith("refusals"):
                continue
            if not (owner == "audit" or owner.endswith("refusals")):
                continue
            events = [
                AuditEvent[argument.attr]
                for argument in node.args
                if isinstance(argument, ast.Attribute) and ast.unparse(argument.value) == "AuditEvent"
            ]
            if name == "note" and not events:
                events = [AuditEvent.ACCESS_REFUSED]
            for event in events:
                for fact in [*base[name].split(), *(k.arg for k in node.keywords if k.arg)]:
                    yield event, fact, f"{path.relative_to(ROOT)}:{node.lineno}"


def test_every_fact_the_code_writes_is_documented_with_its_event() -> None:
    written = list(_facts_written())
    assert len({event for event, _, _ in written}) > len(AuditEvent) // 2, (
        "the scan finds too little to mean anything"
    )
    missing = [
        f"{where}: `{fact}` of `{event.value}`"
        for event, fact, where in written
        if fact not in program.EVENTS[event].facts.split()
    ]
    assert missing == []


def test_the_builders_of_records_hold_the_documented_facts() -> None:
    """The three shared shapes, compared with the dictionaries of gateway/runtime/audit.py."""
    module = ast.parse((ROOT / "gateway" / "runtime" / "audit.py").read_text())
    shapes: dict[str, set[str]] = {}
    for function in module.body:
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Dict):
                    keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
                    shapes[function.name] = {str(key) for key in keys}
    assert shapes["of_call"] == set(program.CALL.split())
    assert shapes["of_approval"] == set(program.APPROVAL.split())
    assert shapes["of_page"] == set(program.PAGE.split())
    assert shapes["of_refusal"] == set(program.EVENTS[AuditEvent.CALL_REFUSED].facts.split())


# ---- links --------------------------------------------------------------------------------------------------

_LINK = re.compile(r"(?<!\\)\[[^\]]*\]\(([^)\s]+)\)|<img[^>]* src=\"([^\"]+)\"")
_FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.DOTALL | re.MULTILINE)


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the usual viewers make them."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_resolves(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", _FENCE.sub("", page.read_text()))
    broken: list[str] = []
    for found in _LINK.finditer(text):
        link = found[1] or found[2]
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in _anchors(target)):
            broken.append(link)
    assert broken == []


# ---- nothing left out ---------------------------------------------------------------------------------------


def _section(page: str, heading: str) -> str:
    """The text below `heading` up to the next of its rank."""
    _, found, rest = page.partition(f"\n## {heading}\n")
    assert found, f"there is no section `{heading}`"
    return rest.partition("\n## ")[0]


def test_every_limit_is_documented_with_its_default() -> None:
    section = _section((DOCS / "reference" / "configuration.md").read_text(), "`limits`")
    rows = dict(re.findall(r"^\| `(\w+)` \| (\d+) \|", section, re.MULTILINE))
    assert rows == {field.name: str(field.default) for field in fields(Limits)}


def test_every_server_setting_is_documented() -> None:
    section = _section((DOCS / "reference" / "configuration.md").read_text(), "`server`")
    rows = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    # The file names host and port together.
    settings = {"listen" if field.name.startswith("listen_") else field.name for field in fields(Server)}
    assert rows == settings


def test_every_command_is_documented() -> None:
    page = (DOCS / "reference" / "cli.md").read_text()
    named = {" ".join(path) for path, _ in program.commands(typer.main.get_command(app))}
    assert named
    assert set(re.findall(r"^## `(.+)`$", page, re.MULTILINE)) == named


@pytest.mark.parametrize("client", ["claude-code", "cursor", "codex", "vscode"])
def test_the_readme_shows_what_connect_prints(client: str, tmp_path: Path) -> None:
    nothing_here = str(tmp_path / "ostiary.yaml")
    printed = CliRunner().invoke(app, ["connect", client, "--config", nothing_here])
    assert printed.exit_code == 0
    assert printed.stdout.strip() in (ROOT / "README.md").read_text()


def test_every_make_target_people_run_is_in_the_readme() -> None:
    targets = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert targets
    readme = (ROOT / "README.md").read_text()
    assert [target for target in targets if f"`make {target}`" not in readme] == []


def test_decisions_are_numbered_without_gaps_and_have_their_parts() -> None:
    records = sorted((DOCS / "adr").glob("*.md"))
    assert [record.name[:4] for record in records] == [f"{n:04}" for n in range(1, len(records) + 1)]
    for record in records:
        text = record.read_text()
        for part in ("Date: ", "Status: ", "## Context", "## Decision", "## Consequences"):
            assert part in text, f"{record.name} lacks `{part}`"


@pytest.mark.parametrize(
    "words", ["RECEIPTS", "INTENTS", "REASONS", "ENTRIES", "READINESS", "MODELS", "HANDLERS", "CARRIERS", "RECORD"]
)
def test_the_page_of_the_runtime_explains_every_word(words: str) -> None:
    explained: dict[StrEnum, str] = getattr(importlib.import_module("runtime_page"), words)
    assert list(explained) == list(type(next(iter(explained))))
