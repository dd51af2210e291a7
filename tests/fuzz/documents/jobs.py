"""The jobs both halves get: texts to judge, states to change, frames to take."""

# Documents are any JSON at all: their types would say nothing.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownMemberType=false

import base64
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from random import Random
from typing import Any, Final

import orjson

from surface_host.documents import Generation, Refused, judge, take
from tests.fuzz.documents.edges import budget_edge, edge_text
from tests.fuzz.documents.halves import Job, frame_of, opened
from tests.fuzz.documents.made import Maker, written
from tests.fuzz.documents.spoiled import Spoiler, places, spoiled_text

Json = Any


class Jobs:
    """An endless supply; the same seed supplies the same."""

    def __init__(self, seed: int) -> None:
        """Make it."""
        self._chance: Final = Random(seed)
        self._maker: Final = Maker(self._chance)
        self._spoiler: Final = Spoiler(self._chance, self._maker)

    def __iter__(self) -> Iterator[Job]:
        """Each kind of job in turn, the frequent ones more often."""
        makes: tuple[tuple[int, Callable[[], Job]], ...] = (
            (20, self._spoiled_tree),
            (10, self._spoiled_text),
            (1, self._edge),
            (1, self._budget),
            (6, self._legal),
            (6, self._value),
            (12, self._evaluate),
            (6, self._stream),
        )
        kinds = [make for _, make in makes]
        weights = [weight for weight, _ in makes]
        while True:
            yield self._chance.choices(kinds, weights)[0]()

    # ---- judging -------------------------------------------------------------------------------------------------

    def _document(self) -> Json:
        return self._maker.document(self._chance.choice((1, 4, 12, 30)))

    def _kind(self) -> str | None:
        return self._chance.choice((None, None, None, "structured", "intelligent"))

    def _judged(self, text: bytes, do: str = "judge") -> Job:
        return {"do": do, "raw": base64.b64encode(text).decode(), "kind": self._kind()}

    def _legal(self) -> Job:
        return self._judged(written(self._chance, self._document()))

    def _spoiled_tree(self) -> Job:
        return self._judged(written(self._chance, self._spoiler.spoil(self._document())))

    def _spoiled_text(self) -> Job:
        return self._judged(spoiled_text(self._chance, written(self._chance, self._document())))

    def _edge(self) -> Job:
        return self._judged(edge_text(self._chance))

    def _budget(self) -> Job:
        return self._judged(written(self._chance, budget_edge(self._chance)))

    def _value(self) -> Job:
        """A JavaScript object puts such keys first, so both halves would see other orders."""
        document = self._spoiler.spoil(self._document())
        for path in places(document):
            if path and isinstance(path[-1], str) and path[-1].isdecimal():
                return self._legal()
        return self._judged(written(self._chance, document), "value")

    # ---- using ---------------------------------------------------------------------------------------------------

    def _usable(self) -> Json:
        """A document that is likely to be legal: what only has no value on its defaults is made anew."""
        document = self._document()
        for _ in range(8):
            try:
                judge(written(self._chance, document))
                break
            except Refused:
                document = self._document()
        return document

    def _evaluate(self) -> Job:
        document = self._usable() if self._chance.random() < 0.95 else self._wide()
        steps = [self._step(document) for _ in range(self._chance.randrange(8))]
        return self._judged(written(self._chance, document), "evaluate") | {"steps": steps}

    def _wide(self) -> Json:
        """So many texts in the state that it can be too large, or what is sent of it."""
        names = [f"f{n}" for n in range(self._chance.randint(3, 64))]
        args = {name: {"ref": name} for name in names[:32]}
        return {
            "version": "1.1",
            "title": "T",
            "state": {name: {"type": "string", "default": ""} for name in names},
            "derived": {"all": {"op": "concat", "args": [{"ref": name} for name in names[:16]]}},
            "actions": {"send": {"type": "invoke", "capability": "a", "args": args, "resultMap": {"f0": "r"}}},
            "root": {"id": "r", "type": "Divider", "props": {}},
        }

    def _step(self, document: Json) -> Job:
        chance = self._chance
        state: Json = document.get("state", {})
        actions = [*document.get("actions", {})] * 4 + [chance.choice(("nope", "toString"))]
        makes: Mapping[str, Callable[[], Job]] = {
            "update": lambda: {"changes": self._values(state)},
            "restore": lambda: {"saved": chance.choice((self._values(state), self._spoiler.odd()))},
            "run": lambda: {"action": chance.choice(actions)},
            "args": lambda: {"action": chance.choice(actions), "values": self._values(state)},
            "map": lambda: {"action": chance.choice(actions), "result": self._result(document)},
        }
        op = chance.choice(("update", "update", "restore", "run", "run", "args", "map"))
        return {"op": op} | makes[op]()

    def _values(self, state: Json) -> Json:
        chance = self._chance
        names = chance.sample([*state], chance.randint(0, len(state)))
        large = len(state) > 6 and chance.random() < 0.7
        values = {name: "界" * 4096 if large else self._written_to(state[name]) for name in names}
        if chance.random() < 0.1:
            values[chance.choice(("nope", "a/b", "constructor"))] = 1
        return values

    def _written_to(self, field: Json) -> Json:
        chance = self._chance
        if chance.random() < 0.1:
            return self._spoiler.odd()
        if field["type"] == "string" and chance.random() < 0.1:
            return chance.choice(("x", "界")) * chance.choice((4093, 4096, 4097))
        if "step" in field and chance.random() < 0.8:
            off = chance.choice((0, 0, 1e-9, 1e-10, 1e-11, -1e-9, 0.5))
            return field["min"] + (chance.randint(-2, 42) + off) * field["step"]
        return self._maker.scalar(field["type"])

    def _result(self, document: Json) -> Json:
        """What an `invoke` may have brought: the members some `resultMap` asks for, and more."""
        state: Json = document.get("state", {})
        maps = [action.get("resultMap", {}) for action in document.get("actions", {}).values()]
        result = {member: self._written_to(state[field]) for asked in maps for field, member in asked.items()}
        if result and self._chance.random() < 0.2:
            del result[self._chance.choice([*result])]
        return result

    # ---- streaming -----------------------------------------------------------------------------------------------

    def _stream(self) -> Job:
        """Mostly frames that continue each other; the rest are lost, repeated, changed or late."""
        chance = self._chance
        document = self._usable()
        document["version"] = chance.choice(("1.1",) * 9 + ("1.0",))
        frames: list[Job] = []
        job: Job = self._judged(written(chance, document), "stream") | {"kind": None, "frames": frames}
        try:
            generation = opened(job)
        except Refused:
            return job
        for _ in range(chance.randint(1, 14)):
            frame = self._again(chance.choice(frames)) if frames and chance.random() < 0.2 else self._next(generation)
            frames.append(frame)
            # Our own half says where the stream stands, so that the next frame goes on from there.
            with suppress(Refused):
                generation = take(generation, frame_of(orjson.loads(orjson.dumps(frame)))).generation
        return job

    def _next(self, generation: Generation) -> Job:
        chance = self._chance
        kind = chance.choices(("patch", "checkpoint", "complete", "cancel"), (12, 4, 1, 1))[0]
        return {
            "generation": "g",
            "epoch": 1,
            "seq": generation.seq + chance.choice((1,) * 9 + (2,)),
            "baseRevision": generation.revision,
            "kind": kind,
            "body": self._body(kind, generation.document.thawed()),
        }

    def _again(self, frame: Job) -> Job:
        chance = self._chance
        copy = deepcopy(frame)
        if chance.random() < 0.6:
            name, values = chance.choice(
                (
                    ("generation", ("h",)),
                    ("epoch", (0, 2)),
                    ("seq", (0, 1, 2, 3, 9)),
                    ("baseRevision", (0, 1, 2, 3, 9)),
                    ("kind", ("patch", "checkpoint", "complete", "cancel")),
                    ("body", (None, [], {}, [{"op": "remove", "id": "n1"}])),
                )
            )
            copy[name] = chance.choice(values)
        return copy

    def _body(self, kind: str, present: Json) -> Json:
        chance = self._chance
        if kind == "patch":
            body = [self._operation(present) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
            return self._spoiler.spoil(body) if chance.random() < 0.15 and self._keeps_order(body) else body
        if kind == "checkpoint":
            return self._checkpoint(present)
        return None

    def _checkpoint(self, present: Json) -> Json:
        """The document as it is, with another title, or with something changed that may be fixed."""
        chance = self._chance
        node = chance.choice(_nodes(present["root"]))
        match chance.randrange(8):
            case 0 | 1:
                present["title"] = self._maker.text(1, 256)
            case 2:
                present["root"]["id"] = "other"
            case 3 if node["type"] in ("Text", "Badge", "Alert"):
                node["type"] = chance.choice(("Text", "Badge", "Alert"))
            case 4 if node["type"] == "Select":
                node["props"]["options"] = node["props"]["options"][:-1]
            case 5:
                part = chance.choice(("state", "derived"))
                present[part] = present.get(part, {}) | {
                    "other": {"type": "boolean", "default": True} if part == "state" else 1
                }
            case 6 if self._keeps_order(present):
                return self._spoiler.spoil(present)
            case _:
                pass
        return present

    def _keeps_order(self, body: Json) -> bool:
        return not any(isinstance(step, str) and step.isdecimal() for path in places(body) for step in path)

    def _operation(self, present: Json) -> Json:
        """An operation on a node that is, or was, there."""
        chance = self._chance
        node = chance.choice(_nodes(present["root"]))
        match chance.randrange(4):
            case 0 | 1:
                added = self._maker.node(chance.choice(("Text", "Stack", "Result", "Badge", "Table")), 3)
                added["id"] = f"m{chance.randrange(10**6)}"
                at_most = len(node.get("children", []))
                return {
                    "op": "add",
                    "parent": node["id"],
                    "index": chance.randint(0, at_most + (chance.random() < 0.1)),
                    "node": added,
                }
            case 2:
                props = (
                    self._maker.props(node["type"])
                    if node["type"] in ("Text", "Badge", "Result", "Stack")
                    else node["props"]
                )
                visible = {"visible": self._maker.expression("boolean", 2)} if chance.random() < 0.3 else {}
                return {"op": "update", "id": node["id"], "props": props} | visible
            case _:
                return {"op": "remove", "id": node["id"]}


def _nodes(node: Json) -> list[Json]:
    return [node, *(one for child in node.get("children", []) for one in _nodes(child))]
