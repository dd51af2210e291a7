"""What agents show surfaces with: what is declared is what is told, and what the domain knows."""

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from capabilities.builtin.surfaces import EVENTS, OPEN, SURFACES, WAIT_MAX_MS
from capabilities.check import judge_descriptor
from capabilities.validator import compile_validator
from gateway.domain.surfaces import Gone
from gateway.protocol.app_frames import FailedCode
from policy.vocabulary import Effect

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "surfaces.md").read_text()


def section(name: str) -> str:
    return PAGE.split(f"## `{name}`\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("name", SURFACES)
def test_the_page_names_every_argument_and_which_are_needed(name: str) -> None:
    schema: Any = SURFACES[name].input_schema
    rows = dict(re.findall(r"^\| `([a-z_]+)` \| ([^|]+) \|", section(name).split("It answers")[0], re.MULTILINE))
    assert set(rows) == set(schema["properties"])
    assert {argument for argument, said in rows.items() if said == "needed"} == set(schema["required"])


@pytest.mark.parametrize("name", SURFACES)
def test_the_page_names_what_is_answered(name: str) -> None:
    schema: Any = SURFACES[name].output_schema
    answered = re.search(r"It answers `\{([^}]+)\}`", section(name))
    assert answered is not None
    assert answered[1].split(", ") == schema["required"]


def test_the_page_names_every_reason_of_a_close() -> None:
    told = set(re.findall(r"`([a-z_]+)`", PAGE.split("| `data.reason` | |")[1].split("\n\n")[0]))
    assert told == {*Gone, *get_args(FailedCode)}


@pytest.mark.parametrize("name", SURFACES)
def test_they_pass_as_declarations_and_change_nothing_of_the_persons(name: str) -> None:
    assert judge_descriptor(SURFACES[name], page=False) is None
    assert SURFACES[name].effect is Effect.READ


@pytest.mark.parametrize(("wait", "is_taken"), [(WAIT_MAX_MS, True), (WAIT_MAX_MS + 1, False), (-1, False)])
def test_a_wait_is_bounded(wait: int, is_taken: bool) -> None:
    judged = compile_validator(EVENTS.input_schema).first_error({"wait_ms": wait})
    assert (judged is None) is is_taken


@pytest.mark.parametrize(
    ("name", "is_taken"),
    [("a" * 128, True), ("a" * 129, False), ("", False), ("a b", False), ("A.1_2:3-4", True)],
)
def test_a_name_has_its_grammar(name: str, is_taken: bool) -> None:
    given = {"app": "dev.ostiary.svg-canvas", "version": "1.0.0", "surface": "canvas", "instance_id": name}
    assert (compile_validator(OPEN.input_schema).first_error(given) is None) is is_taken
