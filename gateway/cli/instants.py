"""Instants as people type them."""

import re
from datetime import UTC, datetime
from typing import Final

from gateway.adapters.clock import SystemClock
from gateway.cli.output import fail

_AGO: Final = re.compile(r"([0-9]{1,6})([smhd])")
_UNIT_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def instant_of(text: str | None, option: str) -> int | None:
    """Milliseconds since the epoch of `2026-11-30`, `2026-11-30T09:00:00Z`, or `90m` ago; UTC unless it says more."""
    if text is None:
        return None
    if (ago := _AGO.fullmatch(text)) is not None:
        return SystemClock().now() - int(ago[1]) * _UNIT_MS[ago[2]]
    try:
        told = datetime.fromisoformat(text)
    except ValueError:
        fail(f"`{option} {text}` is no time; write `2026-11-30T09:00:00Z`, `2026-11-30`, or `90m` for a while ago")
    return int((told if told.tzinfo else told.replace(tzinfo=UTC)).timestamp() * 1_000)
