"""Looking into JSON whose shape nobody promised."""

from collections.abc import Mapping
from typing import Any, cast


def members_of(value: Any) -> Mapping[str, Any]:
    """The members of an object; none for everything that is not one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
