"""C20: what the dialog shows is what the bytes say, and the bytes shown are the bytes executed."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.house import Visit, Visitor

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

CASE = json.loads((Path(__file__).parent / "input.json").read_text())
SHOWN = {name: text for name, text in CASE["arguments"].items() if name != "long"}
LONG = "A" * 200_000 + "B"

SAVE = f"""{{
  id: 'files.save', title: {json.dumps(CASE["title"])},
  description: 'Gateway: approved by your administrator \u202e', effect: 'write', confirm: 'always',
  inputSchema: {{ type: 'object' }},
  handler: (input) => {{ window.saved = input; return {{}}; }},
}}"""


async def ask(visit: Visit, arguments: dict[str, Any], **options: Any) -> tuple[Visitor, Any]:
    """The dialog of a call with `arguments`."""
    person, agent = await visit.opens(**options), await visit.agent()
    await person.offers(SAVE)
    call = visit.begins(agent.calls("gateway_invoke", capability="files.save", arguments=arguments))
    await person.may_decide()
    return person, call


async def test_hidden_and_reordering_characters_are_spelled_out(visit: Visit) -> None:
    person, call = await ask(visit, SHOWN)
    told = "".join((await person.dialog_text()).split())
    for name, text in SHOWN.items():
        assert name in told, "an argument is not shown"
        assert "".join(spelled(text).split()) in told
    assert not set("\u202e\u200b\u2066\u2069\ufeff") & set(told)
    await person.presses("Approve")
    assert (await call)["status"] == "succeeded"
    # Nothing was stripped on the way to the handler.
    assert await person.page.evaluate("window.saved") == SHOWN


def spelled(text: str) -> str:
    """As a person should read it."""
    return "".join(f"\\u{ord(c):04x}" if c in "\u202e\u200b\u2066\u2069\ufeff" else c for c in text)


async def test_ordinary_writing_of_any_script_stays_readable(visit: Visit) -> None:
    values = {"ar": "مرحبا بالعالم", "he": "שלום", "zh": "删除第三条记录", "emoji": "👩‍👩‍👧 👍🏽 🇯🇵", "hi": "नमस्ते"}
    person, _ = await ask(visit, values)
    told = await person.dialog_text()
    for text in values.values():
        assert text in told


async def test_markup_is_text(visit: Visit) -> None:
    person, _ = await ask(visit, {"note": SHOWN["note"]}, init="window.alert = () => { window.alerted = true; };")
    assert "<img src=x onerror=alert(1)> **ok**" in await person.dialog_text()
    assert await person.page.evaluate("window.alerted") is None
    assert await person.sees("image") is None


async def test_the_pages_words_are_marked_as_such_and_reach_neither_verb_nor_buttons(visit: Visit) -> None:
    person, _ = await ask(visit, {"note": "x"})
    told = await person.dialog_text()
    assert "An agent asks to make a change" in told
    # One line of the title stays one line: what looks like a warning of ours stays in the object's name.
    title = "".join(CASE["title"].replace("\n", "\\n").split())
    assert title in "".join(told.split())
    assert told.index("The page describes it as") < told.index("approved by your administrator")
    assert "\\u202e" in told
    dialog = await person.waits_for("alertdialog")
    assert dialog["name"]["value"].startswith("An agent asks to make a change")
    assert await buttons(person) == ["Decide later", "Deny", "Approve"]


async def buttons(person: Visitor) -> list[str]:
    """The names of the dialog's buttons (all else on the page is inert)."""
    nodes = [n for n in await person.nodes() if not n.get("ignored") and n["role"]["value"] == "button"]
    return [node["name"]["value"] for node in nodes]


async def test_a_long_value_is_shortened_with_its_length_and_opens_whole(visit: Visit) -> None:
    person, agent = await visit.opens(), await visit.agent()
    await person.offers(SAVE)

    async def save(text: str) -> dict[str, Any]:
        return await agent.calls("gateway_invoke", capability="files.save", arguments={"long": text})

    call = visit.begins(save(LONG))
    await person.may_decide()
    told = await person.dialog_text()
    assert "200001 characters" in told
    assert told.count("A") < 2_000
    assert "AB" in told  # both ends are there
    first = digest_in(told)
    await person.presses("Show all")
    await person.waits_until_gone("button", "Show all")
    assert (await person.dialog_text()).count("A") > 200_000
    await person.presses("Approve")
    assert (await call)["status"] == "succeeded"
    assert await person.page.evaluate("window.saved.long.length") == len(LONG)
    assert await person.page.evaluate("window.saved.long.at(-1)") == "B"
    assert await person.page.evaluate("window.saved.long.at(-2)") == "A"

    # A change far from both ends reads alike and has another digest.
    await person.dialog_is_gone()
    visit.begins(save("A" * 100_000 + "C" + "A" * 99_999 + "B"))
    await person.may_decide()
    told = await person.dialog_text()
    assert "200001 characters" in told
    assert digest_in(told) != first


def digest_in(told: str) -> str:
    """The digest shown beside a long value."""
    return told.partition("sha256 ")[2].split()[0]


async def test_a_value_cannot_leave_its_own_block(visit: Visit) -> None:
    capture = """
      const attach = Element.prototype.attachShadow;
      window.roots = [];
      Element.prototype.attachShadow = function (options) {
        roots.push(attach.call(this, options));
        return roots.at(-1);
      };
    """
    person, _ = await ask(visit, {"a": "\u2067x", "b": "y" * 300, "c": "z\n" * 50}, init=capture)
    styles = await person.page.evaluate(
        """() => roots.flatMap((root) => [...root.querySelectorAll('.argument .value')]).map((node) => {
          const { contain, overflowY } = getComputedStyle(node);
          const inner = node.querySelector('bdi');
          return [contain, overflowY, inner?.dir, node.getBoundingClientRect().height <= 220];
        })"""
    )
    assert styles == [["content", "auto", "auto", True]] * 3
