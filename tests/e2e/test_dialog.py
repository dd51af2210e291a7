"""The dialog holds against habit, accident and a page that meddles with it."""

import asyncio
from typing import Any

import pytest

from tests.e2e.house import Agent, Visit, Visitor, until

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

CAPTURE = """
window.roots = [];
const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (options) {
  const root = attach.call(this, options);
  window.roots.push(root);
  return root;
};
window.find = (selector) => window.roots.map((root) => root.querySelector(selector)).find(Boolean);
"""
"""A page that patched `attachShadow` before the host loaded can reach into its closed roots."""


async def asked(visit: Visit, text: str, **options: str) -> tuple[Visitor, Agent, "asyncio.Task[dict[str, Any]]"]:
    """A page with one question on it."""
    person, agent = await visit.opens(**options), await visit.agent()
    call = visit.begins(agent.calls("todo_add", text=text))
    await person.may_decide()
    return person, agent, call


async def test_enter_does_not_approve_and_space_does(visit: Visit) -> None:
    person, _, call = await asked(visit, "by keyboard")
    assert await person.focused() == "Deny"
    await person.tabs_to("Approve")
    await person.page.keyboard.press("Enter")
    assert await person.sees("alertdialog")
    assert await person.decisions() == []
    await person.page.keyboard.press("Space")
    assert (await call)["status"] == "succeeded"
    assert await person.decisions() == ["approve"]


async def test_a_click_meant_for_the_page_does_not_land_on_a_dialog_that_just_appeared(visit: Visit) -> None:
    person, agent = await visit.opens(), await visit.agent()
    clock = person.page.clock
    await clock.install()
    await clock.pause_at(await person.page.evaluate("Date.now() + 1000"))
    call = visit.begins(agent.calls("todo_add", text="too quick"))
    await person.page.mouse.click(*await person.middle_of(await person.waits_for("button", "Approve")))
    await person.tabs_to("Approve")
    await clock.run_for(500)
    await person.page.keyboard.press("Space")
    assert await person.decisions() == []
    await clock.run_for(200)
    await person.page.keyboard.press("Space")
    assert (await call)["status"] == "succeeded"


async def test_escape_puts_the_question_aside_and_the_badge_brings_it_back(visit: Visit) -> None:
    person, _, call = await asked(visit, "later")
    for _ in range(2):
        await person.page.keyboard.press("Escape")
        await person.dialog_is_gone()
        assert await person.decisions() == []
        assert not call.done()
        await person.presses("Ostiary")
        await person.presses("Review")
        await person.may_decide()
        await person.page.keyboard.press("Escape")
        await person.page.keyboard.press("Escape")
        await person.dialog_is_gone()
    await person.presses("Ostiary")
    await person.presses("Review")
    await person.presses("Approve")
    assert (await call)["status"] == "succeeded"


async def test_a_page_that_removes_the_dialog_gets_it_back(visit: Visit) -> None:
    person, _, call = await asked(visit, "removed")
    await person.page.evaluate("[...document.documentElement.children].slice(2).forEach((node) => node.remove())")
    assert await person.page.evaluate("document.documentElement.children.length") == 2
    await person.presses("Approve")
    assert (await call)["status"] == "succeeded"


async def test_a_page_that_closes_the_dialog_it_captured_answers_nothing(visit: Visit) -> None:
    person, _, call = await asked(visit, "closed", init=CAPTURE)
    await person.page.evaluate("find('dialog').close()")
    await person.dialog_is_gone()
    assert await person.decisions() == []
    await person.presses("Ostiary")
    await person.presses("Review")
    await person.presses("Approve")
    assert (await call)["status"] == "succeeded"


async def test_a_modal_of_the_page_does_not_stay_on_top(visit: Visit) -> None:
    person, _, call = await asked(visit, "covered by a modal")
    await person.page.evaluate(
        """() => {
          const own = document.body.appendChild(document.createElement('dialog'));
          own.id = 'own';
          own.textContent = 'Mine!';
          own.showModal();
        }"""
    )
    # Below the page's modal ours is inert and not in the accessibility tree.
    await person.presses("Approve")
    assert (await call)["status"] == "succeeded"
    assert await person.page.locator("#own").is_visible()


async def test_under_something_that_covers_it_nothing_can_be_approved(visit: Visit) -> None:
    person, _, call = await asked(visit, "covered by a popover")
    await person.page.evaluate(
        """() => {
          const over = document.body.appendChild(document.createElement('div'));
          over.id = 'over';
          over.popover = 'manual';
          over.textContent = 'You won! Click below.';
          for (const [name, value] of Object.entries({
            width: '100vw', height: '100vh', inset: '0', pointerEvents: 'none', background: 'white',
          })) over.style[name] = value;
          over.showPopover();
        }"""
    )
    await person.waits_for("StaticText", "Something covers this dialog")
    button = await person.waits_for("button", "Approve")
    await person.page.mouse.click(*await person.middle_of(button))
    assert await person.decisions() == []
    await person.page.evaluate("document.querySelector('#over').hidePopover()")
    await person.presses("Approve")
    assert (await call)["status"] == "succeeded"


async def test_clicks_of_scripts_count_for_nothing(visit: Visit) -> None:
    person, _, call = await asked(visit, "by script", init=CAPTURE)
    await person.page.evaluate(
        """() => {
          const button = find('.approve');
          button.click();
          for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click']) {
            button.dispatchEvent(new MouseEvent(type, { bubbles: true, composed: true, cancelable: true }));
          }
          for (const type of ['keydown', 'keyup']) {
            button.dispatchEvent(new KeyboardEvent(type, { key: ' ', code: 'Space', bubbles: true, composed: true }));
          }
        }"""
    )
    assert await person.sees("alertdialog")
    assert await person.decisions() == []
    await person.presses("Approve")
    assert (await call)["status"] == "succeeded"


async def test_the_whole_of_it_runs_under_a_policy_that_allows_no_inline_script_or_style(visit: Visit) -> None:
    watch = (
        "window.broken = []; addEventListener('securitypolicyviolation', (e) => broken.push(e.violatedDirective));"
    )
    person, _, call = await asked(visit, "strict", init=watch)
    await person.presses("Approve")
    assert (await call)["status"] == "succeeded"
    await person.presses("Ostiary")
    assert await person.page.evaluate("window.broken") == []
    # The policy is in force.
    refused = "() => { try { document.body.innerHTML = '<b>x</b>'; return 'allowed'; } catch { return 'refused'; } }"
    assert await person.page.evaluate(refused) == "refused"
    await until(lambda: person.page.evaluate("window.broken.length > 0"))


async def test_the_focus_returns_to_where_the_person_was(visit: Visit) -> None:
    person, agent = await visit.opens(), await visit.agent()
    await person.page.locator("#text").focus()
    call = visit.begins(agent.calls("todo_add", text="typing"))
    await person.presses("Deny")
    await call
    await person.dialog_is_gone()
    assert await person.page.evaluate("document.activeElement.id") == "text"
