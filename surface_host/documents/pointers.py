"""RFC 6901 pointers, and the length of text as both halves measure it."""

from collections.abc import Iterable

from surface_host.documents.table import LIMITS

_MAX = LIMITS["pointer"]


def units(text: str) -> int:
    """The length in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def segment(key: str | int) -> str:
    """`/` and the key, escaped."""
    return f"/{key}" if isinstance(key, int) else "/" + key.replace("~", "~0").replace("/", "~1")


def pointer_to(path: Iterable[str | int]) -> str:
    """The pointer of a path from the root, cut where it is too long."""
    return cut("".join(map(segment, path)))


def cut(pointer: str) -> str:
    """The pointer, or that of its nearest ancestor with at most 256 units."""
    while units(pointer) > _MAX:
        pointer = pointer[: pointer.rindex("/")]
    return pointer
