"""Handoff: structured notes from one agent to the next one in the same conversation."""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from capabilities.contract import (
    CallModel,
    Confirm,
    Effect,
    HandlerContext,
    HandlerFailed,
    Readiness,
    SessionConflict,
    TooMuch,
    agent_tools,
    python_tool,
)

OPEN_MAX: Final = 50
TAKEN_MAX: Final = 50
TRIES: Final = 8
"""How often a change is tried again because another call changed the notes meanwhile."""

Line = Annotated[str, Field(min_length=1, max_length=500)]
Lines = Annotated[list[Line], Field(max_length=20)]
Name = Annotated[str, Field(min_length=1, max_length=80)]
Number = Annotated[int, Field(ge=1)]


class Closed(BaseModel):
    """An object with no member but the named ones."""

    model_config = ConfigDict(extra="forbid")


class Leave(Closed):
    """What `handoff.leave` is given."""

    author: Annotated[Name, Field(description="Who leaves it, as the next agent should read it.")]
    subject: Annotated[str, Field(min_length=1, max_length=120, description="What it is about, in a few words.")]
    summary: Annotated[str, Field(min_length=1, max_length=2_000, description="Where things stand.")]
    done: Annotated[Lines, Field(description="What is finished.")] = []
    next_steps: Annotated[Lines, Field(description="What to do next, in order.")] = []
    blockers: Annotated[Lines, Field(description="What stands in the way.")] = []
    links: Annotated[Lines, Field(description="Where to look: files, issues, pages.")] = []


class Note(Leave):
    """A note as it is kept. `left_at` and `taken_at` are instants in UTC, ISO 8601."""

    number: Number
    left_at: str
    taken_by: Name | None = None
    taken_at: str | None = None


class Left(Closed):
    """What came of leaving a note."""

    number: Number
    open: Annotated[int, Field(ge=0, description="How many notes wait now.")]


class Which(Closed):
    """What `handoff.list` is given."""

    state: Annotated[Literal["open", "taken"], Field(description="Notes that wait, or that were taken.")] = "open"


class Summary(Closed):
    """A note in a list."""

    number: Number
    author: Name
    subject: str
    left_at: str
    taken_by: Name | None = None


class Listed(Closed):
    """Notes, oldest first."""

    notes: list[Summary]


class Take(Closed):
    """What `handoff.take` is given."""

    by: Annotated[Name, Field(description="Who takes it.")]
    number: Annotated[Number | None, Field(description="Which note; without it the one that waits longest.")] = None


class Notes(Closed):
    """The session data of this app."""

    last: int = 0
    notes: list[Note] = []

    @property
    def open(self) -> list[Note]:
        """Those that wait, oldest first."""
        return [note for note in self.notes if note.taken_by is None]

    def without_oldest(self) -> "Notes":
        """The same without the taken notes that are too many."""
        taken = [note.number for note in self.notes if note.taken_by is not None]
        gone = set(taken[: max(0, len(taken) - TAKEN_MAX)])
        return Notes(last=self.last, notes=[note for note in self.notes if note.number not in gone])


async def leave(given: Leave, context: HandlerContext) -> Left:
    """Keep a note for whoever comes next."""
    for _ in range(TRIES):
        notes, revision = await _read(context)
        if len(notes.open) >= OPEN_MAX:
            raise HandlerFailed(f"{OPEN_MAX} notes wait already; take one first")
        note = Note(number=notes.last + 1, left_at=_now(context), **given.model_dump())
        kept = Notes(last=note.number, notes=[*notes.notes, note])
        if await _is_written(context, kept, revision):
            return Left(number=note.number, open=len(kept.open))
    raise _busy()


async def list_notes(given: Which, context: HandlerContext) -> Listed:
    """Tell which notes there are."""
    notes, _ = await _read(context)
    wanted = notes.open if given.state == "open" else [note for note in notes.notes if note.taken_by is not None]
    told = [note.model_dump(include=set(Summary.model_fields)) for note in wanted]
    return Listed(notes=[Summary(**summary) for summary in told])


async def take(given: Take, context: HandlerContext) -> Note:
    """Give a note to one agent, once."""
    for _ in range(TRIES):
        notes, revision = await _read(context)
        found = _wanted(notes, given.number)
        taken = found.model_copy(update={"taken_by": given.by, "taken_at": _now(context)})
        rest = [taken if note.number == found.number else note for note in notes.notes]
        if await _is_written(context, Notes(last=notes.last, notes=rest).without_oldest(), revision):
            return taken
    raise _busy()


def _wanted(notes: Notes, number: int | None) -> Note:
    if number is None:
        if not notes.open:
            raise HandlerFailed("no note waits")
        return notes.open[0]
    found = next((note for note in notes.notes if note.number == number), None)
    if found is None:
        raise HandlerFailed(f"there is no note {number}")
    if found.taken_by is not None:
        raise HandlerFailed(f"note {number} was taken by {found.taken_by} at {found.taken_at}")
    return found


async def _read(context: HandlerContext) -> tuple[Notes, int]:
    snapshot = await context.session.get()
    return Notes.model_validate(dict(snapshot.data)), snapshot.revision


async def _is_written(context: HandlerContext, notes: Notes, revision: int) -> bool:
    data: dict[str, Any] = notes.model_dump()
    try:
        await context.session.put(data, revision=revision)
    except SessionConflict:
        return False
    except TooMuch:
        raise HandlerFailed("the notes of this conversation are full; take some, or leave a shorter one") from None
    return True


def _busy() -> HandlerFailed:
    return HandlerFailed("too many calls change the notes at once; try again")


def _now(context: HandlerContext) -> str:
    return context.now().isoformat(timespec="seconds")


TOOLS = agent_tools(
    app="dev.ostiary.handoff",
    name="Handoff",
    version="1.0.0",
    description="Notes from one agent to the next one in the same conversation.",
    tools=[
        python_tool(
            "handoff.leave",
            leave,
            title="Leave a note",
            description=(
                "Leaves a structured note for the next agent of this conversation: where things stand, what is done,"
                " what comes next, what stands in the way. Use it when you stop before the work is finished."
            ),
            input=Leave,
            output=Left,
            confirm=Confirm.POLICY,
            readiness=Readiness.APP_READY,
        ),
        python_tool(
            "handoff.list",
            list_notes,
            title="List notes",
            description="Lists the notes of this conversation, oldest first: those that wait, or those that were taken.",
            input=Which,
            output=Listed,
            effect=Effect.READ,
            call_model=CallModel.QUERY,
            readiness=Readiness.APP_READY,
        ),
        python_tool(
            "handoff.take",
            take,
            title="Take a note",
            description=(
                "Gives you a whole note and marks it as taken, so that nobody else takes it. Without a number it is"
                " the one that waits longest. Use it before you go on with somebody's work."
            ),
            input=Take,
            output=Note,
            readiness=Readiness.APP_READY,
        ),
    ],
)
