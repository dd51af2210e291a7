"""What every message of `lineup.v1` is made of: the closed model, the texts its fields share, the envelope."""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

VERSION: Final = 1
PREFIX: Final = "lineup.v1."
"""Begins every type on the wire (rules E1)."""

CLIENT: Final = "ostiary"
"""Who the gateway is in a conversation: the id of the sender of kind `client`."""

ENVELOPE_LEVELS: Final = 2
"""The arguments of a call lie this deep in a message; their own depth is counted from there (rules A1)."""

MessageId = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,64}$")]
ConversationId = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,128}$")]
CallId = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{8,64}$")]
Name = Annotated[str, Field(min_length=1, max_length=160)]
JsonObject = dict[str, Any]


class Closed(BaseModel):
    """No field but the named ones, no conversion, no change afterwards."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Party(Closed):
    """Who sends a message, or whom it is for."""

    kind: Literal["agent", "client"]
    id: Name


class Envelope(Closed):
    """What all messages have in common. `target` is optional; to an agent's message it names a page."""

    v: Annotated[int, Field(ge=VERSION, le=VERSION), WithJsonSchema({"const": VERSION})]
    id: MessageId
    conversation_id: ConversationId
    sender: Party
    target: Party | None = None


class Shell(Envelope):
    """A message whose type and payload are not judged yet."""

    type: Annotated[str, Field(min_length=1, max_length=128)]
    payload: JsonObject
