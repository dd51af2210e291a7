"""What a command of the control socket is: the shape of its parameters, and what runs it at whose desk."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from gateway.runtime.admin import Admin, Reloader

Text = Annotated[str, Field(max_length=1024, pattern=r"^[^\x00]*$")]
"""Without a NUL, which one of the stores cannot hold."""
Texts = Annotated[list[Text], Field(max_length=256)]
Count = Annotated[int, Field(ge=1, le=1000)]


class Parameters(BaseModel):
    """Parameters of a command; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Nothing(Parameters):
    """No parameters."""


class Named(Parameters):
    """A command about one thing."""

    name: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What commands work with, and who gave this one. Without a running gateway there is nothing to reload."""

    admin: Admin
    by: str
    reloader: Reloader | None = None


P = TypeVar("P", bound=Parameters)


@dataclass(frozen=True, slots=True)
class Command(Generic[P]):
    """One row of the table."""

    parameters: type[P]
    run: Callable[[Desk, P], Awaitable[Any]]
