"""Names a test can foresee."""

import base64
import hashlib
from itertools import count
from typing import Final

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz234567"


class SequentialIds:
    """`Ids` in sequence: `call_aa…ab`, `call_aa…ac`, and so on over all prefixes. Nothing about them is secret."""

    def __init__(self) -> None:
        self._count = count(1)

    def ref(self) -> str:
        return self.name("call")

    def name(self, prefix: str) -> str:
        number, letters = next(self._count), ""
        while number:
            number, digit = divmod(number, 32)
            letters = _LETTERS[digit] + letters
        return f"{prefix}_{letters.rjust(26, 'a')}"

    def secret(self) -> str:
        digest = hashlib.sha256(str(next(self._count)).encode()).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")
