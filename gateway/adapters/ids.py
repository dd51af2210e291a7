"""Fresh names and secrets from the operating system's randomness."""

import os
import secrets
from collections.abc import Callable
from typing import Final

from gateway.adapters.clock import SystemClock

_IN_ORDER: Final = "234567abcdefghijklmnopqrstuvwxyz"
"""The letters of names in the order of their codes, so that a later time is a greater text."""

_PAIRS: Final = tuple(first + second for first in _IN_ORDER for second in _IN_ORDER)
"""Two letters for each ten bits."""

_TIME_PAIRS: Final = 5
"""50 bits of milliseconds: enough until the year 37 000."""


class RandomIds:
    """`Ids` nobody can guess: refs of 80 random bits after their time, names of 130, secrets of 256."""

    def __init__(self, now: Callable[[], int] | None = None) -> None:
        self._now = now or SystemClock().now
        self._moment = (-1, "")

    def ref(self) -> str:
        # New rows go to one end of the ledger's indexes instead of anywhere (docs/adr/0007).
        return f"call_{self._time()}{_letters(int.from_bytes(os.urandom(10)), 8)}"

    def name(self, prefix: str) -> str:
        # 17 bytes are six bits more than 13 pairs of letters need.
        return f"{prefix}_{_letters(int.from_bytes(os.urandom(17)), 13)}"

    def secret(self) -> str:
        return secrets.token_urlsafe(32)

    def _time(self) -> str:
        now = self._now()
        if self._moment[0] != now:
            self._moment = (now, _letters(now, _TIME_PAIRS))
        return self._moment[1]


def _letters(number: int, pairs: int) -> str:
    """The lowest ten bits of `number` for each pair, the highest first."""
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(10 * (pairs - 1), -1, -10)])
