"""Logs hold names and facts, never what a call carried."""

import asyncio
import io

import pytest
import structlog

from gateway.adapters.logs import Lines, configure_logs


def test_a_traceback_in_the_log_shows_no_local_variables(capsys: pytest.CaptureFixture[str]) -> None:
    """An argument lives in a local of the frame that failed (case C43)."""
    configure_logs()

    def fail(argument: str) -> None:
        raise ValueError(len(argument))

    try:
        fail("MARKER-" + "1")
    except ValueError:
        structlog.get_logger().exception("it_failed")
    finally:
        written = capsys.readouterr().err
        structlog.reset_defaults()
    assert "it_failed" in written
    assert '"error":"ValueError"' in written
    assert "MARKER-1" not in written


class Disk(io.BytesIO):
    """A file that counts the writes it gets, and fails them while it is full."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = 0
        self.is_full = False

    def write(self, data: object) -> int:
        if self.is_full:
            raise OSError("no space left on device")
        self.writes += 1
        return super().write(data)  # type: ignore[arg-type] - bytes


async def _lines_of_one_turn(lines: Lines, *said: bytes) -> None:
    for line in said:
        lines.info(line)
    await asyncio.sleep(0)


def test_lines_of_one_turn_of_the_loop_are_written_together() -> None:
    disk = Disk()
    asyncio.run(_lines_of_one_turn(Lines(disk), b"one", b"two"))
    assert (disk.getvalue(), disk.writes) == (b"one\ntwo\n", 1)


def test_a_grave_line_is_written_at_once_behind_those_before_it() -> None:
    disk = Disk()
    lines = Lines(disk)

    async def both() -> bytes:
        lines.info(b"one")
        lines.error(b"two")
        return disk.getvalue()

    assert asyncio.run(both()) == b"one\ntwo\n"


def test_without_a_loop_a_line_is_written_at_once() -> None:
    disk = Disk()
    Lines(disk).info(b"one")
    assert disk.getvalue() == b"one\n"


def test_a_full_disk_fails_nobody_and_later_lines_are_written() -> None:
    disk = Disk()
    lines = Lines(disk)
    disk.is_full = True
    lines.error(b"lost")
    disk.is_full = False
    lines.error(b"kept")
    assert disk.getvalue() == b"kept\n"


def test_a_closed_log_fails_nobody() -> None:
    disk = Disk()
    lines = Lines(disk)
    disk.close()
    lines.error(b"lost")
