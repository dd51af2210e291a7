"""The app centre over a store in memory: what changes, what ends with it, and what nothing changes."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from capabilities.contract import Descriptor
from capabilities.package import Package
from gateway.domain.calls import CallState
from gateway.domain.errors import ErrorCode
from gateway.domain.mini_apps import KEPT, AppState
from gateway.domain.workers import WorkerState
from gateway.runtime.ports import StoreUnavailable
from gateway.testing import MemoryStore
from tests.unit.runtime.centre import APP, Centre, a_version
from tests.unit.runtime.rig import ADD

pytestmark = pytest.mark.anyio


@pytest.fixture
async def centre() -> AsyncGenerator[Centre]:
    async with Centre().open() as opened:
        yield opened


WRITE: Final[dict[str, Any]] = {"effect": "write", "call_model": "command"}
"""What makes a tool ask the person."""


# -- what changes -------------------------------------------------------------------------------------------------


async def test_an_app_is_offered_from_its_enabling_to_its_disabling(centre: Centre) -> None:
    session = await centre.grant()
    await centre.install(enable=False)
    assert await centre.listed(session) == []
    view = await centre.apps.enable(APP, by="test")
    assert (view.app.state, centre.apps.worker_of(view)) == (AppState.ENABLED, WorkerState.RUNNING)
    assert await centre.listed(session) == ["notes.echo"]
    outcome, _ = await centre.rig.submit(session, "notes.echo", {"text": "hi"})
    await centre.rig.settle()
    assert (await centre.rig.call(outcome.call.ref)).state is CallState.SUCCEEDED
    view = await centre.apps.disable(APP, by="test")
    assert await centre.listed(session) == []
    assert (view.app.state, centre.apps.worker_of(view)) == (AppState.DISABLED, None)
    assert centre.workers.state(APP) is WorkerState.STOPPED


async def test_agents_are_told_that_their_list_changed(centre: Centre) -> None:
    session, told = await centre.grant(), list[str]()
    leave = centre.rig.services.changes.subscribe(session, lambda: told.append("changed"))
    await centre.install()
    await centre.rig.settle()
    assert told == ["changed"]
    leave()


async def test_repeating_changes_nothing_and_records_nothing(centre: Centre) -> None:
    package = await centre.install()
    before = await centre.row()
    centre.clock.advance(1_000)
    await centre.install(package)
    await centre.upgrade(package)
    assert await centre.row() == before
    await centre.apps.disable(APP, by="test")
    disabled = await centre.row()
    centre.clock.advance(1_000)
    await centre.apps.disable(APP, by="test")
    assert await centre.row() == disabled
    for event in ("app.installed", "app.enabled", "app.disabled"):
        assert len(await centre.rig.records(event)) == 1
    assert await centre.rig.records("app.upgraded") == []


async def test_every_change_names_the_app_its_version_and_who_asked(centre: Centre) -> None:
    first, second = a_version("1.0.0"), a_version("1.1.0")
    await centre.install(first)
    await centre.upgrade(second)
    await centre.apps.roll_back(APP, by="test")
    await centre.apps.disable(APP, by="test")
    await centre.apps.remove(APP, by="test")
    who = {"app": APP, "by": "test"}
    of_first = {"version": "1.0.0", "digest": first.digest[:32]}
    of_second = {"version": "1.1.0", "digest": second.digest[:32]}
    assert await centre.rig.records("app.installed") == [{**who, **of_first}]
    assert await centre.rig.records("app.enabled") == [{**who, "version": "1.0.0", "permissions": []}]
    assert await centre.rig.records("app.upgraded") == [{**who, **of_second, "was": "1.0.0", "permissions": []}]
    assert await centre.rig.records("app.rolled_back") == [{**who, **of_first, "was": "1.1.0", "permissions": []}]
    assert await centre.rig.records("app.disabled") == [{**who, "version": "1.0.0"}]
    assert await centre.rig.records("app.removed") == [{**who, "version": "1.0.0"}]


async def test_at_most_so_many_versions_are_kept(centre: Centre) -> None:
    await centre.install(a_version("1.0.0"))
    for number in range(1, KEPT + 2):
        await centre.upgrade(a_version(f"1.{number}.0"))
    (view,) = await centre.apps.list()
    assert [version.version for version in view.versions] == [f"1.{number}.0" for number in range(KEPT + 1, 1, -1)]
    assert set(centre.files.packages) == {version.digest for version in view.versions}


async def test_changes_come_one_after_the_other(centre: Centre) -> None:
    first, second = a_version("1.0.0"), a_version("1.1.0")
    await centre.install(first)
    paths = centre.lay(second), centre.lay(a_version("1.2.0"))
    await asyncio.gather(*(centre.apps.upgrade(path, by="test") for path in paths), centre.apps.disable(APP, by="x"))
    row = await centre.row()
    assert row.state is AppState.DISABLED
    assert {r["was"] for r in await centre.rig.records("app.upgraded")} == {"1.0.0", "1.1.0"}


# -- permissions --------------------------------------------------------------------------------------------------


async def test_a_tool_is_offered_once_what_it_requires_is_granted(centre: Centre) -> None:
    session = await centre.grant()
    await centre.install(a_version(permissions=["secret:token"]))
    assert await centre.listed(session) == []
    await centre.apps.enable(APP, grant=["secret:token"], by="test")
    assert await centre.listed(session) == ["notes.echo"]
    await centre.apps.enable(APP, revoke=["secret:token"], by="test")
    assert await centre.listed(session) == []
    assert await centre.refused(centre.apps.enable(APP, grant=["secret:other"], by="test")) is ErrorCode.BAD_REQUEST


async def test_what_a_version_does_not_ask_for_is_not_granted_to_a_later_one(centre: Centre) -> None:
    await centre.install(a_version("1.0.0", permissions=["secret:token"]), grant=["secret:token"])
    assert (await centre.upgrade(a_version("1.1.0", permissions=["secret:token"]))).app.granted == ("secret:token",)
    assert (await centre.upgrade(a_version("1.2.0"))).app.granted == ()
    assert (await centre.upgrade(a_version("1.3.0", permissions=["secret:token"]))).app.granted == ()


# -- what ends with a change --------------------------------------------------------------------------------------


async def waiting(centre: Centre) -> str:
    """The ref of a call that waits for its person."""
    await centre.rig.page(ADD)
    outcome, _ = await centre.rig.submit(await centre.grant(), "notes.echo", {"text": "hi"})
    assert outcome.call.state is CallState.AWAITING_APPROVAL
    return outcome.call.ref


async def disabled(centre: Centre) -> None:
    await centre.apps.disable(APP, by="test")


async def upgraded(centre: Centre) -> None:
    await centre.upgrade(a_version("1.1.0", **WRITE))


@pytest.mark.parametrize(("change", "code"), [(disabled, ErrorCode.REVOKED), (upgraded, ErrorCode.STALE_INVENTORY)])
async def test_what_waits_for_an_app_ends_when_it_changes(
    centre: Centre, change: Callable[[Centre], Awaitable[None]], code: ErrorCode
) -> None:
    await centre.install(a_version(**WRITE))
    ref = await waiting(centre)
    await change(centre)
    call = await centre.rig.call(ref)
    assert (call.state, call.code) == (CallState.DENIED, code)
    assert [r["code"] for r in await centre.rig.records("call.ended", ref=ref)] == [code.wire]
    assert len(await centre.rig.records("approval.withdrawn", ref=ref)) == 1


async def test_what_waits_for_another_app_goes_on_waiting(centre: Centre) -> None:
    await centre.install(a_version(**WRITE))
    ref = await waiting(centre)
    await centre.install(a_version(app="org.example.other", method="other.echo"), enable=False)
    assert (await centre.rig.call(ref)).state is CallState.AWAITING_APPROVAL


async def test_what_runs_may_end_by_itself(centre: Centre) -> None:
    await centre.install()
    outcome, _ = await centre.rig.submit(await centre.grant(), "notes.echo", {"text": "wait"})
    await centre.rig.settle()
    disabling = asyncio.create_task(centre.apps.disable(APP, by="test"))
    while (await centre.row()).is_enabled:  # noqa: ASYNC110 - the change goes through threads
        await asyncio.sleep(0)
    assert (await centre.rig.call(outcome.call.ref)).state is CallState.DISPATCHED
    centre.release.set()
    await disabling
    assert (await centre.rig.call(outcome.call.ref)).state is CallState.SUCCEEDED


async def test_what_comes_between_a_change_and_its_effect_does_not_reach_the_app(centre: Centre) -> None:
    """The world follows the commit: for a moment it still shows an app whose row says otherwise."""
    await centre.install(a_version(**WRITE))
    row = await centre.row()
    await centre.store.run(lambda tx: tx.mini_apps.put(replace(row, state=AppState.DISABLED)))
    session = await centre.grant()
    assert await centre.refused(centre.rig.submit(session, "notes.echo", {"text": "new"})) is ErrorCode.REVOKED
    assert [r["code"] for r in await centre.rig.records("call.refused")] == ["revoked"]


async def test_an_approved_call_does_not_reach_an_app_that_was_just_disabled(centre: Centre) -> None:
    await centre.install(a_version(**WRITE))
    page = await centre.rig.page(ADD)
    outcome, _ = await centre.rig.submit(await centre.grant(), "notes.echo", {"text": "hi"})
    row = await centre.row()
    await centre.store.run(lambda tx: tx.mini_apps.put(replace(row, state=AppState.DISABLED)))
    await page.decide()
    call = await centre.rig.call(outcome.call.ref)
    assert (call.state, call.code) == (CallState.DENIED, ErrorCode.REVOKED)
    assert await centre.rig.records("call.dispatched", ref=call.ref) == []


# -- pages --------------------------------------------------------------------------------------------------------


async def test_an_id_of_a_new_app_is_withdrawn_from_the_pages_that_have_it(centre: Centre) -> None:
    mine = Descriptor(id="notes.mine", input_schema={"type": "object"})
    page = await centre.rig.page(ADD, mine)
    await centre.install(enable=False)
    assert set(page.live.capabilities) == {"todo.add"}
    (record,) = await centre.rig.records("capability.refused")
    assert record == {"door": "page", "peer": page.id, "code": "id_reserved", "capability": "notes.mine"}
    await centre.apps.remove(APP, by="test")
    await page.declare(ADD, mine)
    assert set(page.live.capabilities) == {"todo.add", "notes.mine"}


# -- what changes nothing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("package", "how", "code"),
    [
        (a_version("1.0.0", title="Other"), "install", ErrorCode.STATE_CONFLICT),
        (a_version("1.0.0", title="Other"), "upgrade", ErrorCode.STATE_CONFLICT),
        (a_version("2.0.0"), "install", ErrorCode.STATE_CONFLICT),
        (a_version("0.9.0"), "upgrade", ErrorCode.STATE_CONFLICT),
        (a_version("1.0.0-rc.1"), "upgrade", ErrorCode.STATE_CONFLICT),
        (a_version(app="org.example.other"), "install", ErrorCode.PACKAGE_REFUSED),
        (a_version(app="org.example.other", method="other.echo"), "upgrade", ErrorCode.NOT_FOUND),
    ],
    ids=[
        "other content",
        "other content to upgrade",
        "a later one",
        "an older one",
        "a pre-release",
        "claimed",
        "absent",
    ],
)
async def test_what_is_refused_leaves_all_as_it_is(
    centre: Centre, package: Package, how: str, code: ErrorCode
) -> None:
    installed = await centre.install()
    before, world = await centre.row(), centre.rig.services.live.world.apps
    change = getattr(centre.apps, how)
    assert await centre.refused(change(centre.lay(package), by="test")) is code
    assert (await centre.row(), centre.rig.services.live.world.apps) == (before, world)
    assert set(centre.files.packages) == {installed.digest}


async def test_what_is_not_there_or_no_package_is_refused_by_name(centre: Centre) -> None:
    assert await centre.refused(centre.apps.install(Path("/none"), by="test")) is ErrorCode.BAD_REQUEST
    centre.files.sources[Path("/broken")] = b"PK"
    assert await centre.refused(centre.apps.install(Path("/broken"), by="test")) is ErrorCode.PACKAGE_REFUSED
    assert await centre.rig.records("app.refused") == [{"reason": "broken", "by": "test"}]
    for doing in (centre.apps.enable, centre.apps.disable, centre.apps.remove, centre.apps.roll_back):
        assert await centre.refused(doing("org.example.none", by="test")) is ErrorCode.NOT_FOUND


async def test_what_does_not_start_is_neither_enabled_nor_put_in_the_place_of_what_does(centre: Centre) -> None:
    first, second = a_version("1.0.0"), a_version("1.1.0")
    centre.probe.flaws = {first.digest: "it says no"}
    await centre.install(first, enable=False)
    assert await centre.refused(centre.apps.enable(APP, by="test")) is ErrorCode.STATE_CONFLICT
    assert not (await centre.row()).is_enabled
    centre.probe.flaws = {second.digest: "it says no"}
    await centre.apps.enable(APP, by="test")
    assert await centre.refused(centre.upgrade(second)) is ErrorCode.STATE_CONFLICT
    assert (await centre.row()).digest == first.digest
    assert set(centre.files.packages) == {first.digest}


async def test_what_only_lies_there_is_not_started(centre: Centre) -> None:
    await centre.install(enable=False)
    await centre.upgrade(a_version("1.1.0"))
    await centre.apps.roll_back(APP, by="test")
    assert centre.probe.tried == []


async def test_a_store_that_takes_nothing_leaves_all_as_it_is(centre: Centre) -> None:
    package = await centre.install()
    path = centre.lay(a_version("1.1.0"))
    centre.store.is_failing = True
    for doing in (centre.apps.disable(APP, by="test"), centre.apps.upgrade(path, by="test")):
        with pytest.raises(StoreUnavailable):
            await doing
    assert centre.rig.services.live.world.apps.apps[APP].is_enabled
    assert centre.workers.state(APP) is WorkerState.RUNNING
    centre.store.is_failing = False
    assert (await centre.row()).digest == package.digest


async def test_a_kept_version_is_not_replaced_by_other_content(centre: Centre) -> None:
    await centre.install(a_version("1.0.0"))
    await centre.upgrade(a_version("2.0.0"))
    await centre.apps.roll_back(APP, by="test")
    assert await centre.refused(centre.upgrade(a_version("2.0.0", title="Other"))) is ErrorCode.STATE_CONFLICT
    assert (await centre.upgrade(a_version("2.0.0"))).offered.version == "2.0.0"


async def test_a_whole_package_in_the_folder_of_another_does_not_run(centre: Centre) -> None:
    package, other = await centre.install(enable=False), a_version("6.6.6")
    centre.files.packages[package.digest] = other.entries()
    assert await centre.refused(centre.apps.enable(APP, by="test")) is ErrorCode.PACKAGE_REFUSED
    (record,) = await centre.rig.records("app.refused")
    assert record["reason"] == "changed"


async def test_a_damaged_version_is_not_gone_back_to(centre: Centre) -> None:
    first, second = a_version("1.0.0"), a_version("1.1.0")
    await centre.install(first)
    await centre.upgrade(second)
    centre.files.packages[first.digest]["notes.py"] = b"planted"
    assert await centre.refused(centre.apps.roll_back(APP, by="test")) is ErrorCode.PACKAGE_REFUSED
    assert (await centre.row()).digest == second.digest
    (record,) = await centre.rig.records("app.refused")
    assert record == {"app": APP, "digest": first.digest[:32], "reason": "changed", "by": "test"}


# -- restart ------------------------------------------------------------------------------------------------------


async def test_what_is_enabled_runs_again_after_a_restart() -> None:
    centre = Centre()
    async with centre.open():
        await centre.install()
    centre.files.sources.clear()
    async with centre.open():
        assert await centre.listed(await centre.grant()) == ["notes.echo"]
        assert centre.workers.state(APP) is WorkerState.RUNNING


async def test_an_app_with_other_files_is_out_of_order_and_nothing_else_is() -> None:
    centre = Centre()
    async with centre.open():
        package = await centre.install()
        await centre.install(a_version(app="org.example.other", method="other.echo"), enable=False)
    centre.files.packages[package.digest]["notes.py"] = b"planted"
    async with centre.open():
        views = {view.app.id: view.offered.fault for view in await centre.apps.list()}
        assert views["org.example.other"] is None
        assert "notes.py" in str(views[APP])
        assert centre.workers.state(APP) is WorkerState.STOPPED
        session = await centre.grant()
        assert await centre.listed(session) == ["notes.echo"]
        refused = centre.rig.submit(session, "notes.echo", {"text": "hi"})
        assert await centre.refused(refused) is ErrorCode.NOT_AVAILABLE
        (record,) = await centre.rig.records("app.found_broken")
        assert (record["app"], record["digest"]) == (APP, package.digest[:32])
        await centre.install(package)
        assert centre.workers.state(APP) is WorkerState.RUNNING


async def test_what_a_crash_left_of_a_package_is_swept_at_the_next_start() -> None:
    centre = Centre()
    async with centre.open():
        package = await centre.install()
        centre.files.packages["f" * 64] = {}
    async with centre.open():
        assert set(centre.files.packages) == {package.digest}


async def test_a_database_that_knows_no_app_costs_no_package() -> None:
    """A mistyped `server.database` begins an empty one, beside the files of the right one."""
    centre = Centre()
    async with centre.open():
        package = await centre.install()
    right, centre.store = centre.store, MemoryStore()
    async with centre.open():
        assert await centre.apps.list() == []
    centre.store = right
    async with centre.open():
        assert [view.offered.fault for view in await centre.apps.list()] == [None]
        assert set(centre.files.packages) == {package.digest}


async def test_files_are_looked_at_again_when_asked_to(centre: Centre) -> None:
    package = await centre.install()
    centre.files.packages[package.digest]["notes.py"] = b"planted"
    assert [view.offered.fault for view in await centre.apps.list()] == [None]
    (view,) = await centre.apps.list(verify=True)
    assert "notes.py" in str(view.offered.fault)
