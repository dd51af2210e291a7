"""What telemetry needs from the world: somebody who counts, and somebody who takes spans. Both may be nobody."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, Protocol

from gateway.domain.trace_context import TraceParent
from gateway.runtime.telemetry.names import Metric

Attribute = str | int | float | bool


class Meter(Protocol):
    """Counts and times. Labels in the order of the metric's own; any thread; never raises for a label."""

    def add(self, metric: Metric, *labels: str, n: int = 1) -> None:
        """Count `n` more."""
        ...

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Note one value, in the unit of the metric's name."""
        ...


class SpanKind(StrEnum):
    """Which side of a request a span tells."""

    SERVER = "server"
    INTERNAL = "internal"


class Span(Protocol):
    """One piece of work being timed."""

    @property
    def traceparent(self) -> str | None:
        """Its place, for whom the work is handed to; None where tracing is off."""
        ...

    def set(self, name: str, value: Attribute) -> None:
        """Note an attribute; never arguments, results or texts of either."""
        ...

    def end(self, *, failed: bool = False) -> None:
        """It is over; `failed` where this side is to blame."""
        ...


class Tracer(Protocol):
    """Makes spans. Trace ids from outside are names and nothing else: whether a span is kept is decided here."""

    @property
    def is_on(self) -> bool:
        """Whether anybody takes spans."""
        ...

    def begin(
        self,
        name: str,
        /,
        *,
        kind: SpanKind,
        parent: TraceParent | None = None,
        tracestate: str | None = None,
        links: Sequence[TraceParent] = (),
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Span:
        """Open a span now; the caller ends it."""
        ...

    def record(
        self,
        name: str,
        /,
        *,
        begun: int,
        ended: int,
        parent: TraceParent | None = None,
        links: Sequence[TraceParent] = (),
        attributes: Mapping[str, Attribute] | None = None,
        moments: Sequence[tuple[str, int]] = (),
        failed: bool = False,
    ) -> None:
        """Tell an INTERNAL span that is over already; instants and `moments` in milliseconds since the epoch."""
        ...


class _NoMeter:
    def add(self, metric: Metric, *labels: str, n: int = 1) -> None:
        """Nobody counts."""

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Nobody counts."""


class _NoSpan:
    traceparent: str | None = None

    def set(self, name: str, value: Attribute) -> None:
        """Nobody listens."""

    def end(self, *, failed: bool = False) -> None:
        """Nobody listens."""


class _NoTracer:
    is_on: bool = False

    def begin(self, _: str, /, **__: Any) -> Span:
        """A span nobody takes."""
        return _NO_SPAN

    def record(self, _: str, /, **__: Any) -> None:
        """Nobody listens."""


_NO_SPAN: Final = _NoSpan()
NO_METER: Final[Meter] = _NoMeter()
NO_TRACER: Final[Tracer] = _NoTracer()
