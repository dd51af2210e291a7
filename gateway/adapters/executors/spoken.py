"""What an app prints: cut into lines of bounded length, for the gateway's log. Pure."""

from typing import Final

LINE_BYTES: Final = 2_048
"""Longest line that is kept; of a longer one the beginning is."""

LINES_PER_SECOND: Final = 100
"""Lines of one app that are kept in a second; the others are counted."""


class Lines:
    """Cuts one stream of output into lines."""

    def __init__(self, *, most: int = LINE_BYTES) -> None:
        self._most = most
        self._line = bytearray()

    def feed(self, data: bytes) -> list[str]:
        """The lines that end in `data`."""
        *ended, rest = data.split(b"\n")
        lines = [self._close(part) for part in ended]
        self._keep(rest)
        return lines

    def end(self) -> list[str]:
        """What was begun and never ended."""
        return [self._close(b"")] if self._line else []

    def _close(self, part: bytes) -> str:
        self._keep(part)
        line = self._line.decode(errors="replace").rstrip("\r")
        self._line.clear()
        return line

    def _keep(self, part: bytes) -> None:
        self._line += part[: self._most - len(self._line)]


class Allowance:
    """How many lines may still be kept in this second."""

    def __init__(self, *, per_second: int = LINES_PER_SECOND) -> None:
        self._per_second = per_second
        self._second = 0
        self._kept = 0
        self._dropped = 0

    def take(self, now: int) -> tuple[bool, int]:
        """Whether a line at `now` (ms) is kept, and how many were not since the last one that was."""
        second = now // 1_000
        if second != self._second:
            self._second, self._kept = second, 0
        if self._kept >= self._per_second:
            self._dropped += 1
            return False, 0
        self._kept += 1
        dropped, self._dropped = self._dropped, 0
        return True, dropped
