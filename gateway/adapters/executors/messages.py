"""What a worker may say, judged: the shape of every frame it writes. A frame that does not fit is refused whole."""

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from gateway.adapters.executors.frames import Broken
from gateway.protocol import strict_json

DEPTH: Final = strict_json.MAX_DEPTH + 2
"""A result may be as deep as arguments; the frame is around it."""

Ref = Annotated[str, Field(min_length=1, max_length=64)]
Text = Annotated[str, Field(max_length=2_000)]


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Ready(_Message):
    """The app is loaded."""

    type: Literal["ready"]


class Unloadable(_Message):
    """The app cannot be loaded; the process ends."""

    type: Literal["unloadable"]
    message: Text


class Started(_Message):
    """The handler runs."""

    type: Literal["started"]
    id: Ref


class Progress(_Message):
    """How far the handler is."""

    type: Literal["progress"]
    id: Ref
    n: float = Field(allow_inf_nan=False)
    total: float | None = Field(allow_inf_nan=False)
    message: Text | None


class Result(_Message):
    """What the handler returned; of a hook, an empty object."""

    type: Literal["result"]
    id: Ref
    output: dict[str, Any]


class Why(StrEnum):
    """How a handler or hook ended that did not return."""

    MEANT = "meant"
    RAISED = "raised"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    TOO_LARGE = "too_large"
    NO_HANDLER = "no_handler"


class Failed(_Message):
    """The handler or hook did not return."""

    type: Literal["failed"]
    id: Ref
    why: Annotated[Why, Field(strict=False)]
    message: Text


class Ask(_Message):
    """A handler asks for something; `of` is the job or the hook it runs for."""

    type: Literal["ask"]
    id: int = Field(ge=0)
    of: Ref
    what: Literal["session_data", "put_session_data", "emit", "secret", "http"]
    given: dict[str, Any]


Message = Ready | Unloadable | Started | Progress | Result | Failed | Ask

_MESSAGES: Final[TypeAdapter[Message]] = TypeAdapter(Annotated[Message, Field(discriminator="type")])


def message_of(text: bytes) -> Message:
    """The message a frame holds.

    Raises:
        Broken: it holds none.
    """
    try:
        return _MESSAGES.validate_python(strict_json.parse(text, max_depth=DEPTH))
    except strict_json.BadJson as error:
        raise Broken(f"a frame that is not JSON: {error.code}") from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise Broken(f"a frame of no known shape: {first['type']}") from None
