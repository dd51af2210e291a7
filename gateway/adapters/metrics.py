"""`Meter` for Prometheus: plain numbers while the gateway runs, families only when somebody scrapes.

Counting a call must not cost what a call costs, so a series is one entry of a dictionary; the client library
writes the text. Series come from the table of names alone: a label value that is not listed there is `other`.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from itertools import product
from math import prod
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from gateway.runtime.telemetry.gauges import Readings
from gateway.runtime.telemetry.names import METRICS, OTHER, Kind, Metric

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST

FORESEEN: Final = 16
"""Counters of at most so many series begin at zero; the others have a series once there is something to count."""

_Series = tuple[Metric, tuple[str, ...]]


class _Times:
    """One series of a histogram: how many fell below each bound but not the one before, and their sum."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def cumulated(self) -> list[tuple[str, float]]:
        total, told = 0, list[tuple[str, float]]()
        for bound, count in zip((*self.bounds, float("inf")), self.counts, strict=True):
            total += count
            told.append(("+Inf" if bound == float("inf") else str(float(bound)), total))
        return told


class PrometheusMeter:
    """One per gateway. Written to from its event loop; the rare other thread may at worst lose a count."""

    def __init__(self) -> None:
        self._counts: dict[_Series, int] = {series: 0 for metric in METRICS for series in _foreseen(metric)}
        self._times: dict[_Series, _Times] = {}

    def add(self, metric: Metric, *labels: str, n: int = 1) -> None:
        """Count `n` more."""
        try:
            self._counts[metric, labels] += n
        except KeyError:
            series = metric, _listed(metric, labels)
            self._counts[series] = self._counts.get(series, 0) + n

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Note one value."""
        times = self._times.get((metric, labels))
        if times is None:
            times = self._times.setdefault((metric, _listed(metric, labels)), _Times(metric.buckets))
        times.counts[bisect_left(times.bounds, value)] += 1
        times.sum += value

    def text(self, readings: Readings) -> bytes:
        """Everything counted so far and the gauges as they were read, in the text format."""
        registry = CollectorRegistry()
        registry.register(_Told(self._counts, self._times, readings))
        ProcessCollector(registry=registry)
        return generate_latest(registry)


class _Told(Collector):
    """One moment of the numbers, as families."""

    def __init__(
        self, counts: Mapping[_Series, int], times: Mapping[_Series, _Times], readings: Mapping[_Series, float]
    ) -> None:
        self._counts = dict(counts)
        self._times = dict(times)
        self._readings = readings

    def collect(self) -> Iterable[Family]:
        """The families of the table, in its order."""
        for metric in METRICS:
            yield self._family(metric)

    def _family(self, metric: Metric) -> Family:
        labels = [name for name, _ in metric.labels]
        match metric.kind:
            case Kind.COUNTER:
                counter = CounterMetricFamily(metric.name, metric.help, labels=labels)
                for (owner, values), count in self._counts.items():
                    if owner is metric:
                        counter.add_metric(values, count)
                return counter
            case Kind.GAUGE:
                gauge = GaugeMetricFamily(metric.name, metric.help, labels=labels)
                for (owner, values), reading in self._readings.items():
                    if owner is metric:
                        gauge.add_metric(values, reading)
                return gauge
            case Kind.HISTOGRAM:
                histogram = HistogramMetricFamily(metric.name, metric.help, labels=labels)
                for (owner, values), times in self._times.items():
                    if owner is metric:
                        histogram.add_metric(values, times.cumulated(), times.sum)
                return histogram


def _foreseen(metric: Metric) -> Iterable[_Series]:
    """The series of a counter that are told from the start: the first count is then a growth Prometheus can see."""
    if metric.kind is Kind.COUNTER and prod(len(listed) for _, listed in metric.labels) <= FORESEEN:
        for values in product(*(sorted(listed) for _, listed in metric.labels)):
            yield metric, values


def _listed(metric: Metric, labels: tuple[str, ...]) -> tuple[str, ...]:
    if len(labels) != len(metric.labels):
        raise ValueError(f"`{metric.name}` has {len(metric.labels)} labels, {len(labels)} were given")
    pairs = zip(labels, metric.labels, strict=True)
    return tuple(value if value in listed else OTHER for value, (_, listed) in pairs)
