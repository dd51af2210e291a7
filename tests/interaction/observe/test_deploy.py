"""The dashboard, the alert rules and the collector's configuration speak of what a gateway really tells."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.interaction.observe.test_metrics import tell_a_story
from tests.support.observed import observed

pytestmark = pytest.mark.anyio

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"

WORDS = frozenset({"sum", "by", "min", "max", "rate", "increase", "delta", "histogram_quantile"})
"""What the expressions use of PromQL beside names."""

_STRING = re.compile(r'"[^"]*"')
_SELECTOR = re.compile(r"\b([a-z_][a-z0-9_]*)\{([^}]*)\}")
_GROUPING = re.compile(r"\bby \(([^)]*)\)")
_RANGE = re.compile(r"\[\d+[smhd]\]")
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")


def expressions() -> Iterator[tuple[str, str]]:
    """Every expression with where it stands."""
    for panel in json.loads((DEPLOY / "grafana" / "ostiary.json").read_text())["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
    for group in yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text())["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]


def used(expression: str) -> tuple[set[str], set[str]]:
    """The metrics and the labels an expression names."""
    bare = _RANGE.sub("", _STRING.sub('""', expression))
    labels = {name for found in _GROUPING.finditer(bare) for name in _NAME.findall(found[1])}
    labels |= {name for found in _SELECTOR.finditer(bare) for name in _NAME.findall(found[2])}
    rest = _GROUPING.sub(" ", _SELECTOR.sub(r"\1", bare))
    return {name for name in _NAME.findall(rest) if name not in WORDS}, labels


def test_the_reading_of_expressions_finds_names_and_labels() -> None:
    expression = 'histogram_quantile(0.99, sum by (le, b) (rate(a_bucket{stage="x", other=~"y|z"}[5m]))) / c > 0.5'
    assert used(expression) == ({"a_bucket", "c"}, {"le", "b", "stage", "other"})


async def test_every_metric_and_label_is_in_a_scrape(tmp_path: Path) -> None:
    async with observed(tmp_path) as rig:
        await tell_a_story(rig)
        labels_of: dict[str, set[str]] = {}
        for sample in await rig.samples():
            labels_of.setdefault(sample.name, set()).update(sample.labels)
    for where, expression in expressions():
        metrics, labels = used(expression)
        assert metrics, where
        assert metrics <= set(labels_of), f"{where}: {metrics - set(labels_of)}"
        known = {label for metric in metrics for label in labels_of[metric]}
        assert labels <= known, f"{where}: {labels - known}"


def test_every_alert_says_what_to_do_and_names_only_labels_it_has() -> None:
    for group in yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text())["groups"]:
        for rule in group["rules"]:
            assert rule["labels"]["severity"] in ("page", "warn"), rule["alert"]
            assert set(rule["annotations"]) == {"summary", "action"}, rule["alert"]
            shown = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
            assert shown <= used(rule["expr"])[1], rule["alert"]


def test_the_collector_receives_where_the_gateway_sends() -> None:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "otel-collector.yaml").read_text())
    assert found["receivers"]["otlp"]["protocols"]["http"]["endpoint"] == "127.0.0.1:4318"
    scraped = found["receivers"]["prometheus"]["config"]["scrape_configs"][0]["static_configs"][0]["targets"]
    starter = yaml.safe_load((DEPLOY.parent / "gateway" / "cli" / "starter.yaml").read_text())
    assert scraped == [starter["server"]["metrics_listen"]]
    for pipeline in found["service"]["pipelines"].values():
        for kind in ("receivers", "processors", "exporters"):
            assert set(pipeline[kind]) <= set(found[kind])
