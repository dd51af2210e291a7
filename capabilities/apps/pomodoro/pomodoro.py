"""Pomodoro: a focus with a deadline that the gateway keeps, and a surface that shows it (seed 002 §7)."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from capabilities.contract import (
    CallModel,
    Confirm,
    DeadlineOperation,
    InterruptOperation,
    Leave,
    Leaving,
    Readiness,
    Surface,
    agent_tools,
    runtime_tool,
)

MINUTE_MS = 60_000


class Closed(BaseModel):
    """An object with no member but the named ones."""

    model_config = ConfigDict(extra="forbid")


class Start(Closed):
    """What `pomodoro.start` is given."""

    minutes: Annotated[int, Field(ge=1, le=180, description="How long the focus lasts; 25 is usual.")]


class Focus(Closed):
    """What became of a focus."""

    status: Literal["completed", "interrupted", "not_started"]


class Nothing(Closed):
    """No arguments."""


class Interrupted(Closed):
    """What there was to interrupt."""

    status: Literal["start_cancelled", "interrupted", "nothing_to_interrupt"]


TOOLS = agent_tools(
    app="dev.ostiary.pomodoro",
    name="Pomodoro",
    version="1.0.0",
    description="One focus at a time, shown to the person.",
    tools=[
        runtime_tool(
            "pomodoro.start",
            DeadlineOperation(
                argument="minutes",
                unit_ms=MINUTE_MS,
                completed={"status": "completed"},
                interrupted={"status": "interrupted"},
            ),
            title="Start a focus",
            description=(
                "Asks the person to bring Pomodoro to the front, and begins a focus once they did: only the receipt"
                " `started` says that the time runs. Answers when the focus is over, or `not_started`."
            ),
            input=Start,
            output=Focus,
            call_model=CallModel.OPERATION,
            confirm=Confirm.NEVER,
            readiness=Readiness.FOREGROUND_REQUIRED,
            not_started={"status": "not_started"},
        ),
        runtime_tool(
            "pomodoro.interrupt",
            InterruptOperation(
                cancelled_start={"status": "start_cancelled"},
                interrupted={"status": "interrupted"},
                nothing={"status": "nothing_to_interrupt"},
            ),
            title="Interrupt the focus",
            description="Gives up a focus that is being started, or ends the one that runs, in this conversation.",
            input=Nothing,
            output=Interrupted,
            call_model=CallModel.COMMAND,
            confirm=Confirm.NEVER,
        ),
    ],
    surfaces=[
        Surface(
            id="clock",
            title="Pomodoro",
            html="surface/clock.html",
            css="surface/clock.css",
            js="surface/clock.js",
        )
    ],
    leaving=Leaving(left_workspace=Leave.INTERRUPT, closed=Leave.INTERRUPT),
)
