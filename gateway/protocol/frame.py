"""What every frame of the page channel is made of: the closed model, and the texts its fields share."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

NO_NUL: Final = r"^[^\x00]*$"
"""Names are looked up in a store, and one of the stores cannot hold a NUL."""

Ref = Annotated[str, Field(min_length=1, max_length=64, pattern=NO_NUL)]
Token = Annotated[str, Field(min_length=1, max_length=256, pattern=NO_NUL)]
Name = Annotated[str, Field(min_length=1, max_length=160, pattern=NO_NUL)]

ResultCode = Literal["handler_error", "not_available", "arguments_invalid", "cancelled", "not_achieved"]


class Frame(BaseModel):
    """What all frames have in common: no field but the named ones, no conversion, no change afterwards.

    A text that may be missing is then empty; `null` in its place is refused.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ResultError(Frame):
    """Why work on the page failed."""

    code: ResultCode
    message: str
