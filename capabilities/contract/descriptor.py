"""The declaration of one capability and its fingerprint. Knows nothing of handlers, pages or policy rules."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

import rfc8785

from policy.vocabulary import Confirm, Effect, Risk

JsonObject = Mapping[str, Any]

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


@dataclass(frozen=True, kw_only=True)
class Descriptor:
    """One declared capability. Two descriptors with one fingerprint are the same promise to a caller."""

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

    @cached_property
    def fingerprint(self) -> str:
        """Lower-case hex SHA-256 over the RFC 8785 text of the declaration (design §2). Not the page's code."""
        return hashlib.sha256(rfc8785.dumps(self._declaration())).hexdigest()

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
