"""The closed sets of what comes with the gateway: runtime built-ins, what surface hosts can do, and what agents show."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from capabilities.builtin import echo
from capabilities.builtin.documents import DOCUMENTS
from capabilities.builtin.host import HOST
from capabilities.builtin.standard import STANDARD
from capabilities.builtin.surfaces import SURFACES as OPENED
from capabilities.contract import Descriptor, Handler

__all__ = ["BUILTINS", "HOST", "SURFACES", "Builtin"]

SURFACES: Final[Mapping[str, Descriptor]] = {**OPENED, **STANDARD, **DOCUMENTS}
"""What agents show on pages: surfaces, standard components, documents; and what they hear from there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Builtin:
    """A declaration and what runs it."""

    descriptor: Descriptor
    handler: Handler


BUILTINS: Final[Mapping[str, Builtin]] = {
    builtin.descriptor.id: builtin for builtin in (Builtin(descriptor=echo.DESCRIPTOR, handler=echo.HANDLER),)
}
