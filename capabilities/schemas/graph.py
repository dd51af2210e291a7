"""What applying a schema may cost: which schemas apply which, cycles among them, and how often one is applied.

The native check remembers what it found for schemas that contain themselves; other repetition it works off.
So the number judged here is an upper bound of checks per chain of values within values, with recursion once.
"""

from collections import Counter
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final, NamedTuple, cast

from capabilities.json_values import Path, pointer_to
from capabilities.schemas.document import SchemaDocument, references
from capabilities.schemas.keywords import Applied, subschemas
from capabilities.schemas.refusal import SchemaFault, SchemaRefused

MAX_SCHEMAS: Final = 2_000
"""Schemas in one document, those inside others included."""

MAX_EXPANDED: Final = 5_000
"""Schemas once every reference is written out, recursion left standing: what compiling costs in memory."""

MAX_APPLICATIONS: Final = 512
"""Schemas applied along one chain of values, the longest way; see `_Cost`."""

_ANY: Final = ""
"""Stands for parts of a value that are not one named property."""

_NAMES: Final = frozenset({"$id", "$schema", "$anchor", "$dynamicAnchor", "$recursiveRef"})
"""Keywords that would change what references mean; outside known places nobody read them."""


class _Edge(NamedTuple):
    target: Path
    member: str | None
    """The part of the value the target is applied to; None: the value itself."""


@dataclass(frozen=True, slots=True)
class _Cost:
    """Applications at one value, and below it by property; and all schemas written out."""

    here: int = 1
    expanded: int = 1
    below: Counter[str] = field(default_factory=Counter[str])

    @property
    def chain(self) -> int:
        named = max((n for member, n in self.below.items() if member != _ANY), default=0)
        return self.here + self.below[_ANY] + named


def judge_graph(document: SchemaDocument) -> None:
    """Follow every reference and bound the work.

    Raises:
        SchemaRefused: a reference is remote or dangling, a schema applies itself to the same value, or
            a limit of this module is passed.
    """
    graph = _graph(document)
    here = {path: [e.target for e in edges if e.member is None] for path, edges in graph.items()}
    try:
        TopologicalSorter(here).prepare()
    except CycleError as error:
        cycle = cast("list[Path]", error.args[1])
        raise SchemaRefused(
            SchemaFault.CYCLE,
            pointer_to(min(cycle, key=lambda p: (len(p), str(p)))),
            "applies itself to the same value",
        ) from None
    _judge_cost(graph)


def _graph(document: SchemaDocument) -> dict[Path, list[_Edge]]:
    graph: dict[Path, list[_Edge]] = {}
    pending: list[Path] = [()]
    while pending:
        path = pending.pop()
        if path in graph:
            continue
        if len(graph) >= MAX_SCHEMAS:
            raise SchemaRefused(SchemaFault.TOO_COMPLEX, "", f"more than {MAX_SCHEMAS} schemas")
        schema = document.at(path)
        edges = graph[path] = [] if isinstance(schema, bool) else _edges(document, path, schema)
        pending.extend(edge.target for edge in edges)
        if isinstance(schema, dict):
            held = subschemas(cast("dict[str, Any]", schema))
            pending.extend(path + s.path for s in held if s.applied is Applied.HELD)
    return graph


def _edges(document: SchemaDocument, path: Path, schema: Any) -> list[_Edge]:
    if not isinstance(schema, dict):
        raise SchemaRefused(SchemaFault.BAD_SCHEMA, pointer_to(path), "neither an object nor a boolean")
    if path not in document.places and not _NAMES.isdisjoint(cast("dict[str, Any]", schema)):
        raise SchemaRefused(SchemaFault.UNSUPPORTED, pointer_to(path), "no keyword puts a schema here to name")
    edges = [
        _Edge(document.resolve(reference, (*path, keyword)), None)
        for keyword, reference in references(cast("dict[str, Any]", schema))
    ]
    for inner in subschemas(cast("dict[str, Any]", schema)):
        if inner.applied is Applied.HERE:
            edges.append(_Edge(path + inner.path, None))
        elif inner.applied is Applied.BELOW:
            edges.append(_Edge(path + inner.path, inner.member or _ANY))
    return edges


def _judge_cost(graph: dict[Path, list[_Edge]]) -> None:
    costs: dict[Path, _Cost] = {}
    once = _Cost()
    # Depth first, a schema after all it applies; one still open is met again only by recursion.
    entered: set[Path] = set()
    for start in graph:
        pending = [start]
        while pending:
            path = pending[-1]
            if path in costs:
                pending.pop()
            elif path not in entered:
                entered.add(path)
                pending.extend(e.target for e in graph[path] if e.target not in entered)
            else:
                pending.pop()
                cost = costs[path] = _cost(graph[path], costs, once)
                _judge_limits(cost, path)


def _judge_limits(cost: _Cost, path: Path) -> None:
    if cost.chain > MAX_APPLICATIONS:
        words = f"one value may be checked more than {MAX_APPLICATIONS} times"
    elif cost.expanded > MAX_EXPANDED:
        words = f"more than {MAX_EXPANDED} schemas once its references are written out"
    else:
        return
    raise SchemaRefused(SchemaFault.TOO_COMPLEX, pointer_to(path), words)


def _cost(edges: list[_Edge], costs: dict[Path, _Cost], once: _Cost) -> _Cost:
    here = expanded = 1
    below: Counter[str] = Counter()
    for edge in edges:
        cost = costs.get(edge.target, once)
        expanded += cost.expanded
        if edge.member is None:
            here += cost.here
            below.update(cost.below)
        else:
            below[edge.member] += cost.chain
    return _Cost(here, expanded, below)
