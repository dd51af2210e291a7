"""A capability as an MCP tool: name, portable schemas, hints; and which capability a tool name means."""

from dataclasses import dataclass
from typing import Any, Final

from capabilities.contract import Descriptor, Idempotency
from capabilities.portable import portable_schema, tool_name
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.inventory import Baseline, Listed, Snapshot
from gateway.transports.agents_mcp.static_tools import ANSWER
from policy.vocabulary import Effect

PREFIX: Final = "dev.ostiary/"
CAPABILITY: Final = PREFIX + "capability"

_HINTS: Final[dict[Effect, dict[str, bool]]] = {
    Effect.READ: {"readOnlyHint": True},
    Effect.WRITE: {"readOnlyHint": False, "destructiveHint": False},
    Effect.DESTRUCTIVE: {"readOnlyHint": False, "destructiveHint": True},
}

_KEPT: Final = 4_096


@dataclass(frozen=True, slots=True)
class Target:
    """What a tool name means: a capability, and the page selector that says on which site."""

    capability: str
    selector: str | None


def name_of(session: AgentSession, capability: str, site: str | None) -> str:
    """The tool name of a capability; the site is part of it where the session names several."""
    return tool_name(capability, site if len(session.sites) > 1 else None)


class Names:
    """Tool names by session. Whatever a session was ever shown keeps its name: gone is not unknown (design §4)."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, dict[str, Target]]] = {}

    def find(self, session: AgentSession, snapshot: Snapshot, baseline: Baseline, name: str) -> Target | None:
        """The capability behind `name`, listed now or shown before."""
        state = (baseline.revision, snapshot.hash, session.sites)
        known = self._known.get(session.id)
        if known is None or known[0] != state:
            if len(self._known) >= _KEPT:
                self._known.pop(next(iter(self._known)))
            known = self._known[session.id] = (state, _targets(session, snapshot, baseline))
        return known[1].get(name)

    def forget(self, session: str) -> None:
        """A session ended."""
        self._known.pop(session, None)


def _targets(session: AgentSession, snapshot: Snapshot, baseline: Baseline) -> dict[str, Target]:
    targets: dict[str, Target] = {}
    for key in (*baseline.shown, *snapshot.entries):
        site, _, capability = key.rpartition("/")
        selector = f"site:{site}" if site and len(session.sites) > 1 else None
        targets[name_of(session, capability, site or None)] = Target(capability, selector)
    return targets


class ToolShapes:
    """The wire form of listed capabilities; the schemas of one declaration are published once."""

    def __init__(self) -> None:
        self._schemas: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}

    def of(self, session: AgentSession, entry: Listed) -> dict[str, Any]:
        """One tool. `description` may be empty, an empty title is left out."""
        descriptor = entry.descriptor
        given, answered = self._published(descriptor)
        tool: dict[str, Any] = {"name": name_of(session, descriptor.id, entry.site)}
        if descriptor.title:
            tool["title"] = descriptor.title
        tool |= {
            "description": descriptor.description,
            "inputSchema": given,
            "outputSchema": answered,
            "annotations": _hints(entry),
            "_meta": {
                CAPABILITY: descriptor.id,
                PREFIX + "effect": entry.effective.effect.value,
                PREFIX + "risk": entry.decision.tier.value,
                PREFIX + "verdict": entry.decision.verdict.value,
            },
        }
        if entry.site is not None:
            tool["_meta"][PREFIX + "site"] = entry.site
        return tool

    def _published(self, descriptor: Descriptor) -> tuple[dict[str, Any], dict[str, Any]]:
        known = self._schemas.get(descriptor.fingerprint)
        if known is None:
            if len(self._schemas) >= _KEPT:
                self._schemas.pop(next(iter(self._schemas)))
            known = (portable_schema(descriptor.input_schema), _answer_schema(descriptor))
            self._schemas[descriptor.fingerprint] = known
        return known


def _hints(entry: Listed) -> dict[str, bool]:
    effect = entry.effective.effect
    hints = _HINTS[effect]
    if effect is Effect.READ or entry.descriptor.idempotency is not Idempotency.ARGUMENTS:
        return hints
    return {**hints, "idempotentHint": True}


def _answer_schema(descriptor: Descriptor) -> dict[str, Any]:
    result: dict[str, Any] = {}
    declared = descriptor.output_schema
    # The published root is always an object, so only an object may be promised.
    if declared is not None and declared.get("type") == "object":
        result = portable_schema(declared)
    return {**ANSWER, "properties": {**ANSWER["properties"], "result": result}}
