"""One row per thing the admin API does: where, who may, what goes in, what comes out, what runs it."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel

from gateway.domain.admin_tokens import AdminScope
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.protocol.admin.requests import Body, NoQuery, Query
from gateway.runtime.admin import Once, Registers, Reloader
from gateway.runtime.services import Services

Q = TypeVar("Q", bound=Query)
B = TypeVar("B", bound=Body)

MAY_READ: Final = frozenset({AdminScope.READ})


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What operations work with."""

    services: Services
    registers: Registers
    reloader: Reloader


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Generic[Q, B]):
    """A request that passed the door: `by` says who asks, `names` what the path names."""

    desk: Desk
    by: str
    names: Mapping[str, str]
    query: Q
    body: B
    text: str = ""
    once: Once | None = None

    @property
    def services(self) -> Services:
        return self.desk.services


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An answer before it is trimmed to the fields of its model."""

    value: Mapping[str, Any]
    location: str | None = None
    is_repeated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What to do next with what an answer says: an operation, and where each of its names stands in the answer."""

    operation: str
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Generic[Q, B]):
    """One row.

    `matched_by` names the operation whose `ETag` an `If-Match` here is held against; with `is_match_required` a
    request without one is refused. `is_text` takes the body as it is. `repeatable` takes an `Idempotency-Key`.
    """

    name: str
    method: str
    path: str
    told: str
    run: Callable[[Asked[Q, B]], Awaitable[Told]]
    answer: type[BaseModel]
    scopes: frozenset[AdminScope] = MAY_READ
    query: type[Query] = NoQuery
    body: type[Body] | None = None
    is_text: bool = False
    status: int = 200
    repeatable: bool = False
    matched_by: str | None = None
    is_match_required: bool = False
    refusals: Sequence[ErrorCode] = ()
    links: Mapping[str, Link] = field(default_factory=dict[str, Link])

    @property
    def what(self) -> str:
        """How the audit trail and messages name it."""
        return f"{self.method} {self.path}"

    @property
    def placeholders(self) -> list[str]:
        """The names in its path."""
        return _PLACEHOLDER.findall(self.path)


_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")

DECLARED: Final = ("/sites", "/agents", "/rules", "/settings")
"""Whatever lies below comes from the file, and from nowhere else."""


class Table:
    """Finds the row of a request."""

    def __init__(self, operations: Sequence[Operation[Any, Any]]) -> None:
        self.operations = tuple(operations)
        self.by_name: Mapping[str, Operation[Any, Any]] = {row.name: row for row in operations}
        self._rows = [(_pattern(row.path), row) for row in operations]

    def find(self, method: str, path: str) -> tuple[Operation[Any, Any], Mapping[str, str]]:
        """The operation and what the path names.

        Raises:
            NoOperation: with `not_found`, or with `method_not_allowed` or `declared_in_file` and what is allowed.
        """
        found = list(self._matching(path))
        if not found:
            raise NoOperation(ErrorCode.NOT_FOUND, "there is nothing at this path; see `/admin/v1/openapi.json`")
        wanted = "GET" if method == "HEAD" else method
        for row, names in found:
            if row.method == wanted:
                return row, names
        allowed = sorted(
            {row.method for row, _ in found} | ({"HEAD"} if "GET" in {r.method for r, _ in found} else set())
        )
        row = found[0][0]
        if row.path.startswith(DECLARED):
            code, message = ErrorCode.DECLARED_IN_FILE, "declared in `ostiary.yaml`; edit it and reload"
        else:
            code, message = ErrorCode.METHOD_NOT_ALLOWED, f"this path takes {', '.join(allowed)}"
        raise NoOperation(code, message, path=row.path, allowed=allowed)

    def _matching(self, path: str) -> Iterator[tuple[Operation[Any, Any], Mapping[str, str]]]:
        for pattern, row in self._rows:
            match = pattern.fullmatch(path)
            if match is not None:
                yield row, match.groupdict()


class NoOperation(GatewayError):
    """No row takes this request; `path` is the row's where only the method is wrong."""

    def __init__(
        self, code: ErrorCode, message: str, *, path: str | None = None, allowed: Sequence[str] = ()
    ) -> None:
        super().__init__(code, message)
        self.path = path
        self.allowed = allowed


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(_PLACEHOLDER.sub(r"(?P<\1>[^/\\x00-\\x1f\\x7f]{1,256})", path))
