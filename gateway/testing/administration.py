"""Admin tokens and their repeatable requests in memory."""

from collections.abc import Sequence
from dataclasses import replace

from gateway.domain.admin_requests import Made
from gateway.domain.admin_tokens import AdminToken
from gateway.runtime.ports import DuplicateKey
from gateway.testing.tables import Tables


class MemoryAdminTokens:
    """`AdminTokens` over a dictionary."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, token: AdminToken) -> None:
        if token.id in self._tables.admin_tokens or self.find_by_token(token.token_hash) is not None:
            raise DuplicateKey(f"admin token `{token.id}` or its secret is there")
        self._tables.admin_tokens[token.id] = token

    def find(self, token: str) -> AdminToken | None:
        return self._tables.admin_tokens.get(token)

    def find_by_token(self, token_hash: bytes) -> AdminToken | None:
        tokens = self._tables.admin_tokens.values()
        return next((token for token in tokens if token.token_hash == token_hash), None)

    def save(self, token: AdminToken) -> None:
        if token.id not in self._tables.admin_tokens:
            raise LookupError(f"no admin token `{token.id}`")
        self._tables.admin_tokens[token.id] = token

    def used(self, token: str, at: int) -> None:
        stored = self._tables.admin_tokens.get(token)
        if stored is not None:
            self._tables.admin_tokens[token] = replace(stored, last_used_at=at)

    def list(self) -> Sequence[AdminToken]:
        return [*self._tables.admin_tokens.values()]

    def purge(self, ended_before: int, limit: int) -> int:
        tokens = self._tables.admin_tokens.values()
        old = [t.id for t in tokens if min(t.expires_at, t.revoked_at or t.expires_at) < ended_before][:limit]
        for name in old:
            del self._tables.admin_tokens[name]
        return len(old)


class MemoryAdminRequests:
    """`AdminRequests` over a dictionary."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, made: Made) -> None:
        if (made.holder, made.key) in self._tables.admin_requests:
            raise DuplicateKey("the request is remembered")
        self._tables.admin_requests[made.holder, made.key] = made

    def find(self, holder: str, key: str) -> Made | None:
        return self._tables.admin_requests.get((holder, key))

    def purge(self, before: int, limit: int) -> int:
        old = [name for name, made in self._tables.admin_requests.items() if made.until < before][:limit]
        for name in old:
            del self._tables.admin_requests[name]
        return len(old)
