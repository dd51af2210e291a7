"""Audits refusals at the doors: the first twenty per peer, reason and minute singly, then one with a count."""

from dataclasses import dataclass, replace
from typing import Final

from gateway.domain.audit import AuditEvent, AuditRecord
from gateway.domain.errors import ErrorCode
from gateway.runtime import audit
from gateway.runtime.effects import After, Refused
from gateway.runtime.ports import Clock
from gateway.runtime.spine import Spine
from gateway.runtime.telemetry import NO_METER, Meter, names, this_request

PAGE: Final = "page"
"""The door of what a signed-in page says."""

SINGLY: Final = 20
MINUTE_MS: Final = 60_000
TRACKED: Final = 10_000
"""Peers and reasons remembered at once; beyond, refusals count under the peer `others`."""


@dataclass(slots=True)
class _Tally:
    minute: int
    count: int = 0


class Refusals:
    """One per gateway."""

    def __init__(self, spine: Spine, clock: Clock, meter: Meter = NO_METER, *, tracked: int = TRACKED) -> None:
        self._spine = spine
        self._clock = clock
        self._meter = meter
        self._tracked = tracked
        self._tallies: dict[tuple[str, ErrorCode, str], _Tally] = {}
        spine.on(Refused, lambda effect: spine.spawn(self._note_effect(effect)))

    async def note(
        self,
        door: str,
        peer: str,
        code: ErrorCode,
        event: AuditEvent = AuditEvent.ACCESS_REFUSED,
        **facts: str | int | None,
    ) -> bool:
        """Record one refusal at `door` of `peer` (address only, or the page session whose frame it is).

        False when it is only counted: it is not worth a line in the log either.
        """
        self._meter.add(names.REFUSALS, door, code.wire)
        this_request().code = code.wire
        now = self._clock.now()
        named = await self._admitted(door, peer, code, now)
        if named is not None:
            await self._write(audit.of_access(event, now, door=door, peer=named, code=code.wire, **facts))
        return named is not None

    async def _note_effect(self, effect: Refused) -> None:
        if await self._admitted(PAGE, effect.peer, effect.code, self._clock.now()) is not None:
            await self._write(effect.record)

    async def _admitted(self, door: str, peer: str, code: ErrorCode, now: int) -> str | None:
        """Count one refusal; whom it is listed under, None when only the count grows."""
        minute = now // MINUTE_MS
        key = (peer, code, door)
        if key not in self._tallies and len(self._tallies) >= self._tracked:
            key = ("others", code, door)
        tally = self._tallies.setdefault(key, _Tally(minute))
        if tally.minute != minute:
            over, tally.minute, tally.count = replace(tally), minute, 0
            await self._count(key, over)
        tally.count += 1
        return key[0] if tally.count <= SINGLY else None

    async def _write(self, record: AuditRecord) -> None:
        await self._spine.run(lambda tx: After(tx.audit.append(record)))

    async def sweep(self) -> None:
        """Write the counts of minutes that are over and forget them."""
        minute = self._clock.now() // MINUTE_MS
        await self._conclude([key for key, tally in self._tallies.items() if tally.minute != minute])

    async def close(self) -> None:
        """Write the counts of this minute too: the gateway stops, and the next one begins at nought."""
        await self._conclude([*self._tallies])

    async def _conclude(self, keys: list[tuple[str, ErrorCode, str]]) -> None:
        for key in keys:
            tally = self._tallies.pop(key, None)
            if tally is not None:
                await self._count(key, tally)

    async def _count(self, key: tuple[str, ErrorCode, str], tally: _Tally) -> None:
        if tally.count <= SINGLY:
            return
        peer, code, door = key
        await self._write(
            audit.of_access(
                AuditEvent.ACCESS_REFUSALS_COUNTED,
                self._clock.now(),
                door=door,
                peer=peer,
                code=code.wire,
                further=tally.count - SINGLY,
            )
        )
