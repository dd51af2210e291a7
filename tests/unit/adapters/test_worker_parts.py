"""The pure parts around a worker: frames, lines, allowances, pauses, and what an end means."""

import asyncio
import io

import pytest

from gateway.adapters.executors.backing_off import Strikes
from gateway.adapters.executors.frames import FRAME_BYTES, RESULT_BYTES, Broken, framed, next_frame, read_frame
from gateway.adapters.executors.messages import Failed, Progress, Result, Why, message_of
from gateway.adapters.executors.pace import Pace
from gateway.adapters.executors.spoken import Allowance, Lines
from gateway.adapters.executors.work import Hook, Stop, ending_of, failure_of
from gateway.domain.errors import ErrorCode
from gateway.domain.workers import Conversation, HookFault, Job, Loss
from tests.support.in_loop import in_loop

JOB = Job(app="a.b", ref="call_1", method="a.do", arguments="{}", within_ms=1, conversation=Conversation("ada", "c"))


# ---- frames ------------------------------------------------------------------------------------------------------


def reader_of(data: bytes) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    return reader


@in_loop
async def test_what_is_framed_is_read_frame_by_frame() -> None:
    frames = [{"a": 1}, {"b": "ä" * 1_000}, {}]
    data = b"".join(map(framed, frames))
    reader, link = reader_of(data), io.BytesIO(data)
    for frame in frames:
        assert framed(frame)[4:] == await next_frame(reader)
        assert read_frame(link) == frame
    assert await next_frame(reader) is None
    assert read_frame(link) is None


@in_loop
async def test_a_frame_has_a_largest_size_and_is_whole() -> None:
    assert FRAME_BYTES >= RESULT_BYTES + 1_024
    longest = bytes(FRAME_BYTES)
    assert await next_frame(reader_of(FRAME_BYTES.to_bytes(4, "big") + longest)) == longest
    beyond = (FRAME_BYTES + 1).to_bytes(4, "big") + longest + b" "
    for broken in (beyond, b"\0\0", b"\0\0\0\5four"):
        with pytest.raises(Broken):
            await next_frame(reader_of(broken))
    assert read_frame(io.BytesIO(b"\0\0\0\5four")) is None


def test_a_message_is_read_by_its_type() -> None:
    assert message_of(b'{"type":"progress","id":"x","n":1,"total":null,"message":"a"}') == Progress(
        type="progress", id="x", n=1.0, total=None, message="a"
    )


# ---- output ------------------------------------------------------------------------------------------------------


def test_output_is_cut_into_lines_however_it_comes() -> None:
    lines = Lines(most=4)
    assert lines.feed(b"a") == []
    assert lines.feed(b"b\r\nc\n\nlonger") == ["ab", "c", ""]
    assert lines.feed(b"still") == []
    assert lines.feed(b"\n\xff\n") == ["long", "\N{REPLACEMENT CHARACTER}"]
    assert lines.end() == []
    lines.feed(b"rest")
    assert (lines.end(), lines.end()) == (["rest"], [])


def test_so_many_lines_of_a_second_are_kept_and_the_next_says_how_many_were_not() -> None:
    allowance = Allowance(per_second=2)
    assert [allowance.take(1_000), allowance.take(1_500)] == [(True, 0), (True, 0)]
    assert [allowance.take(1_999), allowance.take(1_999)] == [(False, 0), (False, 0)]
    assert [allowance.take(2_000), allowance.take(2_000)] == [(True, 2), (True, 0)]


# ---- pace --------------------------------------------------------------------------------------------------------


def test_whoever_says_more_than_its_burst_waits_for_the_debt() -> None:
    pace = Pace(0, per_second=100, burst=3)
    assert [pace.spend(0) for _ in range(3)] == [0, 0, 0]
    assert pace.spend(0) == 11
    assert pace.spend(10) == 11
    assert pace.spend(1_000_000) == 0
    assert [pace.spend(1_000_000) for _ in range(3)] == [0, 0, 11]


def test_pauses_double_up_to_half_a_minute_and_one_good_end_forgives() -> None:
    strikes = Strikes()
    assert [strikes.strike() for _ in range(10)] == [
        0,
        500,
        1_000,
        2_000,
        4_000,
        8_000,
        16_000,
        30_000,
        30_000,
        30_000,
    ]
    for _ in range(100):
        assert strikes.strike() == 30_000
    strikes.forgive()
    assert [strikes.strike(), strikes.strike()] == [0, 500]


# ---- ends --------------------------------------------------------------------------------------------------------


def failed(why: Why, message: str = "") -> Failed:
    return Failed(type="failed", id="call_1", why=why, message=message)


@pytest.mark.parametrize("why", Why)
@pytest.mark.parametrize("stop", [None, *Stop])
def test_every_end_of_a_job_means_something(why: Why, stop: Stop | None) -> None:
    ending = ending_of(JOB, stop, failed(why, "words"))
    told = ending if isinstance(ending, Loss) else ending.code
    expected = {
        Why.MEANT: ErrorCode.HANDLER_ERROR,
        Why.RAISED: ErrorCode.HANDLER_ERROR,
        Why.TOO_LARGE: ErrorCode.HANDLER_ERROR,
        Why.NO_HANDLER: ErrorCode.NOT_AVAILABLE,
        Why.INTERRUPTED: Loss.STOPPED if stop is Stop.APP else Loss.OVERRAN,
        Why.STOPPED: {
            None: ErrorCode.HANDLER_ERROR,
            Stop.TIME: ErrorCode.DEADLINE_EXCEEDED,
            Stop.CALLER: ErrorCode.CANCELLED,
            Stop.APP: ErrorCode.NOT_AVAILABLE,
        }[stop],
    }
    assert told is expected[why]


def test_a_result_is_canonical_and_at_most_one_mebibyte() -> None:
    def ending(output: dict[str, object]) -> object:
        return ending_of(JOB, None, Result(type="result", id="call_1", output=output))

    assert getattr(ending({"b": 1.0, "a": "x"}), "output", None) == '{"a":"x","b":1}'
    room = RESULT_BYTES - len('{"a":""}')
    assert getattr(ending({"a": "x" * room}), "code", "") is None
    assert getattr(ending({"a": "x" * (room + 1)}), "code", "") is ErrorCode.HANDLER_ERROR


@pytest.mark.parametrize(
    ("why", "fault"),
    [
        (Why.MEANT, HookFault.RAISED),
        (Why.RAISED, HookFault.RAISED),
        (Why.STOPPED, HookFault.TIMEOUT),
        (Why.INTERRUPTED, HookFault.TIMEOUT),
    ],
)
def test_a_hook_fails_with_its_words_or_for_its_time(why: Why, fault: HookFault) -> None:
    failure = failure_of(Hook.ACTIVATE, failed(why, "no config"))
    assert failure is not None
    assert failure.fault is fault
    assert ("no config" in failure.message) == (fault is HookFault.RAISED)
