"""W3C Trace Context: who a request says it belongs to. Callers may send any text; what is not exact is ignored."""

import re
from dataclasses import dataclass
from typing import Final

TRACESTATE_MAX: Final = 512
"""Characters of a `tracestate` that is passed on; a longer one is left out whole."""

TRACESTATE_MEMBERS: Final = 32

KNOWN_FLAGS: Final = 0x03
"""`sampled`, and `random`: whoever passes a trace on must say as it was told whether the id was made at random."""

_TRACEPARENT: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.DOTALL)
_SIMPLE_KEY: Final = r"[a-z][a-z0-9_\-*/]{0,255}"
_TENANT_KEY: Final = r"[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13}"
_VALUE: Final = r"[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]"
_MEMBER: Final = re.compile(rf"(?P<key>{_SIMPLE_KEY}|{_TENANT_KEY})={_VALUE}")

_SAMPLED: Final = 0x01


@dataclass(frozen=True, slots=True)
class TraceParent:
    """One position in one trace. `trace_id` and `span_id` are lower-case hex and never all zero."""

    trace_id: str
    span_id: str
    flags: int = 0

    @property
    def text(self) -> str:
        """The header value, in version 00."""
        return f"00-{self.trace_id}-{self.span_id}-{self.flags:02x}"


def read_traceparent(given: object) -> TraceParent | None:
    """The position `given` names; None when it is not a `traceparent` of any version.

    A later version is read by its first four fields, as the recommendation wants; of its flags only `sampled` has
    a meaning that is known here.
    """
    found = _TRACEPARENT.fullmatch(given) if isinstance(given, str) else None
    if found is None:
        return None
    version, trace_id, span_id, flags, rest = found.groups()
    if version == "ff" or not trace_id.strip("0") or not span_id.strip("0"):
        return None
    if version == "00":
        return None if rest is not None else TraceParent(trace_id, span_id, int(flags, 16) & KNOWN_FLAGS)
    return TraceParent(trace_id, span_id, int(flags, 16) & _SAMPLED)


def read_tracestate(given: object) -> str | None:
    """`given` without its empty members and optional spaces; None when it breaks the grammar or is too long."""
    if not isinstance(given, str) or len(given) > TRACESTATE_MAX:
        return None
    members = [member for part in given.split(",") if (member := part.strip(" \t"))]
    keys: set[str] = set()
    for member in members:
        found = _MEMBER.fullmatch(member)
        if found is None or found["key"] in keys:
            return None
        keys.add(found["key"])
    return ",".join(members) if 0 < len(members) <= TRACESTATE_MEMBERS else None


def trace_id_of(traceparent: str | None) -> str | None:
    """The trace a stored `traceparent` belongs to."""
    return None if traceparent is None else traceparent[3:35]
