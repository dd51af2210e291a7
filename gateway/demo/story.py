"""The main job, told unattended: a real MCP client, a real page, a person who says no and then yes.

Every step checks what it claims; the first that does not hold ends the story with exit code 1.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.async_api import Page
from rich.console import Console

from gateway.demo.browser import NoBrowser, Person, browser
from gateway.demo.lineup import lineup
from gateway.demo.scene import Scene, stage


class StepFailed(AssertionError):
    """A step of the story did not hold."""


def expect(holds: bool, what: str) -> None:
    """End the story unless `holds`."""
    if not holds:
        raise StepFailed(what)


class Story:
    """One run: the agent's client, the person's page, and the transcript."""

    def __init__(self, scene: Scene, agent: Client, page: Page, person: Person, console: Console) -> None:
        self.scene = scene
        self.agent = agent
        self.page = page
        self.person = person
        self.console = console

    def says(self, who: str, text: str) -> None:
        """One line of the transcript."""
        style = {"agent": "cyan", "page": "green", "person": "magenta", "gateway": "yellow"}[who]
        self.console.print(f"  [{style}]{who:>8}[/]  {text}", highlight=False)

    async def calls(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The agent calls a tool; its structured answer."""
        self.says("agent", f"calls [b]{tool}[/b] {json.dumps(arguments, ensure_ascii=False)}")
        result = await self.agent.call_tool(tool, arguments)
        answer: dict[str, Any] = result.structured_content or json.loads(result.content[0].text)  # type: ignore[union-attr]
        return {"is_error": bool(result.is_error), **answer}

    async def rows(self) -> list[str]:
        """What the list on the page shows."""
        return await self.page.locator("#list li span").all_inner_texts()


async def see_the_tools(story: Story) -> None:
    """The agent sees exactly the actions it may use"""
    tools = {tool.name for tool in (await story.agent.list_tools()).tools}
    dynamic = sorted(name for name in tools if not name.startswith("gateway_"))
    story.says("agent", f"lists its tools: {', '.join(dynamic)}")
    expect(
        dynamic == ["pomodoro_interrupt", "pomodoro_start", "todo_add", "todo_clear_completed", "todo_overview"],
        f"tools are {dynamic}",
    )


async def describe(story: Story) -> None:
    """The agent reads what the page shows"""
    answer = await story.calls("gateway_describe", limit=2)
    context = answer["context"]
    story.says("page", f"{len(context['records'])} records with fields, ids {context['recordIds']}")
    expect(len(context["records"]) == 2 and len(context["recordIds"]) == 3, "the record window is wrong")
    overview = await story.calls("todo_overview")
    story.says("gateway", f"permits the read; the page answers {json.dumps(overview['result'])}")
    expect(overview["result"]["total"] == 3, "the overview is wrong")


async def add_after_approval(story: Story) -> None:
    """A write is asked for, approved, done, and proven by evidence"""
    call = asyncio.create_task(story.calls("todo_add", text="Water the plants"))
    shown = await story.person.dialog_text()
    story.says("page", f"asks: “{shown[:150]}…”")
    expect("Water the plants" in shown and "Demo agent" in shown, "the dialog does not show what will happen")
    expect("Water the plants" not in await story.rows(), "it ran before the approval")
    story.says("person", "approves")
    await story.person.presses("Approve")
    answer = await call
    story.says("gateway", f"answers {json.dumps({k: answer[k] for k in ('status', 'result', 'evidence')})}")
    expect(answer["status"] == "succeeded" and "Water the plants" in await story.rows(), "the task was not added")
    expect(answer["evidence"]["after"]["total"] == 4, "there is no evidence")


async def row_delete_is_refused(story: Story) -> None:
    """An action the site does not expose does not exist for the agent"""
    answer = await story.calls("gateway_invoke", capability="todo.delete_row", arguments={"id": "t1"})
    story.says("gateway", f"refuses: {answer['code']}: {answer['message']}")
    expect(answer["is_error"] and answer["code"] == "unknown_capability", "it was not refused")
    expect(len(await story.rows()) == 4, "a row went away")


async def clear_denied(story: Story) -> None:
    """A destructive action is refused by the person, and stays refused"""
    call = asyncio.create_task(story.calls("todo_clear_completed"))
    await story.person.waits_for("alertdialog")
    story.says("person", "denies")
    await story.person.presses("Deny")
    answer = await call
    story.says("gateway", f"answers {answer['code']}: {answer['message']}")
    expect(answer["is_error"] and answer["code"] == "denied" and len(await story.rows()) == 4, "the no did not count")
    # The page closes its dialog on its own time; only a new one would be a second question.
    await story.person.waits_until_gone("alertdialog")
    again = await story.calls("todo_clear_completed")
    story.says("gateway", f"answers without a new prompt: {again['code']}")
    expect(again["code"] == "denied" and await story.person.sees("alertdialog") is None, "it asked again")


async def clear_approved(story: Story) -> None:
    """The person allows asking again, and this time says yes"""
    story.says("person", "opens the badge and allows asking again")
    await story.person.presses("Ostiary")
    await story.person.presses("Allow asking again")
    await story.person.waits_until_gone("button", "Allow asking again")
    call = asyncio.create_task(story.calls("todo_clear_completed"))
    await story.person.waits_for("alertdialog")
    story.says("person", "approves")
    await story.person.presses("Approve")
    answer = await call
    story.says("gateway", f"answers {json.dumps({k: answer[k] for k in ('status', 'result', 'evidence')})}")
    expect(answer["status"] == "succeeded" and answer["result"] == {"removed": 1}, "it did not clear")
    expect(len(await story.rows()) == 3, "the completed task is still there")


async def focus_over_mcp(story: Story) -> None:
    """A mini app starts when the person has it in front, and the agent ends it; receipts in order, one result"""
    receipts: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001 - the client's shape
        if message and message not in receipts[-1:]:
            receipts.append(message)
            story.says("gateway", f"tells progress: [b]{message}[/b]")

    story.says("agent", 'calls [b]pomodoro_start[/b] {"minutes": 25}')
    call = asyncio.create_task(story.agent.call_tool("pomodoro_start", {"minutes": 25}, progress_callback=hear))
    shown = await story.person.dialog_text()
    story.says("page", f"asks: “{shown}”")
    expect("started" not in receipts, "it began before the person had it in front")
    story.says("person", "lets it come to the front")
    await story.person.presses("Show")
    await until(lambda: "started" in receipts)
    expect(receipts == ["starting", "started"], f"the receipts are {receipts}")
    expect(not call.done(), "it ended before it was over")
    stopped = await story.calls("pomodoro_interrupt")
    story.says("gateway", f"answers {json.dumps(stopped['result'])}")
    answer: dict[str, Any] = (await call).structured_content or {}
    story.says("gateway", f"ends the start, once: {json.dumps(answer['result'])}")
    expect(answer["result"] == {"status": "interrupted"}, f"the result is {answer}")
    ended = [r for r in await story.scene.gateway.services.admin.audit_tail(limit=60) if r.event == "call.ended"]
    ends = sum(record.facts.get("ref") == answer["ref"] for record in ended)
    expect(ends == 1, f"it ended {ends} times")


async def focus_over_lineup(story: Story) -> None:
    """The same over lineup.v1: the person leaves, and that ends it; receipts in order, one result"""
    async with lineup(story.scene) as talk:
        inventory = await talk.receive("client.inventory")
        story.says("gateway", f"tells its inventory {inventory['revision']}: {len(inventory['tools'])} tools")
        await talk.call("focus-0001", "pomodoro.start", {"minutes": 25}, inventory["revision"])
        story.says("agent", "sends tool.call pomodoro.start, call_id focus-0001")
        heard: list[str] = []
        for _ in range(2):
            heard.append((await talk.receive("tool.receipt"))["status"])
            story.says("gateway", f"sends tool.receipt [b]{heard[-1]}[/b]")
        await story.person.presses("Show")
        story.says("person", "lets it come to the front")
        heard.append((await talk.receive("tool.receipt"))["status"])
        story.says("gateway", f"sends tool.receipt [b]{heard[-1]}[/b]")
        expect(heard == ["accepted", "starting", "started"], f"the receipts are {heard}")
        await story.person.presses("Back: leave Pomodoro")
        story.says("person", "goes back to the list")
        result = await talk.receive("tool.result")
        story.says("gateway", f"sends tool.result {result['status']} {json.dumps(result['result'])}")
        expect(result["result"] == {"status": "interrupted"}, f"the result is {result}")
        again = await talk.call("focus-0001", "pomodoro.start", {"minutes": 25}, inventory["revision"])
        story.says("gateway", f"answers the same call_id with {json.dumps(again['payload']['result'])}; nothing runs")
        expect(again["type"].endswith("tool.result"), f"the repeated call is answered with {again['type']}")
        expect(talk.results == 1, f"{talk.results} results came")


async def read_the_trail(story: Story) -> None:
    """The audit trail tells the story, and verifies"""
    admin = story.scene.gateway.services.admin
    for record in await admin.audit_tail(limit=60):
        facts = record.facts
        what = facts.get("capability") or facts.get("app") or facts.get("site") or ""
        how = facts.get("code") or facts.get("state") or ""
        story.console.print(
            f"    [dim]{record.stream.value:>10} {record.seq:>3}[/]  {record.event.value:<22} {what} [i]{how}[/i]",
            highlight=False,
        )
    verdict = await admin.audit_verify()
    expect(verdict.is_intact, f"the chain is broken: {verdict}")
    story.says("gateway", f"verified {verdict.records} records in {verdict.streams} streams: intact")


STEPS: tuple[Callable[[Story], Awaitable[None]], ...] = (
    see_the_tools,
    describe,
    add_after_approval,
    row_delete_is_refused,
    clear_denied,
    clear_approved,
    focus_over_mcp,
    focus_over_lineup,
    read_the_trail,
)


@asynccontextmanager
async def agent(scene: Scene) -> AsyncGenerator[Client]:
    """A real MCP client with the demo's token."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {scene.token}"}, timeout=60) as http,
        Client(streamable_http_client(f"{scene.gateway_url}/mcp", http_client=http)) as client,
    ):
        yield client


async def tell(folder: Path) -> int:
    """Tell the whole story; 0 when every step held."""
    console = Console(width=118)
    failed: list[str] = []
    try:
        await _tell(folder, console)
    except* (StepFailed, NoBrowser, TimeoutError) as failures:
        failed = [str(failure) for failure in _leaves(failures)]
    for reason in failed:
        console.print(f"\n[red b]failed:[/] {reason}", highlight=False)
    if not failed:
        console.print(f"\n[green b]Every step held ({len(STEPS)} of {len(STEPS)}).[/]")
    return 1 if failed else 0


async def _tell(folder: Path, console: Console) -> None:
    async with stage(folder, automated=True) as scene, browser() as chromium, agent(scene) as client:
        page = await chromium.new_page()
        await page.goto(scene.site_url)
        await until(lambda: any(p.capabilities for p in scene.gateway.services.live.world.pages.values()))
        story = Story(scene, client, page, await Person.at(page), console)
        for number, step in enumerate(STEPS, 1):
            console.print(f"\n[b]{number}. {step.__doc__}[/b]")
            await step(story)


def _leaves(error: BaseException) -> list[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    group = cast("BaseExceptionGroup[BaseException]", error)
    return [leaf for inner in group.exceptions for leaf in _leaves(inner)]


async def until(holds: Callable[[], bool]) -> None:
    """Wait until `holds`, for at most ten seconds."""
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 - it waits for state that tells nobody
            await asyncio.sleep(0.02)
