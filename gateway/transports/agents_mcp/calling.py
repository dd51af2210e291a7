"""`tools/call`: which call is meant, how long its answer is waited for, how it is told. Knows both eras' answers."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.attendance import Waiter
from gateway.runtime.calls import CALL_ID_GRAMMAR, is_finished
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.runtime.requests import CallRequest, Outcome
from gateway.runtime.services import Services
from gateway.runtime.telemetry import names
from gateway.transports.agents_mcp import static_tools
from gateway.transports.agents_mcp.exchange import Exchange
from gateway.transports.agents_mcp.operations import failed_with
from gateway.transports.agents_mcp.results import ToolAnswer, answer_to, refusal, store_trouble
from gateway.transports.agents_mcp.tasks import task_fields
from gateway.transports.agents_mcp.tools import PREFIX, Names, Target, name_of
from gateway.transports.agents_mcp.waiting import Line, Patience, Waiting

CALL_ID: Final = PREFIX + "callId"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """One `tools/call`, whatever the era. `meta` is its raw `_meta`."""

    exchange: Exchange
    name: str
    arguments: dict[str, Any]
    meta: Mapping[str, Any]
    line: Line
    takes_task: bool = False
    in_flight: "InFlight | None" = None


@dataclass(slots=True)
class InFlight:
    """The call a request of an older client became, so that it can be cancelled by the request's id."""

    ref: str | None = None


class ToolCalls:
    """One per endpoint."""

    def __init__(self, services: Services, names: Names, waiting: Waiting, patience: Patience) -> None:
        self._services = services
        self._names = names
        self._waiting = waiting
        self._patience = patience

    async def answer(self, asked: ToolRequest) -> ToolAnswer | dict[str, Any]:
        """Serve the request. A dictionary is a task, made for a client that takes tasks.

        Raises:
            MCPError: -32602 for a tool this session was never shown.
        """
        answer = await self._answer_or_refusal(asked)
        if isinstance(answer, ToolAnswer) and answer.is_error:
            failed_with(names.TOOL_ERROR)
        return answer

    async def _answer_or_refusal(self, asked: ToolRequest) -> ToolAnswer | dict[str, Any]:
        try:
            if asked.name in static_tools.AT_ONCE:
                return await self._answer(asked)
            with self._services.calls.place(asked.exchange.session):
                return await self._answer(asked)
        except GatewayError as error:
            if not error.is_audited:
                session = asked.exchange.session
                with suppress(StoreBusy, StoreUnavailable):  # a refusal is a refusal though it cannot be noted
                    await self._services.refusals.note(
                        "mcp", asked.exchange.peer, error.code, agent=session.agent, session=session.id
                    )
            return refusal(error)
        except (StoreBusy, StoreUnavailable) as error:
            return store_trouble(error)

    async def _answer(self, asked: ToolRequest) -> ToolAnswer | dict[str, Any]:
        if asked.name not in static_tools.NAMES:
            target = await self._target(asked)
            return await self._call(asked, target.capability, asked.arguments, target.selector)
        given = asked.arguments
        static_tools.check_arguments(asked.name, given)
        match asked.name:
            case static_tools.DESCRIBE:
                return await self._describe(asked, given)
            case static_tools.INVOKE:
                return await self._call(
                    asked, given["capability"], given.get("arguments", {}), _selector(given), given.get("call_id")
                )
            case static_tools.STATUS:
                return await self._status(asked, static_tools.call_named(given))
            case _:
                named = static_tools.call_named(given)
                outcome = await self._services.calls.cancel(asked.exchange.session, named)
                return await self._final(asked.exchange, outcome)

    async def _target(self, asked: ToolRequest) -> Target:
        session, inventories = asked.exchange.session, self._services.inventories
        baseline = await inventories.baseline(session)
        target = self._names.find(session, inventories.snapshot(session), baseline, asked.name)
        # No capability id holds a colon, so this one is refused and audited like any other that is not known.
        return target or Target(f"tool:{asked.name[:120]}", None)

    async def _call(
        self,
        asked: ToolRequest,
        capability: str,
        arguments: dict[str, Any],
        selector: str | None,
        call_id: str | None = None,
    ) -> ToolAnswer | dict[str, Any]:
        exchange = asked.exchange
        key = _call_id(asked.meta) or call_id
        request = CallRequest(
            caller=exchange.session,
            capability=capability,
            arguments=arguments,
            page=selector,
            call_id=key,
            may_join=key is None,
            arrival=exchange.arrival,
            traceparent=exchange.traceparent,
        )
        try:
            outcome, waiter = await self._services.calls.submit(request)
        except GatewayError as error:
            if error.code is ErrorCode.UNKNOWN_CAPABILITY and asked.name != static_tools.INVOKE:
                raise MCPError(INVALID_PARAMS, f"Unknown tool: {asked.name[:120]}") from None
            raise
        exchange.joined(waiter)
        if asked.in_flight is not None:
            asked.in_flight.ref = outcome.call.ref
        if not is_finished(outcome.call):
            outcome = await self._waited(asked, outcome, waiter)
        if not is_finished(outcome.call) and not exchange.is_gone:
            outcome = await self._handed_out(exchange, outcome)
        if not is_finished(outcome.call) and asked.takes_task:
            outcome = await self._services.calls.with_receipt(outcome)
            return {"resultType": "task", **task_fields(outcome, self._services.clock.now())}
        return await self._final(exchange, outcome)

    async def _waited(self, asked: ToolRequest, outcome: Outcome, waiter: Waiter) -> Outcome:
        if not outcome.call.state.is_undispatched:
            news = await waiter.next_news(min(_AT_ONCE, self._patience.before_task))
            if news is not None and is_finished(news.call):
                # The common case: no watching of sessions, no timers.
                return Outcome(call=news.call, result=news.result, replayed=outcome.replayed)
            if news is not None:
                waiter.tell(news)
        seconds = self._patience.without
        if asked.takes_task:
            seconds = self._patience.before_task
        elif asked.line.takes_progress:
            seconds = self._patience.with_progress
        return await self._waiting.until_finished(asked.exchange, outcome, waiter, asked.line, seconds)

    async def _handed_out(self, exchange: Exchange, outcome: Outcome) -> Outcome:
        """Durable before it is told: from now on a hang-up does not orphan the call."""
        call = await self._services.calls.hand_out(outcome.call.ref)
        if not is_finished(call):
            return Outcome(call=call, replayed=outcome.replayed)
        ended, waiter = await self._services.calls.status(exchange.session, call.ref)
        exchange.joined(waiter)
        return ended

    async def _status(self, asked: ToolRequest, named: str) -> ToolAnswer:
        outcome, waiter = await self._services.calls.status(asked.exchange.session, named)
        asked.exchange.joined(waiter)
        if not is_finished(outcome.call):
            outcome = await self._waiting.until_finished(
                asked.exchange, outcome, waiter, asked.line, self._patience.status
            )
        return await self._final(asked.exchange, outcome)

    async def _final(self, exchange: Exchange, outcome: Outcome) -> ToolAnswer:
        if outcome.call.state.is_terminal:
            exchange.answers_with(outcome.call)
        return answer_to(await self._services.calls.with_receipt(outcome))

    async def _describe(self, asked: ToolRequest, given: dict[str, Any]) -> ToolAnswer:
        session = asked.exchange.session
        window = {key: given[key] for key in ("limit", "offset", "ids") if key in given}
        described = await self._services.surface.describe(session, window, page=given.get("page"))
        for capability in described["capabilities"]:
            capability["tool"] = name_of(session, capability["id"], capability["site"])
        return ToolAnswer(described)


_AT_ONCE: Final = 0.25
"""Seconds in which most calls end that end by themselves."""


def _call_id(meta: Mapping[str, Any]) -> str | None:
    found = meta.get(CALL_ID)
    if found is None:
        return None
    if not isinstance(found, str) or not static_tools.is_call_id(found):
        raise GatewayError(ErrorCode.ARGUMENTS_INVALID, f"`{CALL_ID}` matches {CALL_ID_GRAMMAR}")
    return found


def _selector(given: dict[str, Any]) -> str | None:
    page, site = given.get("page"), given.get("site")
    if page is not None and site is not None:
        raise GatewayError(ErrorCode.ARGUMENTS_INVALID, "name `page` or `site`, not both")
    return page if site is None else f"site:{site}"
