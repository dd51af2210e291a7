"""What a worker says, on its link and anywhere else: bounded, judged, and about its own work only."""

import json
from collections.abc import MutableMapping, Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.domain.errors import ErrorCode
from gateway.domain.workers import Loss
from tests.support.in_loop import until
from tests.support.processes import ended
from tests.support.worker_house import APPS, Real, Timed

pytestmark = pytest.mark.anyio


def frame(**members: object) -> str:
    """Arguments of `rough.meddle` that write one frame."""
    return json.dumps({"frame": json.dumps(members)})


async def meddled(house: Real, **members: object) -> None:
    """The worker wrote that frame, and the gateway went on."""
    assert (await house.news.ending(house.submit("meddle", frame(**members)))).output == '{"meddled":true}'
    assert (await house.news.ending(house.submit("echo"))).code is None


# ---- forged ------------------------------------------------------------------------------------------------------


async def test_what_is_printed_is_never_an_answer(house: Real) -> None:
    house.start()
    ref = house.submit("forge")
    assert (await house.news.ending(ref)).output == '{"forged":false}'
    assert house.news.ends_of(ref) == 1


async def test_a_frame_about_work_the_worker_does_not_hold_counts_nothing(house: Real) -> None:
    house.start()
    held = await house.hold("wait")
    for kind in ("started", "progress", "result", "failed"):
        more: dict[str, dict[str, Any]] = {
            "started": {},
            "progress": {"n": 1, "total": None, "message": None},
            "result": {"output": {"forged": 1}},
            "failed": {"why": "meant", "message": "forged"},
        }
        await meddled(house, type=kind, id="call_of_somebody", **more[kind])
    assert [kind for kind, what in house.news.all if "call_of_somebody" in str(what)] == []
    house.gates.open("gate")
    assert (await house.news.ending(held)).output == '{"gate":"value of gate"}'


async def test_a_question_in_the_name_of_a_call_that_is_over_is_not_answered(house: Real) -> None:
    house.start()
    over = house.submit("echo")
    await house.news.ending(over)
    await meddled(house, type="ask", id=1, of=over, what="secret", given={"name": "gate"})
    assert house.gates.times("gate") == 0


async def test_what_a_handler_leaves_behind_gets_nothing_more(house: Real) -> None:
    house.start()
    with capture_logs() as lines:
        assert (await house.news.ending(house.submit("linger"))).code is None
        await until(lambda: any("left behind" in str(line.get("line")) for line in lines))
    assert any("its call is over" in str(line.get("line")) for line in lines)
    assert house.gates.times("gate") == 0


async def test_a_second_answer_is_not_heard(house: Real) -> None:
    house.start()
    held = await house.hold("wait")
    await meddled(house, type="result", id=held, output={"first": 1})
    assert (await house.news.ending(held)).output == '{"first":1}'
    house.gates.open("gate")
    assert (await house.news.ending(house.submit("wait"))).code is None
    assert house.news.ends_of(held) == 1


# ---- no frame at all ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "not json",
        '{"type":"result"}',
        '{"type":"result","id":"x","output":[]}',
        '{"type":"result","id":"x","output":{},"more":1}',
        '{"type":"ready","id":1}',
        '{"type":"launch"}',
        '{"type":"ask","id":-1,"of":"x","what":"secret","given":{}}',
        '{"type":"ask","id":1,"of":"x","what":"shell","given":{}}',
        '{"type":"progress","id":"x","n":1e999,"total":null,"message":null}',
        '{"type":"result","id":"x","output":{"a":1,"a":2}}',
        '{"type":"result","id":"x","output":{"a":9007199254740993}}',
        '{"type":"result","id":"x","output":' + '{"a":' * 70 + "1" + "}" * 71,
        '{"type":"started","id":"' + "x" * 65 + '"}',
    ],
)
async def test_a_worker_that_writes_no_frame_is_ended(house: Real, text: str) -> None:
    house.start()
    held = await house.hold("wait")
    pid = house.pid
    meddling = house.submit("meddle", json.dumps({"frame": text}))
    assert await house.news.loss(held) is Loss.BROKE_FRAMES
    assert house.news.ends_of(meddling) <= 1
    assert house.news.of("worker_ended") == [(house.app, Loss.BROKE_FRAMES)]
    await ended(pid)
    assert (await house.news.ending(house.submit("echo"))).code is None


async def test_a_frame_may_not_claim_more_than_a_result_needs(house: Real) -> None:
    house.start()
    assert await house.news.loss(await house.hold("gape", '{"bytes":1114113}')) is Loss.BROKE_FRAMES


async def test_a_result_json_cannot_carry_is_the_handlers_own_failure(house: Real) -> None:
    house.start()
    assert (await house.news.ending(house.submit("not_json"))).code is ErrorCode.HANDLER_ERROR
    assert (await house.news.ending(house.submit("echo"))).code is None
    assert house.news.of("worker_ended") == []


# ---- much --------------------------------------------------------------------------------------------------------


async def test_output_goes_to_the_log_line_by_line_and_has_bounds(slow: Timed) -> None:
    slow.start()
    with capture_logs() as lines:
        # The long line behind them does not fit into a pipe: once it is written, they were read.
        assert (await slow.news.ending(slow.submit("flood", '{"lines":5000}'))).output == '{"done":true}'
        assert len(_printed(lines)) == 100
        slow.clock.advance(1_000)
        assert (await slow.news.ending(slow.submit("flood", '{"lines":0}'))).code is None
        await until(lambda: {line["stream"] for line in _printed(lines)[100:]} == {"stdout", "stderr"})
    printed = _printed(lines)
    assert [line["line"] for line in printed[:3]] == ["line 0", "line 1", "line 2"]
    assert {line["app"] for line in printed} == {slow.app}
    # A second by the gateway's clock has a hundred lines; the next that is kept says how many were not.
    assert max(len(line["line"]) for line in printed) == 2_048
    assert sum(line["left_out"] or 0 for line in printed) >= 4_900


def _printed(lines: Sequence[MutableMapping[str, Any]]) -> list[MutableMapping[str, Any]]:
    return [line for line in lines if line["event"] == "app_output"]


async def test_what_a_handler_raised_stands_in_the_log_without_its_words(house: Real) -> None:
    """An exception may quote an argument (case C43)."""
    house.app = "com.example.orders"
    house.start()
    with capture_logs() as lines:
        assert (await house.news.ending(house.submit("stumble"))).code is ErrorCode.HANDLER_ERROR
        await until(lambda: any("ValueError" in str(line.get("line")) for line in lines))
    assert "MARKER-7" not in str(lines)


async def test_a_worker_that_reports_without_end_is_listened_to_more_slowly(house: Real) -> None:
    house.start()
    house.workers.start("com.example.orders", APPS, "orders_app")
    ref = await house.hold("report_much", '{"times":4000}')
    assert (await house.news.ending(house.submit("echo", app="com.example.orders"))).code is None
    assert house.news.ends_of(ref) == 0
    assert (await house.news.ending(ref)).output == '{"reported":4000}'
    assert len(house.news.of("progressed")) == 4_000


async def test_one_call_asks_so_many_things_at_once(house: Real) -> None:
    house.start()
    ref = house.submit("ask_much", '{"times":20}')
    await until(lambda: house.gates.times("gate") == 16)
    house.gates.open("gate")
    assert (await house.news.ending(ref)).output == '{"refused":4}'


# ---- what a worker finds around it -------------------------------------------------------------------------------


async def test_a_worker_finds_nothing_of_the_gateway_in_its_environment(
    house: Real, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OSTIARY_DATABASE_PASSWORD", "MARKER-8")
    monkeypatch.setenv("PYTHONPATH", "/tmp/elsewhere")  # noqa: S108 - a name, nothing is there
    house.start()
    told = json.loads((await house.news.ending(house.submit("look"))).output or "")
    assert set(told["environment"]) - {"LC_CTYPE"} == {"PATH", "LANG", "TZ"}
    assert "MARKER-8" not in str(told)
    assert told["folder"] == "/"


async def test_what_a_worker_begins_does_not_inherit_its_link(house: Real) -> None:
    house.start()
    told = json.loads((await house.news.ending(house.submit("inherited"))).output or "")
    assert told["link"] not in told["open"]
