"""What surface hosts can do: declared once, by the gateway, with the risks of the seed."""

from pathlib import Path
from typing import Any

import pytest

from capabilities.check import RESERVED_SEGMENTS, judge_descriptor
from capabilities.contract import HandlerKind
from capabilities.registry import HOST
from capabilities.validator import Validator
from policy.vocabulary import Risk

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "host-capabilities.md"
SOURCES = Path(__file__).parents[3] / "surface_host" / "src"


def test_the_risks_are_those_of_the_seed() -> None:
    assert {name: declared.risk for name, declared in HOST.items()} == {
        "app.open_url": Risk.USER_CONFIRMATION,
        "clipboard.write": Risk.USER_CONFIRMATION,
        "device.pick_file": Risk.SYSTEM_PERMISSION,
        "artifact.save": Risk.USER_CONFIRMATION,
        "notification.show": Risk.USER_CONFIRMATION,
    }


@pytest.mark.parametrize("name", list(HOST))
def test_each_is_sound_and_its_name_is_for_nobody_else(name: str) -> None:
    declared = HOST[name]
    assert judge_descriptor(declared, page=False) is None
    assert name.partition(".")[0] in RESERVED_SEGMENTS
    assert (declared.handler, declared.contract_version) == (HandlerKind.PAGE, "1.0")


@pytest.mark.parametrize("name", list(HOST))
def test_an_agent_may_say_why(name: str) -> None:
    reason = HOST[name].input_schema["properties"]["reason"]
    assert (reason["type"], reason["maxLength"]) == ("string", 280)


@pytest.mark.parametrize(
    ("name", "arguments", "fits"),
    [
        ("app.open_url", {"url": "https://example.test/a?b#c"}, True),
        ("app.open_url", {"url": "javascript:alert(1)"}, False),
        ("app.open_url", {"url": "https://a b"}, False),
        ("app.open_url", {"url": "https://" + "a" * 2_040}, True),
        ("app.open_url", {"url": "https://" + "a" * 2_041}, False),
        ("app.open_url", {}, False),
        ("clipboard.write", {"text": "a" * 65_536}, True),
        ("clipboard.write", {"text": "a" * 65_537}, False),
        ("clipboard.write", {"text": "", "reason": "a" * 281}, False),
        ("device.pick_file", {}, True),
        ("device.pick_file", {"accept": [".csv", "image/*"]}, True),
        ("device.pick_file", {"accept": ["*"]}, False),
        ("artifact.save", {"name": "a.txt", "text": ""}, True),
        ("artifact.save", {"name": "a.bin", "base64": "AA=="}, True),
        ("artifact.save", {"name": "a.txt"}, False),
        ("artifact.save", {"name": "a.txt", "text": "", "base64": ""}, False),
        ("artifact.save", {"name": "../a.txt", "text": ""}, False),
        ("artifact.save", {"name": "a\\b", "text": ""}, False),
        ("artifact.save", {"name": "a\n", "text": ""}, False),
        ("artifact.save", {"name": "", "text": ""}, False),
        ("notification.show", {"title": "a" * 120, "body": "b" * 500}, True),
        ("notification.show", {"title": "a" * 121}, False),
        ("notification.show", {"title": "a", "body": "b" * 501}, False),
    ],
)
def test_arguments_are_judged_at_the_edge(name: str, arguments: dict[str, Any], fits: bool) -> None:
    assert (Validator(HOST[name].input_schema).first_error(arguments) is None) is fits


def test_both_halves_know_the_same_ones() -> None:
    told = (SOURCES / "core" / "hosted.ts").read_text()
    listed = told.partition("export const HOSTED = [")[2].partition("]")[0]
    assert [name.strip(" '") for name in listed.split(",")] == list(HOST)


def test_the_reference_tells_each_with_its_risk() -> None:
    rows = [row.split("|") for row in PAGE.read_text().splitlines() if row.startswith("| `")]
    told = {row[1].strip(" `"): row[2].strip(" `") for row in rows}
    assert told.items() >= {name: declared.risk.value for name, declared in HOST.items()}.items()
