"""Lists and maps as canonical JSON text, the one spelling a column ever holds."""

from collections.abc import Mapping, Sequence

import orjson

from gateway.domain.canonical import canonical


def text_of_list(items: Sequence[str]) -> str:
    return canonical(list(items)).decode()


def list_of_text(text: str) -> tuple[str, ...]:
    return tuple(orjson.loads(text))


def text_of_map(entries: Mapping[str, str]) -> str:
    return canonical(dict(entries)).decode()


def map_of_text(text: str) -> dict[str, str]:
    entries: dict[str, str] = orjson.loads(text)
    return entries


def text_of_revisions(entries: Mapping[str, int]) -> str:
    return canonical(dict(entries)).decode()


def revisions_of_text(text: str) -> dict[str, int]:
    entries: dict[str, int] = orjson.loads(text)
    return entries
