"""Fresh names and secrets from the operating system's randomness."""

import base64
import secrets
from collections.abc import Callable
from typing import Final

from gateway.adapters.clock import SystemClock

_IN_ORDER: Final = "234567abcdefghijklmnopqrstuvwxyz"
"""The letters of names in the order of their codes, so that a later time is a greater text."""

_TIME_LETTERS: Final = 10
"""50 bits of milliseconds: enough until the year 37 000."""


class RandomIds:
    """`Ids` nobody can guess: refs of 80 random bits after their time, names of 130, secrets of 256."""

    def __init__(self, now: Callable[[], int] | None = None) -> None:
        self._now = now or SystemClock().now
        self._moment = (-1, "")

    def ref(self) -> str:
        # New rows go to one end of the ledger's indexes instead of anywhere (docs/adr/0007).
        return f"call_{self._time()}{base64.b32encode(secrets.token_bytes(10)).decode().lower()}"

    def name(self, prefix: str) -> str:
        # 17 bytes are 28 letters of base32; the last two carry padding and go.
        return f"{prefix}_{base64.b32encode(secrets.token_bytes(17))[:26].decode().lower()}"

    def secret(self) -> str:
        return secrets.token_urlsafe(32)

    def _time(self) -> str:
        now = self._now()
        if self._moment[0] != now:
            letters = (_IN_ORDER[now >> 5 * place & 31] for place in reversed(range(_TIME_LETTERS)))
            self._moment = (now, "".join(letters))
        return self._moment[1]
