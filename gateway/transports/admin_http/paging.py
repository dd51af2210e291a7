"""Cursors: where a list goes on, as a text that means nothing to its holder."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

import orjson

from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.lists import Place
from gateway.protocol.admin.requests import PageQuery

T = TypeVar("T")

_SEQ_MAX: Final = 2**62
_NAME: Final = re.compile(r"[a-z0-9_]{1,64}")
"""The names lists are ordered by: ids and refs."""


def cursor_of(collection: str, *place: str | int) -> str:
    """A cursor into one collection."""
    return base64.urlsafe_b64encode(orjson.dumps([collection, *place])).decode().rstrip("=")


def place_in(collection: str, cursor: str | None) -> Place | None:
    """The (instant, id) a cursor stands for; None for the beginning.

    Raises:
        GatewayError: `bad_request`, for a text that is no cursor of this collection.
    """
    if cursor is None:
        return None
    match _parts(collection, cursor):
        case [int(at), str(name)] if _is_count(at) and _NAME.fullmatch(name):
            return at, name
        case _:
            raise _strange()


def text_in(collection: str, cursor: str | None) -> str | None:
    """The same for lists in the order of one text."""
    if cursor is None:
        return None
    match _parts(collection, cursor):
        case [str(text)] if _NAME.fullmatch(text):
            return text
        case _:
            raise _strange()


def number_in(collection: str, cursor: str | None) -> int:
    """The same for lists in the order of a count from 1."""
    if cursor is None:
        return 0
    match _parts(collection, cursor):
        case [int(number)] if _is_count(number):
            return number
        case _:
            raise _strange()


def page_of(
    collection: str, rows: Sequence[T], query: PageQuery, place_of: Callable[[T], Place], view: Callable[[T], Any]
) -> Mapping[str, Any]:
    """One page of rows that are all at hand, latest first."""
    below = place_in(collection, query.cursor)
    rest = [row for row in sorted(rows, key=place_of, reverse=True) if below is None or place_of(row) < below]
    return told(collection, rest[: query.limit], place_of, view, has_more=len(rest) > query.limit)


def told(
    collection: str, rows: Sequence[T], place_of: Callable[[T], Place], view: Callable[[T], Any], *, has_more: bool
) -> Mapping[str, Any]:
    """A page and where it goes on."""
    further = cursor_of(collection, *place_of(rows[-1])) if rows and has_more else None
    return {"items": [view(row) for row in rows], "next": further}


def _parts(collection: str, cursor: str) -> list[Any]:
    try:
        found = orjson.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        raise _strange() from None
    if not isinstance(found, list):
        raise _strange()
    of, *place = cast("list[Any]", found) or [None]
    if of != collection:
        raise _strange()
    return place


def _is_count(number: int) -> bool:
    return not isinstance(number, bool) and 0 <= number < _SEQ_MAX


def _strange() -> GatewayError:
    return GatewayError(ErrorCode.BAD_REQUEST, "`cursor` is no cursor of this list; leave it out to begin anew")
