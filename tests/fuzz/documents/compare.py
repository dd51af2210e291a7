"""Gives both halves the same jobs and keeps count of what they agreed on."""

# Answers are any JSON at all: their types would say nothing.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

import json
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from tests.fuzz.documents.halves import Answer, Job, Node, python_answer
from tests.fuzz.documents.jobs import Jobs

REPORT: Final = Path("build/fuzz.json")

KEPT: Final = 20
"""Disagreements that are kept with their job; the rest is only counted by the run's end."""


@dataclass(kw_only=True)
class Compared:
    """What a run compared. Expressions are the values of derived values, one for each state they were worked out in."""

    seed: int
    seconds: float = 0
    documents: int = 0
    legal: int = 0
    expressions: int = 0
    states: int = 0
    frame_sequences: int = 0
    frames: int = 0
    codes: Counter[str] = field(default_factory=Counter[str])
    disagreements: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def count(self, job: Job, answer: Answer) -> None:
        """One job on which both agreed."""
        self.documents += 1
        if isinstance(answer, dict) and "code" in answer:
            self.codes[answer["code"]] += 1
            return
        self.legal += 1
        if job["do"] == "evaluate":
            self.states += len(answer)
            self.expressions += len(answer[0]) + sum(len(one[1]) for one in answer[1:] if isinstance(one, list))
            self.codes.update(one["code"] for one in answer[1:] if isinstance(one, dict) and "code" in one)
        if job["do"] == "stream":
            self.frame_sequences += 1
            self.frames += len(answer)
            self.codes.update(one[0] if isinstance(one[0], str) else one[0]["code"] for one in answer)

    def summary(self) -> str:
        """In words, with what they disagree on."""
        head = (
            f"{self.documents} documents ({self.legal} legal), {self.expressions} expressions, {self.states} states, "
            f"{self.frame_sequences} frame sequences ({self.frames} frames) compared in {self.seconds:.0f} s, "
            f"{len(self.codes)} outcomes seen, {len(self.disagreements)} disagreements (seed {self.seed})"
        )
        return "\n".join([head, *(json.dumps(one, ensure_ascii=False)[:4000] for one in self.disagreements)])

    def write(self, path: Path) -> None:
        """The whole of it as JSON."""
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(vars(self), indent=1, sort_keys=True) + "\n")


def compare(*, seed: int, seconds: float) -> Compared:
    """Compare until the time is up or enough disagreements are found."""
    compared = Compared(seed=seed)
    started = time.monotonic()
    with Node() as node:
        for job in Jobs(seed):
            # Node works on it while we do.
            line = orjson.dumps(job)
            node.send(line)
            # Both take what the line says, and both answers are JSON: the same types on both sides.
            ours = orjson.loads(orjson.dumps(python_answer(orjson.loads(line))))
            theirs = node.answer()
            if ours == theirs and "crash" not in ours:
                compared.count(job, ours)
            else:
                compared.disagreements.append({"job": job, "python": ours, "typescript": theirs})
            compared.seconds = time.monotonic() - started
            if compared.seconds >= seconds or len(compared.disagreements) >= KEPT or "crash" in theirs:
                break
    return compared
