"""A page session: one tab's standing with the gateway. The live document is kept in memory by the runtime."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSession:
    """One row. `epoch` grows by one with each new document; `pinned_at` says "agents work here".

    The ticket authenticates; the resume secret only continues (design §2). `resume_before` is of the secret
    this document came with last: it may never have heard the new one.
    """

    id: str
    site: str
    user: str
    origin: str
    resume_hash: bytes
    document: str
    epoch: int
    capabilities: tuple[str, ...]
    created_at: int
    seen_at: int
    standing_until: int
    pinned_at: int | None = None
    ended_at: int | None = None
    resume_before: bytes | None = None
