"""What holds at every address before anybody asks who it is: names, origins, and how often one address may knock."""

from pathlib import Path

import pytest

from gateway.testing import FakeClock
from tests.support.whole_gateway import DOORS, serving

pytestmark = pytest.mark.anyio

FOREIGN = {
    "host": ({"host": "rebound.example.test"}, 421, "host_refused"),
    "origin": ({"origin": "https://evil.example.test"}, 403, "origin_refused"),
}


@pytest.mark.parametrize("kind", FOREIGN)
async def test_an_address_of_no_door_is_judged_like_one(tmp_path: Path, kind: str) -> None:
    headers, status, code = FOREIGN[kind]
    async with serving(tmp_path) as whole:
        assert (await whole.client.get(f"{whole.origin}/nowhere")).status_code == 404
        answer = await whole.client.get(f"{whole.origin}/nowhere", headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
        assert len(await whole.records("access.refused", door="elsewhere", code=code)) == 1


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", FOREIGN)
async def test_what_is_refused_is_limited_and_takes_nothing_from_what_is_served(
    tmp_path: Path, door: str, kind: str
) -> None:
    headers, status, code = FOREIGN[kind]
    async with serving(tmp_path, clock=FakeClock(), requests_burst=3) as whole:
        answers = [await whole.post(door, **headers) for _ in range(5)]
        assert [answer.status_code for answer in answers] == [status] * 3 + [429] * 2
        assert int(answers[-1].headers["retry-after"]) >= 1
        assert len(await whole.records("access.refused", door=door, code=code)) == 3
        assert len(await whole.records("access.refused", door=door, code="rate_limited")) == 2
        assert (await whole.post(door)).status_code == 200


@pytest.mark.parametrize("door", DOORS)
async def test_two_credentials_are_none(tmp_path: Path, door: str) -> None:
    async with serving(tmp_path) as whole:
        knock = whole.knock(door)
        own = knock["headers"]
        for other in ("Bearer ost_agent_invented", own["authorization"]):
            knock["headers"] = [*own.items(), ("authorization", other)]
            answer = await whole.client.request(**knock)
            assert answer.status_code == 401
        assert len(await whole.records("access.refused", door=door, code="unauthenticated")) == 2


async def test_each_door_counts_for_itself(tmp_path: Path) -> None:
    async with serving(tmp_path, clock=FakeClock(), requests_burst=1) as whole:
        for door in DOORS:
            assert [(await whole.post(door)).status_code for _ in range(2)] == [200, 429]
            assert len(await whole.records("access.refused", door=door, code="rate_limited")) == 1
