"""One message of an agent, from JSON to a judged payload: envelope, conversation, sender, type, payload, in this order.

Nothing of a message counts before all of it was judged; a type nobody knows is never guessed at.
"""

import re
from dataclasses import dataclass
from typing import Any, Final, cast

from pydantic import ValidationError

from capabilities.json_values import pointer_to
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.protocol.lineup.agent import PAYLOADS, TAG, AgentPayload
from gateway.protocol.lineup.base import CLIENT, PREFIX, VERSION, Party, Shell

_CALL_ID: Final = re.compile(r"[A-Za-z0-9._:-]{8,64}")
_SHOWN: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A message that is the agent's own. `page` is the page it names, if any.

    `payload` is None for a type that is not an agent's to send: it is `unsupported`, and `call_id` the call it is
    about, where it is an `app.` type that names one.
    """

    id: str
    type: str
    payload: AgentPayload | None
    page: str | None = None
    call_id: str | None = None


def read_message(value: Any, session: AgentSession) -> Received:
    """Judge `value` as a message of the agent of `session`.

    Raises:
        GatewayError: `bad_request`, `protocol_unsupported`, `unknown_conversation` or `sender_refused`.
    """
    shell = _shell(value)
    if shell.conversation_id != session.conversation:
        raise unknown_conversation(shell.conversation_id)
    if shell.sender != Party(kind="agent", id=session.agent):
        raise GatewayError(ErrorCode.SENDER_REFUSED, f"the sender is not `{session.agent}`, whose token this is")
    page = _page(shell.target)
    kind = PAYLOADS.get(shell.type)
    if kind is None:
        return Received(id=shell.id, type=shell.type, payload=None, call_id=_call_id(shell))
    try:
        payload = kind.model_validate(shell.payload)
    except ValidationError as invalid:
        raise _bad(invalid, "payload") from None
    return Received(id=shell.id, type=shell.type, payload=payload, page=page)


def unknown_conversation(name: str) -> GatewayError:
    """The answer for a conversation that is not the session's, whether or not there is one."""
    return GatewayError(ErrorCode.UNKNOWN_CONVERSATION, f"conversation `{name[:_SHOWN]}` is not known here")


def unsupported(kind: str) -> GatewayError:
    """The answer to a type that is not an agent's to send."""
    return GatewayError(ErrorCode.UNSUPPORTED, f"`{kind[:_SHOWN]}` is not a message an agent sends here")


def _shell(value: Any) -> Shell:
    given: Any = cast("dict[str, Any]", value).get("v", VERSION) if isinstance(value, dict) else VERSION
    if type(given) is int and given != VERSION:
        raise GatewayError(ErrorCode.PROTOCOL_UNSUPPORTED, f"the version is {VERSION}", supported=[VERSION])
    try:
        return Shell.model_validate(value)
    except ValidationError as invalid:
        raise _bad(invalid) from None


def _page(target: Party | None) -> str | None:
    if target is None or target == Party(kind="client", id=CLIENT):
        return None
    if target.kind != "client":
        raise GatewayError(ErrorCode.BAD_REQUEST, "at `/target/kind`: a message of an agent is for a client")
    return target.id


def _call_id(shell: Shell) -> str | None:
    given = shell.payload.get("call_id")
    is_app = shell.type.startswith(f"{PREFIX}app.")
    return given if is_app and isinstance(given, str) and _CALL_ID.fullmatch(given) else None


def _bad(invalid: ValidationError, *where: str) -> GatewayError:
    first = invalid.errors(include_url=False, include_input=False, include_context=False)[0]
    steps = [step for step in (*where, *first["loc"]) if not str(step).startswith(TAG)]
    pointer = pointer_to(steps) or "/"
    message = first["msg"].removeprefix("Value error, ")
    return GatewayError(ErrorCode.BAD_REQUEST, f"at `{pointer}`: {message[0].lower()}{message[1:]}", pointer=pointer)
