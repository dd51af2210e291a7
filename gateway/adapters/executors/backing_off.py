"""How long an app whose worker keeps ending by itself is left alone. Pure."""

from typing import Final

FIRST_MS: Final = 500
LONGEST_MS: Final = 30_000


class Strikes:
    """Ends nobody asked for, in a row. One forgives: its worker starts again at once."""

    def __init__(self) -> None:
        self._count = 0

    def forgive(self) -> None:
        """It did something to the end: what was before does not count."""
        self._count = 0

    def strike(self) -> int:
        """One more; returns for how many milliseconds no worker is started."""
        self._count += 1
        return 0 if self._count < 2 else min(FIRST_MS << min(self._count - 2, 16), LONGEST_MS)
