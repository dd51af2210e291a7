"""Everything that tells, wired. Made by bootstrap; without anything it tells nobody."""

from dataclasses import dataclass, field

from gateway.runtime.telemetry.call_watch import CallWatch
from gateway.runtime.telemetry.ports import NO_METER, NO_TRACER, Meter, Tracer


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetry:
    """One per gateway."""

    meter: Meter = NO_METER
    tracer: Tracer = NO_TRACER
    calls: CallWatch = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "calls", CallWatch(self.meter, self.tracer))
