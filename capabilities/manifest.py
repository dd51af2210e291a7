"""Reading a manifest: every fault with its place, or a `Manifest` every later step can trust."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
import rfc8785
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from capabilities.json_values import find_unsafe_number, is_deeper_than, pointer_to
from capabilities.manifest_rules import Fault, broken_rules
from capabilities.manifest_shape import TAG, Manifest

__all__ = [
    "MANIFEST_BYTES",
    "MANIFEST_NAME",
    "Fault",
    "Manifest",
    "ManifestRefused",
    "make_manifest",
    "read_manifest",
]

MANIFEST_NAME: Final = "manifest.json"

MANIFEST_BYTES: Final = 1_048_576
"""The largest manifest as RFC 8785 text: 1 MiB."""

_DEPTH: Final = 128

_WORDS: Final[Mapping[str, str]] = {
    "missing": "it is missing",
    "extra_forbidden": "a manifest has no such field",
}


class ManifestRefused(Exception):
    """A manifest is not accepted.

    Attributes:
        faults: all of a kind: first what is wrong with its shape; what it says is judged once the shape is right.
    """

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(str(fault) for fault in faults))
        self.faults: Final = tuple(faults)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a text or value came to before its shape is judged."""

    value: Any
    text: bytes


def make_manifest(value: Any) -> Manifest:
    """Judge a manifest that is being written.

    Raises:
        ManifestRefused: with every fault.
    """
    return _judged(_canonical(value))


def read_manifest(text: bytes) -> Manifest:
    """Judge the text of a package's `manifest.json`. It must be RFC 8785's, so two texts are two manifests.

    Raises:
        ManifestRefused: with every fault.
    """
    if len(text) > MANIFEST_BYTES:
        raise ManifestRefused([Fault("", f"larger than {MANIFEST_BYTES} bytes")])
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ManifestRefused([Fault("", f"no JSON: {error.msg.partition(':')[0].lower()}")]) from None
    reading = _canonical(value)
    if reading.text != text:
        # So no key occurs twice and no number is read as another one: its text would differ.
        raise ManifestRefused([Fault("", "not written as RFC 8785 says; `ostiary app pack` writes it so")])
    return _judged(reading)


def _canonical(value: Any) -> _Reading:
    if is_deeper_than(value, _DEPTH):
        raise ManifestRefused([Fault("", f"nested deeper than {_DEPTH} levels")])
    number = find_unsafe_number(value)
    if number is not None:
        raise ManifestRefused([Fault(number.pointer, number.reason.replace("_", " "))])
    try:
        text = rfc8785.dumps(value)
    except (ValueError, TypeError):
        raise ManifestRefused([Fault("", "something in it is not JSON")]) from None
    if len(text) > MANIFEST_BYTES:
        raise ManifestRefused([Fault("", f"larger than {MANIFEST_BYTES} bytes")])
    return _Reading(value, text)


def _judged(reading: _Reading) -> Manifest:
    try:
        manifest = Manifest.model_validate(reading.value)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False, include_context=False)
        raise ManifestRefused([_fault(detail) for detail in details]) from None
    faults = list(broken_rules(manifest))
    if faults:
        raise ManifestRefused(faults)
    return manifest


def _fault(detail: ErrorDetails) -> Fault:
    steps = [step for step in detail["loc"] if not str(step).startswith(TAG)]
    words = _WORDS.get(detail["type"], detail["msg"])
    return Fault(pointer_to(steps), words[:1].lower() + words[1:])
