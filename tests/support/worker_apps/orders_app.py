"""A mini app whose handlers do to a worker what handlers may do. A test opens its gates by answering for secrets."""

import asyncio
from typing import Any

from capabilities.contract import (
    AppContext,
    ContextError,
    HandlerContext,
    HandlerFailed,
    HandlerStopped,
    Readiness,
    SessionConflict,
    Tool,
    agent_tools,
    python_tool,
)

OBJECT: dict[str, Any] = {"type": "object"}


async def echo(given: dict[str, Any], _: HandlerContext) -> dict[str, Any]:
    """Give back what came."""
    return {"echo": given}


async def wait(given: dict[str, Any], context: HandlerContext) -> dict[str, Any]:
    """Go on once the test opens the gate `given` names; no signal stops it."""
    return {"gate": await context.secret(given.get("gate", "gate"))}


async def patient(_: dict[str, Any], context: HandlerContext) -> dict[str, Any]:
    """Do nothing until it is told to stop, and say that it stopped."""
    await context.cancelled.wait()
    raise HandlerStopped


async def stubborn(_: dict[str, Any], context: HandlerContext) -> dict[str, Any]:
    """Tell that the signal came, and go on for ever."""
    await context.cancelled.wait()
    await context.progress(1, message="told to stop")
    await asyncio.Event().wait()
    return {}


async def refuse(_: dict[str, Any], __: HandlerContext) -> dict[str, Any]:
    """Fail with words for the caller."""
    raise HandlerFailed("there is no stock")


async def stumble(_: dict[str, Any], __: HandlerContext) -> dict[str, Any]:
    """Fail with words for nobody."""
    raise ValueError("MARKER-7")


async def grow(given: dict[str, Any], _: HandlerContext) -> dict[str, Any]:
    """Return a result of exactly so many bytes."""
    return {"text": "x" * (given["bytes"] - len('{"text":""}'))}


async def report(_: dict[str, Any], context: HandlerContext) -> dict[str, Any]:
    """Use all of the context."""
    kept = await context.session.get()
    revision = await context.session.put({**kept.data, "seen": True}, revision=kept.revision)
    answer = await context.http.request("post", "https://api.example.com/x", json={"a": 1}, headers={"X-A": "b"})
    await context.emit("order.submitted", {"n": 1})
    await context.progress(1, 2, "half")
    return {
        "ref": context.ref,
        "year": context.now().year,
        "revision": revision,
        "status": answer.status,
        "body": answer.text,
        "header": answer.headers["x-c"],
    }


async def provoke(given: dict[str, Any], context: HandlerContext) -> dict[str, Any]:
    """Tell what the gateway's refusal of a secret looks like to a handler."""
    try:
        await context.secret(given["name"])
    except SessionConflict as error:
        return {"error": "SessionConflict", "revision": error.revision}
    except ContextError as error:
        return {"error": type(error).__name__, "words": str(error)}
    return {}


async def on_activate(context: AppContext) -> None:
    """Wait for the test."""
    await context.secret("activate")


async def on_deactivate(context: AppContext) -> None:
    """The same."""
    await context.secret("deactivate")


def _tool(handler: Any, **more: Any) -> Tool:
    name = f"orders.{handler.__name__}"
    return python_tool(name, handler, title="T", description="D", input=OBJECT, output=OBJECT, **more)


TOOLS = agent_tools(
    app="com.example.orders",
    name="Orders",
    version="1.0.0",
    description="Takes orders.",
    tools=[
        *map(_tool, (echo, wait, patient, stubborn, refuse, stumble, grow, report, provoke)),
        python_tool(
            "orders.ready",
            echo,
            title="T",
            description="D",
            input=OBJECT,
            output=OBJECT,
            readiness=Readiness.APP_READY,
        ),
    ],
    on_activate=on_activate,
    on_deactivate=on_deactivate,
)
