"""Answers about installed mini apps."""

from typing import Annotated

from pydantic import Field

from gateway.domain.mini_apps import AppState
from gateway.domain.workers import WorkerState
from gateway.protocol.admin.base import Answer, Instant

Digest = Annotated[str, Field(description="SHA-256 of the package's manifest, lower-case hex.")]
Signer = Annotated[str | None, Field(description="The trusted key that signed it; null where none did.")]


class AppVersion(Answer):
    """A version that is kept, to go back to."""

    version: str
    digest: Digest
    signed_by: Signer
    installed_at: Instant


class App(Answer):
    """An installed mini app in its current version."""

    app: str
    name: str
    description: str
    version: str
    state: AppState
    digest: Digest
    signed_by: Signer
    tools: Annotated[list[str], Field(description="Capability ids it declares.")]
    permissions: Annotated[list[str], Field(description="What its tools ask for.")]
    granted: Annotated[list[str], Field(description="What it was granted; a tool that asks for more is not offered.")]
    fault: Annotated[str | None, Field(description="Why it cannot run; null where it can.")]
    worker: Annotated[WorkerState | None, Field(description="Where its process stands; null where it needs none.")]
    versions: Annotated[
        list[AppVersion], Field(description="The kept ones, newest first; the current is one of them.")
    ]
    installed_at: Instant
    changed_at: Instant


class Apps(Answer):
    """Every installed mini app, by id."""

    items: list[App]
