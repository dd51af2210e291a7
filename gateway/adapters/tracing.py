"""`Tracer` over the OpenTelemetry SDK: spans leave in batches, by a thread of the SDK, and are dropped when it cannot.

The SDK is told everything explicitly: no ambient context, no exception texts, no instrumentation of libraries.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Final

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    TraceState,
    set_span_in_context,
)
from opentelemetry.trace import Span as SdkSpan
from opentelemetry.trace import SpanKind as SdkKind

from gateway.domain.trace_context import KNOWN_FLAGS, TraceParent
from gateway.runtime.telemetry import Span, SpanKind
from gateway.runtime.telemetry.ports import Attribute

RATIO: Final = "OTEL_TRACES_SAMPLER_ARG"

_KINDS: Final = {SpanKind.SERVER: SdkKind.SERVER, SpanKind.INTERNAL: SdkKind.INTERNAL}


def tracer_to(endpoint: str) -> "OtelTracer":
    """Spans to the collector at `endpoint` (its base address), or where that is empty to the environment's."""
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces") if endpoint else OTLPSpanExporter()
    return OtelTracer(BatchSpanProcessor(exporter), ratio=_ratio())


def _ratio() -> float:
    try:
        return min(1.0, max(0.0, float(os.environ.get(RATIO, ""))))
    except ValueError:
        return 1.0


class OtelTracer:
    """One per gateway; `close` sends what is left."""

    is_on = True

    def __init__(self, processor: SpanProcessor, *, ratio: float = 1.0) -> None:
        # Whoever calls may name a trace; whether it is kept is not theirs to say, neither way.
        kept = TraceIdRatioBased(ratio)
        sampler = ParentBased(root=kept, remote_parent_sampled=kept, remote_parent_not_sampled=kept)
        resource = Resource.create({SERVICE_NAME: "ostiary"})
        self._provider = TracerProvider(sampler=sampler, resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("ostiary")

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
        """Open a span."""
        return _Span(
            self._tracer.start_span(
                name,
                context=_within(parent, tracestate),
                kind=_KINDS[kind],
                attributes=attributes,
                links=[Link(_remote(link)) for link in links],
                record_exception=False,
                set_status_on_exception=False,
            )
        )

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
        """Tell a span that is over."""
        span = self._tracer.start_span(
            name,
            context=_within(parent, None),
            attributes=attributes,
            links=[Link(_remote(link)) for link in links],
            start_time=begun * 1_000_000,
            record_exception=False,
            set_status_on_exception=False,
        )
        for moment, at in moments:
            span.add_event(moment, timestamp=at * 1_000_000)
        if failed:
            span.set_status(Status(StatusCode.ERROR))
        span.end(end_time=ended * 1_000_000)

    def close(self) -> None:
        """Send what is left; may take as long as the collector takes."""
        self._provider.shutdown()


class _Span:
    """`Span` over the SDK's."""

    __slots__ = ("_span",)

    def __init__(self, span: SdkSpan) -> None:
        self._span = span

    @property
    def traceparent(self) -> str | None:
        place = self._span.get_span_context()
        return f"00-{place.trace_id:032x}-{place.span_id:016x}-{int(place.trace_flags) & KNOWN_FLAGS:02x}"

    def set(self, name: str, value: Attribute) -> None:
        self._span.set_attribute(name, value)

    def end(self, *, failed: bool = False) -> None:
        if failed:
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()


def _within(parent: TraceParent | None, tracestate: str | None) -> Context:
    # An empty context rather than the ambient one: what runs on the loop belongs to the request it was read from.
    if parent is None:
        return Context()
    return set_span_in_context(NonRecordingSpan(_remote(parent, tracestate)), Context())


def _remote(place: TraceParent, tracestate: str | None = None) -> SpanContext:
    return SpanContext(
        int(place.trace_id, 16),
        int(place.span_id, 16),
        is_remote=True,
        trace_flags=TraceFlags(place.flags),
        trace_state=TraceState.from_header([tracestate]) if tracestate else None,
    )
