"""The closed set of runtime built-ins by capability id."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from capabilities.builtin import echo
from capabilities.contract import Descriptor, Handler


@dataclass(frozen=True, slots=True, kw_only=True)
class Builtin:
    """A declaration and what runs it."""

    descriptor: Descriptor
    handler: Handler


BUILTINS: Final[Mapping[str, Builtin]] = {
    builtin.descriptor.id: builtin for builtin in (Builtin(descriptor=echo.DESCRIPTOR, handler=echo.HANDLER),)
}
