"""What a site lowers holds on its own pages, and on no other's."""

from dataclasses import replace

import pytest

from gateway.domain.errors import GatewayError
from tests.unit.runtime.rig import ADD, configuration, running, site

pytestmark = pytest.mark.anyio

LOWERED = {"open_approvals_per_page": 1, "approval_ms": 5_000, "pages_per_user": 1}
SITES = {"todo": replace(site("todo"), limits=LOWERED), "shop": site("shop")}


def test_what_a_site_leaves_out_is_the_general_limit() -> None:
    given = configuration(sites=SITES, standing_ms=60_000)
    assert given.limits_of("todo").open_approvals_per_page == 1
    assert given.limits_of("todo").standing_ms == 60_000
    assert given.limits_of("shop") == given.limits_of(None) == given.limits


async def test_a_lower_number_of_open_questions_and_a_shorter_time_to_answer_hold_on_the_site() -> None:
    async with running(sites=SITES) as rig:
        await rig.page(ADD)
        session = await rig.grant()
        asked, waiter = await rig.submit(session, "todo.add", {"title": "one"})
        with pytest.raises(GatewayError) as refused:
            await rig.submit(session, "todo.add", {"title": "two"})
        assert refused.value.code.wire == "busy"
        assert len(await rig.records("call.refused", code="busy")) == 1
        await rig.after(5_000)
        ended = await rig.services.calls.wait(asked, waiter, 5)
        assert ended.call.code is not None
        assert ended.call.code.wire == "approval_expired"


async def test_a_lower_number_of_pages_holds_on_the_site_alone() -> None:
    async with running(sites=SITES) as rig:
        await rig.page(ADD)
        with pytest.raises(GatewayError) as refused:
            await rig.page(ADD)
        assert refused.value.code.wire == "busy"
        await rig.page(ADD, name="shop")
        await rig.page(ADD, name="shop")
