"""Answers what a handler asks for, in the name of the work it runs for; the worker's own word on that counts nothing."""

import base64
import binascii
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Final, Literal

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gateway.adapters.executors.messages import Ask
from gateway.domain.workers import Asker, Denial, Outbound, ServiceDenied
from gateway.runtime.ports import HandlerServices

AT_ONCE: Final = 16
"""Questions of one job that may be open."""

HTTP_MS: Final = 10_000
"""How long an outbound request may take unless the handler says less."""

_log = structlog.get_logger("ostiary.workers")


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Nothing(_Given):
    pass


class _Put(_Given):
    data: str
    revision: int = Field(ge=0)


class _Emit(_Given):
    type: Annotated[str, Field(max_length=200)]
    data: str


class _Secret(_Given):
    name: Annotated[str, Field(max_length=200)]


class _Request(_Given):
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    url: Annotated[str, Field(max_length=8_192)]
    headers: dict[str, str] = Field(max_length=64)
    body: str
    within_ms: int | None = Field(ge=1)


class Answering:
    """Makes the frame that answers a question."""

    def __init__(self, services: HandlerServices) -> None:
        self._services = services
        self._ways: Mapping[str, Callable[[Asker, Any], Awaitable[Any]]] = {
            "session_data": self._session_data,
            "put_session_data": self._put_session_data,
            "emit": self._emit,
            "secret": self._secret,
            "http": self._http,
        }

    async def frame(self, asker: Asker, ask: Ask) -> dict[str, Any]:
        """The answer to `ask`, which came while `asker`'s work was under way."""
        try:
            value = await self._ways[ask.what](asker, ask.given)
        except ServiceDenied as denied:
            return denial(ask, denied)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            words = f"`{ask.what}` was asked for in a wrong way: {first['type']} at {first['loc']}"
            return denial(ask, ServiceDenied(Denial.REFUSED, words[:300]))
        except Exception as error:  # noqa: BLE001 - what fails here is told to one handler, and the others go on
            _log.exception("handler_question_failed", app=asker.app, code=ask.what, error=type(error).__name__)
            return denial(ask, ServiceDenied(Denial.REFUSED, "the gateway could not do it; try again"))
        return {"type": "told", "id": ask.id, "value": value}

    async def _session_data(self, asker: Asker, given: Any) -> Any:
        _Nothing.model_validate(given)
        kept = await self._services.session_data(asker)
        return {"data": kept.data, "revision": kept.revision}

    async def _put_session_data(self, asker: Asker, given: Any) -> Any:
        put = _Put.model_validate(given)
        return {"revision": await self._services.put_session_data(asker, put.data, revision=put.revision)}

    async def _emit(self, asker: Asker, given: Any) -> Any:
        event = _Emit.model_validate(given)
        await self._services.emit(asker, event.type, event.data)

    async def _secret(self, asker: Asker, given: Any) -> Any:
        return await self._services.secret(asker, _Secret.model_validate(given).name)

    async def _http(self, asker: Asker, given: Any) -> Any:
        wanted = _Request.model_validate(given)
        try:
            body = base64.b64decode(wanted.body, validate=True)
        except binascii.Error:
            raise ServiceDenied(Denial.REFUSED, "the body of the request is not base64") from None
        answer = await self._services.http(
            asker,
            Outbound(
                method=wanted.method,
                url=wanted.url,
                headers=tuple(wanted.headers.items()),
                body=body,
                within_ms=min(wanted.within_ms or HTTP_MS, HTTP_MS),
            ),
        )
        return {
            "status": answer.status,
            "headers": dict(answer.headers),
            "body": base64.b64encode(answer.body).decode(),
        }


def denial(ask: Ask, denied: ServiceDenied) -> dict[str, Any]:
    """The frame that says no."""
    told = {"denial": denied.denial.value, "message": denied.message, "revision": denied.revision}
    return {"type": "denied", "id": ask.id, **told}
