"""The declaration of one capability and its fingerprint. Knows nothing of handlers, pages or policy rules."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

import rfc8785

from capabilities.contract.runtimes import JsonObject, RuntimeBinding, wire_of
from policy.vocabulary import Confirm, Effect, Risk

__all__ = [
    "EXECUTION_MAX_MS",
    "EXECUTION_MS",
    "CallModel",
    "Descriptor",
    "HandlerKind",
    "HostFeature",
    "Idempotency",
    "JsonObject",
    "Readiness",
    "Visibility",
]

EXECUTION_MS: Final = 30_000
"""How long a dispatched call may take unless its declaration says otherwise (design §17)."""

EXECUTION_MAX_MS: Final = 600_000


class Readiness(StrEnum):
    """What must hold before the handler runs (seed 002 §4.1)."""

    APP_READY = "app_ready"
    FOREGROUND_REQUIRED = "foreground_required"
    ACTIVATION_NOT_REQUIRED = "activation_not_required"


class CallModel(StrEnum):
    """What a call is to its caller (rules F5)."""

    QUERY = "query"
    COMMAND = "command"
    INTERACTIVE = "interactive"
    OPERATION = "operation"


class HandlerKind(StrEnum):
    """Who runs it: the page, a framed bundle, a Python worker, or the runtime itself (rules F6)."""

    PAGE = "page"
    MINIAPP_SDK = "miniapp_sdk"
    PYTHON = "python"
    RUNTIME = "runtime"


class Idempotency(StrEnum):
    """What the same arguments under another `call_id` are. One `call_id` is one piece of work in any case."""

    CALL_ID = "call_id"
    """New work."""

    ARGUMENTS = "arguments"
    """Work that changes nothing more than the first time."""


class Visibility(StrEnum):
    """Who is told of a mini app's tool, and may call it (rules F5)."""

    AGENTS = "agents"
    """Agents within their scope, and the app's own frames."""

    APP = "app"
    """The app's own frames only, as what a person does there; no agent ever hears of it."""


class HostFeature(StrEnum):
    """What a tool may need of the page it works with (rules F5): a place for mini apps, or a host capability."""

    WORKSPACE = "workspace"
    OPEN_URL = "app.open_url"
    CLIPBOARD = "clipboard.write"
    ARTIFACT = "artifact.save"
    NOTIFICATION = "notification.show"


@dataclass(frozen=True, kw_only=True)
class Descriptor:
    """One declared capability. Two descriptors with one fingerprint are the same promise to a caller.

    Attributes:
        bundle_hash: digest of the package of a mini app; it covers every file and the whole manifest.
        app_scope: the mini app's id; None for what a page or the gateway itself declares.
        runtime: what carries it, for handler kind `runtime` of a mini app; None for built-ins of the gateway.
        not_started: the business answer when the app could not be started (rules F3), fitting `output_schema`.
        permissions: hosts and secrets its handler may use: `http:host`, `http:host:port`, `secret:name`.
        visibility: who is told of it.
        requires: what the host must offer now; without it the capability is not there.
    """

    id: str
    title: str = ""
    description: str = ""
    input_schema: JsonObject
    output_schema: JsonObject | None = None
    effect: Effect = Effect.WRITE
    risk: Risk = Risk.DISPLAY_ONLY
    confirm: Confirm = Confirm.POLICY
    readiness: Readiness = Readiness.ACTIVATION_NOT_REQUIRED
    call_model: CallModel = CallModel.COMMAND
    handler: HandlerKind = HandlerKind.PAGE
    contract_version: str = "1"
    bundle_hash: str | None = None
    timeout_ms: int = EXECUTION_MS
    app_scope: str | None = None
    runtime: RuntimeBinding | None = None
    not_started: JsonObject | None = None
    permissions: tuple[str, ...] = ()
    idempotency: Idempotency = Idempotency.CALL_ID
    visibility: Visibility = Visibility.AGENTS
    requires: tuple[HostFeature, ...] = ()

    @cached_property
    def fingerprint(self) -> str:
        """Lower-case hex SHA-256 over the RFC 8785 text of the declaration (design §2). Not the page's code."""
        declaration = self._declaration() if self.app_scope is None else self._declaration() | self._of_app()
        return hashlib.sha256(rfc8785.dumps(declaration)).hexdigest()

    def _declaration(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "description": self.description,
            "input_schema": dict(self.input_schema),
            "output_schema": None if self.output_schema is None else dict(self.output_schema),
            "effect": self.effect.value,
            "risk": self.risk.value,
            "confirm": self.confirm.value,
            "readiness": self.readiness.value,
            "call_model": self.call_model.value,
            "handler": self.handler.value,
            "contract_version": self.contract_version,
            "bundle_hash": self.bundle_hash,
        }

    def _of_app(self) -> dict[str, Any]:
        # What a page declares has none of these: its fingerprint is the one of design §2, with nothing added.
        return {
            "app_scope": self.app_scope,
            "runtime": None if self.runtime is None else wire_of(self.runtime),
            "not_started": None if self.not_started is None else dict(self.not_started),
            "permissions": list(self.permissions),
            "idempotency": self.idempotency.value,
            "visibility": self.visibility.value,
            "requires": [feature.value for feature in self.requires],
        }
