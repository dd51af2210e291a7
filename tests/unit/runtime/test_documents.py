"""Documents that agents show: judged, kept, streamed, told to pages, and gone (design §12, rules A and H)."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.canonical import canonical, sha256_hex
from gateway.domain.configuration import Documents
from gateway.domain.documents import DocumentState
from gateway.domain.errors import GatewayError
from gateway.runtime.document_calls import refusal as judged
from gateway.runtime.document_judging import prepared
from gateway.testing import FakeClock, MemoryStore
from tests.unit.runtime.canvas import a_grant, done, events
from tests.unit.runtime.papers import (
    a_page,
    intelligent,
    refusal,
    row,
    sized,
    structured,
    told,
    with_documents,
    word,
)
from tests.unit.runtime.rig import Rig, configuration, running

pytestmark = pytest.mark.anyio

GENERATION = "gen_" + "a" * 26


@pytest.fixture
async def rig() -> AsyncGenerator[Rig]:
    async with running(**with_documents()) as made:
        yield made


async def shown(
    rig: Rig, session: AgentSession, document: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """The `documentRef` of a document that was shown."""
    return (await done(rig, session, "intelligent_ui", {"document": document or intelligent(), **more}))[
        "documentRef"
    ]


# -- showing ---------------------------------------------------------------------------------------------------


async def test_a_document_is_kept_as_judged_and_shown_in_its_shell(rig: Rig) -> None:
    page, session = await a_page(rig), await a_grant(rig)
    answer = await done(rig, session, "structured_ui", {"document": structured()})
    ref = answer["documentRef"]
    kept = await row(rig, ref)
    content = await rig.store.run(lambda tx: tx.documents.content_of(kept.id))
    assert content is not None
    assert content == canonical(structured()).decode()
    assert (kept.sha256, kept.size) == (sha256_hex(content.encode()), len(content))
    assert (kept.kind, kept.state, kept.revision) == ("structured", DocumentState.COMPLETE, 1)
    assert (kept.session, kept.user, kept.site) == (session.id, "ann", "todo")
    assert ref == {"call": kept.call, "generation": kept.id, "revision": 1}
    assert told(page, "open") == [
        {
            "type": "document",
            "op": "open",
            "documentRef": ref,
            "epoch": kept.epoch,
            "seq": 0,
            "kind": "structured",
            "state": "complete",
            "agent": "Alice",
            "max_bytes": 262_144,
            "ui": {"protocol": "ostiary.ui/1", "version": "1.0", "document": structured()},
            "actions": [],
        }
    ]
    assert await rig.records("document.opened", document=kept.id, ref=kept.call, agent="alice", user="ann")


async def test_every_page_of_the_person_on_the_site_shows_it_and_no_other(rig: Rig) -> None:
    one, two = await a_page(rig), await a_page(rig)
    others = [await a_page(rig, user="bea"), await a_page(rig, name="shop"), await a_page(rig, has_workspace=False)]
    session = await a_grant(rig)
    await rig.services.activity.act(one.live, "pin", agent=None, capability=None)
    await shown(rig, session)
    assert len(told(one, "open")) == len(told(two, "open")) == 1
    assert not any(told(page, "open") for page in others)


@pytest.mark.parametrize(
    ("document", "code", "pointer"),
    [
        ({**structured(), "secret-key": 1}, "document.unknown_key", "/secret-key"),
        ({**structured(), "version": "9.9"}, "document.unknown_version", "/version"),
        (intelligent(), "document.not_structured", "/actions"),
    ],
)
async def test_an_illegal_document_is_refused_with_code_and_pointer_and_never_a_value(
    rig: Rig, document: dict[str, Any], code: str, pointer: str
) -> None:
    page, session = await a_page(rig), await a_grant(rig)
    error = await refusal(rig, session, "structured_ui", {"document": document})
    assert (error.code.wire, error.facts["pointer"]) == (code, pointer)
    assert error.facts["issues"][0]["code"] == code
    assert "9.9" not in str(error.facts) + error.message
    assert await rig.records("call.refused", code=code, capability="ui.structured_ui")
    assert not told(page, "open")
    assert await rig.store.run(lambda tx: tx.documents.count_live()) == 0


async def test_the_author_hears_of_twenty_faults_in_document_order(rig: Rig) -> None:
    await a_page(rig)
    document = {**structured(), **{f"k{n:02}": n for n in range(30)}}
    error = await refusal(rig, await a_grant(rig), "structured_ui", {"document": document})
    assert [issue["pointer"] for issue in error.facts["issues"]] == [f"/k{n:02}" for n in range(20)]


async def test_a_text_that_holds_a_document_is_none(rig: Rig) -> None:
    await a_page(rig)
    error = await refusal(rig, await a_grant(rig), "structured_ui", {"document": canonical(structured()).decode()})
    assert (error.code.wire, error.facts["pointer"]) == ("arguments_invalid", "/document")


async def test_a_document_of_exactly_the_limit_is_shown_and_one_byte_more_is_not(rig: Rig) -> None:
    page, session = await a_page(rig), await a_grant(rig)
    ref = (await done(rig, session, "structured_ui", {"document": sized(262_144)}))["documentRef"]
    assert (await row(rig, ref)).size == 262_144
    assert told(page, "open")[-1]["ui"]["document"] == sized(262_144)
    error = await refusal(rig, session, "structured_ui", {"document": sized(262_145)})
    assert error.code.wire == "document.too_large"


async def test_the_limit_can_be_lowered_and_pages_are_told() -> None:
    documents = Documents(max_bytes=1_024)
    async with running(**with_documents(documents=documents)) as rig:
        page, session = await a_page(rig), await a_grant(rig)
        await done(rig, session, "structured_ui", {"document": sized(1_024)})
        assert told(page, "open")[-1]["max_bytes"] == 1_024
        error = await refusal(rig, session, "structured_ui", {"document": sized(1_025)})
        assert error.code.wire == "document.too_large"
        opened = await done(rig, session, "stream_open", {"document": intelligent()})
        grown = {"op": "add", "parent": "root", "index": 0, "node": word("big", "x" * 900)}
        error = await refusal(rig, session, "stream_patch", {**at(opened), "operations": [grown]})
        assert error.code.wire == "document.too_large"


async def test_a_full_house_refuses_and_evicts_nothing() -> None:
    async with running(**with_documents(documents=Documents(max_generations=2))) as rig:
        page, session = await a_page(rig), await a_grant(rig)
        first, _ = await shown(rig, session), await shown(rig, session)
        error = await refusal(rig, session, "intelligent_ui", {"document": intelligent()})
        assert error.code.wire == "document.full"
        assert await rig.records("call.refused", code="document.full")
        assert (await row(rig, first)).is_live
        again = await shown(rig, session, replaces=first["generation"])
        assert not (await row(rig, first)).is_live
        assert (await row(rig, again)).is_live
        assert [frame["reason"] for frame in told(page, "close")] == ["replaced"]


async def test_only_ones_own_document_is_replaced(rig: Rig) -> None:
    await a_page(rig)
    ref = await shown(rig, await a_grant(rig, "bob"))
    error = await refusal(
        rig, await a_grant(rig), "intelligent_ui", {"document": intelligent(), "replaces": ref["generation"]}
    )
    assert error.code.wire == "document.not_current"
    assert (await row(rig, ref)).is_live


async def test_who_may_not_is_answered_as_for_what_is_not_there(rig: Rig) -> None:
    await a_page(rig)
    session = await a_grant(rig, scope=["ui.structured_ui"])
    error = await refusal(rig, session, "intelligent_ui", {"document": intelligent()})
    assert error.code.wire == "unknown_capability"
    error = await refusal(rig, session, "callback", {"text": "x"})
    assert error.code.wire == "unknown_capability"


# -- pages that come and go ------------------------------------------------------------------------------------


async def test_a_reloaded_page_is_told_what_is_open_and_asks_for_it(rig: Rig) -> None:
    page, session = await a_page(rig), await a_grant(rig)
    ref = await shown(rig, session)
    reloaded = await a_page(rig, resume=page, reload=True)
    [listed] = told(reloaded, "list")
    assert listed["documents"] == [{"documentRef": ref, "state": "complete"}]
    assert not told(reloaded, "open")
    await rig.services.documents.wanted(reloaded.live, ref["generation"])
    await rig.settle()
    assert told(reloaded, "open")[0]["ui"]["document"] == intelligent()
    assert not told(page, "open")[1:]


async def test_what_is_not_open_there_is_answered_as_what_never_was(rig: Rig) -> None:
    await a_page(rig)
    ref = await shown(rig, await a_grant(rig))
    other = await a_page(rig, user="bea")
    for name in (ref["generation"], GENERATION):
        await rig.services.documents.wanted(other.live, name)
        with pytest.raises(GatewayError) as refused:
            await rig.services.documents.closed(other.live, name)
        assert refused.value.code.wire == "document.not_current"
    assert [frame["reason"] for frame in told(other, "close")] == ["unknown", "unknown"]
    assert (await row(rig, ref)).is_live


async def test_the_agent_hears_that_the_person_closed_its_document(rig: Rig) -> None:
    page, session = await a_page(rig), await a_grant(rig)
    ref = await shown(rig, session)
    await rig.services.documents.closed(page.live, ref["generation"])
    await rig.settle()
    assert told(page, "close") == [
        {"type": "document", "op": "close", "generation": ref["generation"], "reason": "person"}
    ]
    [event] = (await events(rig, session))["events"]
    assert (event["event"], event["data"], event["instance_id"]) == ("close", {"reason": "person"}, ref["generation"])
    assert await rig.store.run(lambda tx: tx.documents.content_of(ref["generation"])) is None
    assert await rig.records("document.closed", document=ref["generation"], reason="person")


async def test_the_end_of_a_grant_takes_its_documents_away(rig: Rig) -> None:
    page, session = await a_page(rig), await a_grant(rig)
    ref, other = await shown(rig, session), await shown(rig, await a_grant(rig, "bob"))
    await rig.services.admin.revoke_session(session.id, by="test")
    await rig.settle()
    assert [frame["generation"] for frame in told(page, "close")] == [ref["generation"]]
    assert (await row(rig, other)).is_live


async def test_a_site_that_exposes_them_no_more_has_them_taken_away(rig: Rig) -> None:
    page, session = await a_page(rig), await a_grant(rig)
    ref = await shown(rig, session)
    rig.services.live.configure(configuration(**with_documents(expose=("todo.*",))), {})
    await rig.settle()
    assert [frame["reason"] for frame in told(page, "close")] == ["not_exposed"]
    assert (await row(rig, ref)).reason == "not_exposed"


# -- streaming -------------------------------------------------------------------------------------------------


def at(opened: dict[str, Any], seq: int = 1, base: int = 1) -> dict[str, Any]:
    """The arguments that name a step of a stream."""
    return {
        "generation": opened["documentRef"]["generation"],
        "epoch": opened["epoch"],
        "seq": seq,
        "baseRevision": base,
    }


def adding(name: str) -> list[dict[str, Any]]:
    return [{"op": "add", "parent": "root", "index": 0, "node": word(name)}]


async def test_a_stream_goes_from_step_to_step_and_opens_its_actions_at_the_end(rig: Rig) -> None:
    page, session = await a_page(rig), await a_grant(rig)
    opened = await done(rig, session, "stream_open", {"document": intelligent()})
    assert (opened["seq"], opened["documentRef"]["revision"]) == (0, 1)
    assert told(page, "open")[0]["state"] == "streaming"
    step = await done(rig, session, "stream_patch", {**at(opened), "operations": adding("one")})
    assert (step["seq"], step["revision"], step["outcome"], step["state"]) == (1, 2, "accepted", "streaming")
    [patch] = told(page, "patch")
    assert (patch["baseRevision"], patch["documentRef"]["revision"], patch["operations"]) == (1, 2, adding("one"))
    ended = await done(rig, session, "stream_complete", at(opened, 2, 2))
    assert (ended["revision"], ended["state"]) == (2, "complete")
    assert [frame["state"] for frame in told(page, "end")] == ["complete"]
    kept = await row(rig, opened["documentRef"])
    digests = await rig.store.run(lambda tx: tx.documents.digests_of(kept.id))
    assert (kept.frames, list(digests)) == (2, [1, 2])
    assert len(await rig.records("document.changed", document=kept.id)) == 2


async def test_the_same_frame_twice_is_ignored_and_other_content_of_its_number_refused(rig: Rig) -> None:
    page, session = await a_page(rig), await a_grant(rig)
    opened = await done(rig, session, "stream_open", {"document": intelligent()})
    frame = {**at(opened), "operations": adding("one")}
    await done(rig, session, "stream_patch", frame)
    again = await done(rig, session, "stream_patch", frame)
    assert (again["outcome"], again["revision"]) == ("repeated", 2)
    error = await refusal(rig, session, "stream_patch", {**frame, "operations": adding("two")})
    assert (error.code.wire, error.facts["pointer"]) == ("document.frame_conflict", "/seq")
    assert len(told(page, "patch")) == 1
    await done(rig, session, "stream_cancel", at(opened, 2, 2))
    late = await done(rig, session, "stream_patch", {**at(opened, 3, 2), "operations": adding("two")})
    assert (late["outcome"], late["state"]) == ("late", "cancelled")


async def test_an_illegal_step_keeps_the_old_snapshot_and_its_number_free(rig: Rig) -> None:
    _, session = await a_page(rig), await a_grant(rig)
    opened = await done(rig, session, "stream_open", {"document": intelligent()})
    name = opened["documentRef"]["generation"]
    before = await rig.store.run(lambda tx: tx.documents.content_of(name))
    error = await refusal(
        rig, session, "stream_patch", {**at(opened), "operations": [{"op": "remove", "id": "nope"}]}
    )
    assert (error.code.wire, error.facts["pointer"]) == ("document.patch_target", "/0/id")
    assert await rig.records("call.refused", code="document.patch_target")
    assert await rig.store.run(lambda tx: tx.documents.content_of(name)) == before
    await done(rig, session, "stream_patch", {**at(opened), "operations": adding("one")})


async def test_a_gap_is_healed_by_a_checkpoint(rig: Rig) -> None:
    page, session = await a_page(rig), await a_grant(rig)
    opened = await done(rig, session, "stream_open", {"document": intelligent()})
    error = await refusal(rig, session, "stream_patch", {**at(opened, 4), "operations": adding("one")})
    assert error.code.wire == "document.frame_gap"
    whole = intelligent()
    whole["root"]["children"].append(word("late"))
    step = await done(rig, session, "stream_patch", {**at(opened, 4, 3), "document": whole})
    assert (step["seq"], step["revision"]) == (4, 4)
    assert told(page, "open")[-1]["documentRef"]["revision"] == 4
    whole["state"] = {}
    error = await refusal(rig, session, "stream_patch", {**at(opened, 5, 4), "document": whole})
    assert error.code.wire.startswith("document.")


async def test_a_stream_is_its_conversations_alone(rig: Rig) -> None:
    await a_page(rig)
    opened = await done(rig, await a_grant(rig, "bob"), "stream_open", {"document": intelligent()})
    session = await a_grant(rig)
    for generation in (opened["documentRef"]["generation"], GENERATION):
        frame = {**at(opened), "generation": generation}
        error = await refusal(rig, session, "stream_complete", frame)
        assert (error.code.wire, error.facts["pointer"]) == ("document.frame_generation", "/generation")


async def test_a_restart_ends_the_epoch_and_what_is_shown_stays() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store=store, clock=clock, **with_documents()) as rig:
        await a_page(rig)
        session = await a_grant(rig)
        opened = await done(rig, session, "stream_open", {"document": intelligent()})
        whole = await shown(rig, session)
    async with running(store=store, clock=clock, **with_documents()) as rig:
        page = await a_page(rig)
        states = [entry["state"] for entry in told(page, "list")[0]["documents"]]
        assert states == ["cancelled", "complete"]
        error = await refusal(rig, session, "stream_patch", {**at(opened), "operations": adding("one")})
        assert (error.code.wire, error.facts["pointer"]) == ("document.frame_epoch", "/epoch")
        later = await done(rig, session, "stream_open", {"document": intelligent()})
        assert later["epoch"] > opened["epoch"]
        assert (await row(rig, whole)).state is DocumentState.COMPLETE


async def test_what_was_judged_before_counts_only_where_the_document_still_stands(rig: Rig) -> None:
    """Two frames that were sent at once: the second is judged by what the first made of the document."""
    _, session = await a_page(rig), await a_grant(rig)
    opened = await done(rig, session, "stream_open", {"document": intelligent()})

    frame = {**at(opened), "operations": adding("one")}
    early = await prepared(rig.store, "ui.stream_patch", frame, max_bytes=262_144)
    assert early is not None
    assert early.step is not None
    await done(rig, session, "stream_patch", {**at(opened), "operations": adding("two")})

    world = rig.services.live.world
    error = await rig.store.run(lambda tx: judged(tx, world, session, "ui.stream_patch", frame, early))
    assert error is not None
    assert error.code.wire == "document.frame_conflict"
