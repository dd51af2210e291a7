"""Audit records and checkpoints on their way out: JSON lines, CloudEvents 1.0, and the text of a checkpoint."""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from gateway.domain.audit import Checkpoint, Stream

_SUBJECTS: Final = ("ref", "session", "key", "page", "site")
"""What an event is about: the first of these facts it has."""

_ORIGIN: Final = "ostiary/audit/"
_BLOCK: Final = re.compile(
    r"ostiary/audit/(?P<stream>[a-z_]+)\n(?P<seq>[1-9][0-9]{0,17})\n(?P<hash>[A-Za-z0-9+/=]{44})\nat (?P<at>[0-9]{1,17})"
)

Json = Mapping[str, Any]


def cloud_event_of(record: Json, source: str) -> dict[str, Any]:
    """A record (stream, seq, event, at, facts, hash) as a structured CloudEvent; (source, id) names it for ever."""
    facts: Json = record["facts"]
    event: dict[str, Any] = {
        "specversion": "1.0",
        "id": f"{record['stream']}:{record['seq']}",
        "source": source,
        "type": f"dev.ostiary.{record['event']}",
        "time": datetime.fromtimestamp(record["at"] / 1_000, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z"),
        "datacontenttype": "application/json",
        "data": dict(record),
    }
    subject = next((facts[name] for name in _SUBJECTS if isinstance(facts.get(name), str)), None)
    if subject is not None:
        event["subject"] = subject
    if isinstance(facts.get("traceparent"), str):
        event["traceparent"] = facts["traceparent"]
    return event


def text_of_checkpoints(checkpoints: Sequence[Checkpoint]) -> str:
    """One block a stream: its origin, how many records it has, the chain value in base64, and when (ms).

    The first three lines are those of a C2SP checkpoint; the value is the head of a hash chain, no tree's root.
    """
    blocks = [
        f"{_ORIGIN}{c.stream.value}\n{c.seq}\n{base64.b64encode(c.hash).decode()}\nat {c.at}\n" for c in checkpoints
    ]
    return "\n".join(blocks)


def checkpoints_of_text(text: str) -> list[Checkpoint]:
    """What `text_of_checkpoints` wrote.

    Raises:
        ValueError: it is not such a text.
    """
    return [_checkpoint_of(block) for block in text.strip().split("\n\n")]


def _checkpoint_of(block: str) -> Checkpoint:
    found = _BLOCK.fullmatch(block.strip())
    if found is None:
        raise ValueError("a checkpoint is four lines, as `ostiary audit checkpoint` prints them")
    try:
        value = base64.b64decode(found["hash"], validate=True)
        stream = Stream(found["stream"])
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"`{found['stream']}` is no stream with a chain value of 32 bytes") from error
    if len(value) != 32:
        raise ValueError("a chain value has 32 bytes")
    return Checkpoint(stream=stream, seq=int(found["seq"]), hash=value, at=int(found["at"]))
