"""`client.inventory` and `app.list`: what one session may use now, and nothing else of the world (rules E2).

No package, source, path, page, person or sign-in is in it: every field is named here.
"""

from typing import Any, Final, TypeVar

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.inventory import Listed
from gateway.protocol.lineup.client import (
    Application,
    AppList,
    Capability,
    ClientInventory,
    Component,
    ComponentId,
    ListedCapability,
    OfferedSurface,
    ToolDescriptor,
)
from gateway.runtime.inventories import Served
from gateway.transports.lineup.wire import dumped, message

T = TypeVar("T", Capability, ListedCapability, ToolDescriptor)

COMPONENTS: Final[tuple[ComponentId, ...]] = ("choice", "confirm", "input")
"""The standard components; each is there where the capability under `ui.` and its name is."""


def inventory_messages(session: AgentSession, served: Served) -> list[dict[str, Any]]:
    """The inventory and its projection to capabilities, as they were just served."""
    revision = f"catalog-{served.revision}"
    whole = message(session, f"{revision}-inventory", "client.inventory", dumped(_inventory(served, revision)))
    return [whole, message(session, f"{revision}-list", "app.list", dumped(_list(served)))]


def _inventory(served: Served, revision: str) -> ClientInventory:
    entries = served.snapshot.entries.values()
    ids = {entry.descriptor.id for entry in entries}
    return ClientInventory(
        revision=revision,
        standard_components=[Component(id=name, version="1") for name in COMPONENTS if f"ui.{name}" in ids],
        applications=[
            Application(
                id=app.id,
                version=app.version,
                surfaces=[OfferedSurface(id=surface.id, events=list(surface.events)) for surface in app.surfaces],
            )
            for app in served.snapshot.apps
        ],
        capabilities=_once([Capability(**_named(entry)) for entry in entries if entry.descriptor.app_scope is None]),
        tools=_once([_tool(entry) for entry in entries if entry.descriptor.app_scope is not None]),
    )


def _list(served: Served) -> AppList:
    entries = [e for e in served.snapshot.entries.values() if e.descriptor.app_scope is None]
    return AppList(
        capabilities=_once(
            [ListedCapability(**_named(e), input_schema=dict(e.descriptor.input_schema)) for e in entries]
        )
    )


def _named(entry: Listed) -> dict[str, Any]:
    declared = entry.descriptor
    return {"name": declared.id, "version": declared.contract_version, "risk": entry.decision.tier}


def _tool(entry: Listed) -> ToolDescriptor:
    declared = entry.descriptor
    assert declared.app_scope is not None, "the caller looked"
    return ToolDescriptor(
        app_scope=declared.app_scope,
        method=declared.id,
        contract_version=declared.contract_version,
        title=declared.title,
        description=declared.description,
        input_schema=dict(declared.input_schema),
        output_schema=None if declared.output_schema is None else dict(declared.output_schema),
        call_model=declared.call_model.value,
        idempotency=declared.idempotency.value,
        requires=[feature.value for feature in declared.requires],
        timeout_ms=declared.timeout_ms,
        readiness=declared.readiness.value,
        permissions=list(declared.permissions),
        effect=entry.effective.effect,
        risk=entry.decision.tier,
        confirm=entry.effective.confirm.value,
    )


def _once(items: list[T]) -> list[T]:
    """Without repetitions: several sites may offer the very same under one name."""
    known: dict[str, list[T]] = {}
    for item in items:
        same = known.setdefault(item.method if isinstance(item, ToolDescriptor) else item.name, [])
        if item not in same:
            same.append(item)
    return [item for same in known.values() for item in same]
