"""Contract of `Surfaces`: one live for each name in a conversation, what it shows, and what happened in it, in order."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.domain import surfaces
from gateway.domain.bundles import SentBundle
from gateway.domain.conversations import Talk
from gateway.domain.instances import PAGE_GONE_MS
from gateway.domain.surfaces import Happening, Surface, SurfaceMove, SurfaceState
from gateway.runtime.ports import DuplicateKey, StaleState, Store, Tx
from surface_host.bundles import Parts
from tests.contract.samples import NOW

pytestmark = pytest.mark.anyio

TALK = Talk(agent="claude", user="maria", name="talk")


def a_surface(name: str = "surf_1", **changes: Any) -> Surface:
    surface = Surface(
        id=name,
        session="ses_1",
        agent="claude",
        user="maria",
        conversation="talk",
        instance="board.01",
        app="dev.example.canvas",
        version="1.0.0",
        digest="d" * 64,
        surface="canvas",
        title=None,
        site="shop",
        page="page_1",
        state=SurfaceState.OPENING,
        is_told=False,
        opened_at=NOW,
    )
    return replace(surface, **changes)


def closed(surface: Surface, at: int = NOW) -> Surface:
    return surfaces.step(surface, SurfaceMove.CLOSE, now=at, reason="done")


async def add(store: Store, *those: Surface) -> None:
    for surface in those:
        await store.run(lambda tx, surface=surface: tx.surfaces.add(surface, "{}"))


async def test_a_surface_is_read_as_it_was_written(store: Store) -> None:
    whole = a_surface(
        title="Plan", is_told=True, page_gone_at=NOW + 1, reason="x", minute=7, events=3, bytes=99, closed_at=NOW + 2
    )
    await add(store, whole)
    assert await store.run(lambda tx: tx.surfaces.find("surf_1")) == whole
    assert await store.run(lambda tx: tx.surfaces.find("surf_2")) is None


async def test_a_name_has_one_live_surface_in_its_conversation(store: Store) -> None:
    await add(store, a_surface())
    with pytest.raises(DuplicateKey):
        await add(store, a_surface("surf_2"))
    with pytest.raises(DuplicateKey):
        await add(store, a_surface(conversation="other"))
    others = (
        a_surface("surf_2", conversation="other"),
        a_surface("surf_3", user="noor"),
        a_surface("surf_4", agent="cursor"),
        a_surface("surf_5", instance="board.02"),
    )
    await add(store, *others)
    await store.run(lambda tx: tx.surfaces.save(closed(a_surface()), was=SurfaceState.OPENING))
    assert await store.run(lambda tx: tx.surfaces.live(TALK, "board.01")) is None
    again = a_surface("surf_6", opened_at=NOW + 1)
    await add(store, again)
    assert await store.run(lambda tx: tx.surfaces.live(TALK, "board.01")) == again
    assert await store.run(lambda tx: tx.surfaces.live_of_talk(TALK)) == [others[3], again]


async def test_it_moves_from_the_state_it_was_read_in(store: Store) -> None:
    await add(store, a_surface())
    opened = surfaces.step(a_surface(), SurfaceMove.MOUNT, now=NOW)
    await store.run(lambda tx: tx.surfaces.save(opened, was=SurfaceState.OPENING))
    with pytest.raises(StaleState):
        await store.run(lambda tx: tx.surfaces.save(opened, was=SurfaceState.OPENING))
    with pytest.raises(StaleState):
        await store.run(lambda tx: tx.surfaces.save(a_surface("surf_9"), was=SurfaceState.OPENING))


async def test_what_it_shows_is_replaced_and_goes_with_it(store: Store) -> None:
    await add(store, a_surface())
    assert await store.run(lambda tx: tx.surfaces.state_of("surf_1")) == "{}"
    await store.run(lambda tx: tx.surfaces.put_state("surf_1", '{"n":1}'))
    assert await store.run(lambda tx: tx.surfaces.state_of("surf_1")) == '{"n":1}'
    await store.run(lambda tx: tx.surfaces.save(closed(a_surface()), was=SurfaceState.OPENING))
    assert await store.run(lambda tx: tx.surfaces.state_of("surf_1")) is None


async def test_live_ones_are_found_by_session_and_page(store: Store) -> None:
    one = a_surface("surf_1", instance="a", opened_at=NOW + 1)
    two = a_surface("surf_2", instance="b", page="page_2")
    three = a_surface("surf_3", instance="c", session="ses_2")
    gone = closed(a_surface("surf_4", instance="d"))
    await add(store, one, two, three, gone)
    assert await store.run(lambda tx: tx.surfaces.live_of_session("ses_1")) == [two, one]
    assert await store.run(lambda tx: tx.surfaces.live_on_page("page_1")) == [three, one]
    assert await store.run(lambda tx: tx.surfaces.all_live()) == [two, three, one]
    assert await store.run(lambda tx: tx.surfaces.of_app(TALK, "dev.example.canvas")) == [two, three, gone, one]
    assert await store.run(lambda tx: tx.surfaces.of_app(TALK, "dev.example.other")) == []


async def test_those_whose_page_stayed_away_are_due(store: Store) -> None:
    late = a_surface("surf_1", instance="a", page_gone_at=NOW + 5)
    early = a_surface("surf_2", instance="b", page_gone_at=NOW)
    await add(store, late, early, a_surface("surf_3", instance="c"))
    await add(store, closed(a_surface("surf_4", instance="d", page_gone_at=NOW - 9)))
    assert await store.run(lambda tx: tx.surfaces.next_due()) == NOW + PAGE_GONE_MS
    assert await store.run(lambda tx: tx.surfaces.due(NOW + PAGE_GONE_MS - 1, 9)) == []
    assert await store.run(lambda tx: tx.surfaces.due(NOW + PAGE_GONE_MS, 9)) == [early]
    assert await store.run(lambda tx: tx.surfaces.due(NOW + PAGE_GONE_MS + 5, 9)) == [early, late]


async def test_closed_ones_are_forgotten_by_age(store: Store) -> None:
    await add(store, a_surface("surf_1", instance="a"), closed(a_surface("surf_2", instance="b")))
    await add(store, closed(a_surface("surf_3", instance="c"), NOW + 1))
    assert await store.run(lambda tx: tx.surfaces.purge(NOW, 9)) == 0
    assert await store.run(lambda tx: tx.surfaces.purge(NOW + 2, 1)) == 1
    assert await store.run(lambda tx: tx.surfaces.find("surf_2")) is None
    assert await store.run(lambda tx: tx.surfaces.purge(NOW + 2, 9)) == 1
    assert await store.run(lambda tx: tx.surfaces.find("surf_1")) is not None


# -- what happened ---------------------------------------------------------------------------------------------


def happened(tx: Tx, event: str, session: str = "ses_1", at: int = NOW, data: str = "{}") -> None:
    tx.surfaces.add_event(session, surface="surf_1", instance="board.01", event=event, data=data, at=at)


async def events(store: Store, session: str = "ses_1", after: int = 0, limit: int = 9) -> list[Happening]:
    return list(await store.run(lambda tx: tx.surfaces.events(session, after=after, limit=limit)))


async def test_events_are_numbered_for_each_session_and_read_in_order(store: Store) -> None:
    def work(tx: Tx) -> None:
        happened(tx, "draw", data='{"x":1}')
        happened(tx, "draw", "ses_2")
        happened(tx, "resize", at=NOW + 1, data='{"n":"é"}')

    await store.run(work)
    first = Happening(seq=1, surface="surf_1", instance="board.01", event="draw", data='{"x":1}', at=NOW)
    second = replace(first, seq=2, event="resize", data='{"n":"é"}', at=NOW + 1)
    assert await events(store) == [first, second]
    assert await events(store, after=1) == [second]
    assert await events(store, limit=1) == [first]
    assert [happening.seq for happening in await events(store, "ses_2")] == [1]
    assert await store.run(lambda tx: tx.surfaces.last("ses_1")) == 2
    assert await store.run(lambda tx: tx.surfaces.last("ses_3")) == 0
    assert await store.run(lambda tx: tx.surfaces.kept("ses_1")) == 17
    assert await store.run(lambda tx: tx.surfaces.kept("ses_3")) == 0


async def test_a_place_is_never_given_twice(store: Store) -> None:
    for event in ("a", "b"):
        await store.run(lambda tx, event=event: happened(tx, event))
    assert await store.run(lambda tx: tx.surfaces.forget_events("ses_1", 2)) == 2
    assert await store.run(lambda tx: tx.surfaces.forget_events("ses_1", 2)) == 0
    assert await store.run(lambda tx: tx.surfaces.kept("ses_1")) == 0
    await store.run(lambda tx: happened(tx, "c"))
    assert [(happening.seq, happening.event) for happening in await events(store)] == [(3, "c")]


async def test_all_of_a_session_goes_with_it(store: Store) -> None:
    for session in ("ses_1", "ses_2"):
        await store.run(lambda tx, session=session: happened(tx, "draw", session))
    assert await store.run(lambda tx: tx.surfaces.listeners()) == ["ses_1", "ses_2"]
    assert await store.run(lambda tx: tx.surfaces.erase_events("ses_1")) == 1
    assert await store.run(lambda tx: tx.surfaces.erase_events("ses_1")) == 0
    assert await store.run(lambda tx: tx.surfaces.listeners()) == ["ses_2"]
    assert await events(store) == []
    assert len(await events(store, "ses_2")) == 1


async def test_events_are_forgotten_by_age(store: Store) -> None:
    for number in range(3):
        await store.run(lambda tx, number=number: happened(tx, "draw", f"ses_{number}", NOW + number))
    assert await store.run(lambda tx: tx.surfaces.purge_events(NOW, 9)) == 0
    assert await store.run(lambda tx: tx.surfaces.purge_events(NOW + 2, 1)) == 1
    assert await events(store, "ses_0") == []
    assert await store.run(lambda tx: tx.surfaces.purge_events(NOW + 2, 9)) == 1
    assert len(await events(store, "ses_2")) == 1


async def test_what_was_sent_for_a_surface_is_kept_until_it_closes(store: Store) -> None:
    sent = a_surface(surface=surfaces.SENT)
    parts = Parts(html="<p>é</p>", css="p{}", js="1")
    bundles = [
        SentBundle(name="Weather", integrity="sha256-a", events=None, profile="strict"),
        SentBundle(name="Weather", integrity="sha256-b", events=("draw",), profile="compat", signed_by="team"),
    ]
    for number, bundle in enumerate(bundles):
        shown = replace(sent, id=f"surf_{number}", instance=f"board.{number}")
        await add(store, shown)
        await store.run(lambda tx, s=shown, b=bundle: tx.surfaces.put_bundle(s.id, b, parts))
        assert await store.run(lambda tx, s=shown: tx.surfaces.bundle_of(s.id)) == bundle
        assert await store.run(lambda tx, s=shown: tx.surfaces.parts_of(s.id)) == parts
        await store.run(lambda tx, s=shown: tx.surfaces.save(closed(s), was=SurfaceState.OPENING))
        assert await store.run(lambda tx, s=shown: tx.surfaces.bundle_of(s.id)) is None
        assert await store.run(lambda tx, s=shown: tx.surfaces.parts_of(s.id)) is None
