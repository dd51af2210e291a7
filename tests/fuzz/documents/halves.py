"""The two halves that must agree: Python in this process, TypeScript as built in a Node process, one job at a time.

A job is a JSON object; an answer says everything about the outcome that both must have in common. Numbers are spelled
as the hex digits of the double, so that equal means equal to the bit.
"""

import base64
import shutil
import struct
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import orjson

from surface_host.documents import (
    Document,
    Evaluation,
    Failure,
    Frame,
    FrameKind,
    Generation,
    Refused,
    State,
    action_arguments,
    initial_state,
    judge,
    judge_value,
    map_result,
    open_generation,
    restore_state,
    run_action,
    take,
    update_state,
)

SCRIPT: Final = Path("surface_host/scripts/judge-stdin.mjs")

PATIENCE: Final = 60
"""Seconds for one answer, on however busy a machine."""

Job = dict[str, Any]
Answer = Any


class Node:
    """The TypeScript half; a context manager. It answers in the order it is asked."""

    def __enter__(self) -> "Node":
        """Start it."""
        node = shutil.which("node")
        assert node, "the browser half needs Node"
        self._process = subprocess.Popen([node, str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """End it: it leaves when its input does."""
        with suppress(BrokenPipeError):
            self._process.communicate()

    def send(self, line: bytes) -> None:
        """Hand one job over, as JSON; the work goes on beside ours."""
        assert self._process.stdin
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def answer(self) -> Answer:
        """The answer to the oldest job that has none; one that takes too long is a crash, and ends the process."""
        assert self._process.stdout
        watch = threading.Timer(PATIENCE, self._process.kill)
        watch.start()
        line = self._process.stdout.readline()
        watch.cancel()
        return (
            orjson.loads(line) if line else {"crash": f"the browser half has ended, or had no answer in {PATIENCE} s"}
        )


def python_answer(job: Job) -> Answer:
    """What the Python half says; whatever it raises but a refusal is a crash, and the other half has none."""
    try:
        return _JOBS[job["do"]](job)
    except Refused as refusal:
        return _fault(refusal)
    except Exception as error:  # noqa: BLE001 - a crash is a finding, not the end
        return {"crash": f"{type(error).__name__}: {error}"}


def _fault(found: Refused | Failure) -> Answer:
    return {"code": found.code.value, "pointer": found.pointer}


def _told(value: str | float | Failure) -> Answer:
    if isinstance(value, Failure):
        return _fault(value)
    if isinstance(value, bool):
        return value
    return f"s:{value}" if isinstance(value, str) else f"n:{struct.pack('>d', value).hex()}"


def _all(values: Mapping[str, Any]) -> Answer:
    return {name: _told(value) for name, value in values.items()}


def _text(job: Job) -> bytes:
    return base64.b64decode(job["raw"])


def _judge(job: Job) -> Answer:
    return {"sha256": judge(_text(job), kind=job.get("kind")).sha256}


def _value(job: Job) -> Answer:
    return {"sha256": judge_value(orjson.loads(_text(job)), kind=job.get("kind")).sha256}


_STEPS: Final[Mapping[str, Callable[[Document, State, Job], State]]] = {
    "update": lambda document, state, step: update_state(document, state, step["changes"]),
    "restore": lambda document, _, step: restore_state(document, step["saved"]),
    "run": lambda document, state, step: run_action(document, state, step["action"]),
    "map": lambda document, state, step: map_result(document, state, step["action"], step["result"]),
}


def _evaluate(job: Job) -> Answer:
    document = judge(_text(job))
    state = initial_state(document)
    answers: list[Answer] = [_derived(document, state)]
    for step in job["steps"]:
        try:
            if step["op"] == "args":
                answers.append(_all(action_arguments(document, step["action"], step["values"])))
                continue
            state = _STEPS[step["op"]](document, state, step)
        except Refused as refusal:
            answers.append(_fault(refusal))
        else:
            answers.append([_all(state), _derived(document, state)])
    return answers


def _derived(document: Document, state: State) -> Answer:
    return _all(Evaluation(document.declarations, state).derived())


def _stream(job: Job) -> Answer:
    generation = opened(job)
    answers: list[Answer] = []
    for frame in job["frames"]:
        try:
            step = take(generation, frame_of(frame))
        except Refused as refusal:
            outcome: Answer = _fault(refusal)
        else:
            outcome, generation = step.outcome, step.generation
        g = generation
        standing = [g.seq, g.revision, g.status.value, g.frames, g.size, g.document.sha256, g.may_invoke]
        answers.append([outcome, *standing])
    return answers


def opened(job: Job) -> Generation:
    """The generation a stream begins with."""
    return open_generation("g", judge(_text(job)), epoch=1)


def frame_of(frame: Job) -> Frame:
    """A frame of a job as our half takes it."""
    return Frame(
        generation=frame["generation"],
        epoch=frame["epoch"],
        seq=frame["seq"],
        base_revision=frame["baseRevision"],
        kind=FrameKind(frame["kind"]),
        body=frame.get("body"),
    )


_JOBS: Final[Mapping[str, Callable[[Job], Answer]]] = {
    "judge": _judge,
    "value": _value,
    "evaluate": _evaluate,
    "stream": _stream,
}
