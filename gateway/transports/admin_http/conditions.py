"""Entity tags: an answer is named by its bytes, and a change can insist on the version it was decided by."""

import hashlib
import re
from typing import Final

from starlette.datastructures import Headers

from gateway.domain.errors import ErrorCode, GatewayError

_TAG: Final = re.compile(r'(W/)?("[\x21\x23-\x7e\x80-\xff]*")')


def tag_of(body: bytes) -> str:
    """The entity tag of an answer."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def is_known(headers: Headers, tag: str) -> bool:
    """Whether `If-None-Match` names this version, or any."""
    return any(line.strip() == "*" or tag in _tags(line, weak=True) for line in headers.getlist("if-none-match"))


def demand_of(headers: Headers) -> str | None:
    """The value of `If-Match`; None when there is none.

    Raises:
        GatewayError: `bad_request`, when it names no version.
    """
    lines = headers.getlist("if-match")
    if not lines:
        return None
    demand = ", ".join(lines).strip()
    if demand != "*" and not _tags(demand, weak=True):
        raise GatewayError(ErrorCode.BAD_REQUEST, "`If-Match` is `*` or holds an `ETag` this API gave")
    return demand


def judge(demand: str, tag: str) -> None:
    """Refuse a change that was decided by another version.

    Raises:
        GatewayError: `precondition_failed`.
    """
    if demand != "*" and tag not in _tags(demand, weak=False):
        raise GatewayError(ErrorCode.PRECONDITION_FAILED, "it has changed since; read it again and decide anew")


def _tags(line: str, *, weak: bool) -> list[str]:
    """The tags of a header line; `If-Match` compares strongly, so weak ones do not count there (RFC 9110)."""
    return [found[2] for found in _TAG.finditer(line) if weak or not found[1]]
