"""The parent's own memory: what agents were told, what the page did. No kill touches it; the judge starts from it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.domain.mini_apps import AppState

FINAL: Final = frozenset({"succeeded", "failed", "denied", "expired", "cancelled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request an agent made, and may make again with the same key."""

    agent: str
    capability: str
    title: str
    call_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One answer that named a call. `result` and `code` are there where it ended."""

    ref: str
    status: str
    asked: Asked
    result: Any = None
    code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transmission:
    """One Surface invoke as it was sent, byte for byte, whose answer named `ref`."""

    headers: Mapping[str, str]
    body: bytes
    ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AppStanding:
    """Where a mini app stands, and in which version."""

    state: AppState
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Something said before that a later answer takes back."""

    clause: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One message of a conversation as it came over a stream; `status` is that of its receipt or end."""

    kind: str
    call_id: str
    status: str
    seq: int | None = None


@dataclass(eq=False)
class Memory:
    """All of one lineage."""

    told: dict[str, list[Told]] = field(default_factory=dict[str, list[Told]])
    by_key: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    transmissions: list[Transmission] = field(default_factory=list[Transmission])
    refused: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """(agent, call_id) of requests that were refused; nothing may be left of them."""
    _tried: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    effects: Counter[str] = field(default_factory=Counter[str])
    """How often the page did the work of each ref."""
    asked_to_run: Counter[str] = field(default_factory=Counter[str])
    outputs: dict[str, Any] = field(default_factory=dict[str, Any])
    """What the page answered for each ref."""
    epochs: dict[str, int] = field(default_factory=dict[str, int])
    """The highest epoch each page session was welcomed with."""
    used_tickets: list[str] = field(default_factory=list[str])
    contradictions: list[Contradiction] = field(default_factory=list[Contradiction])
    heard: dict[int, Heard] = field(default_factory=dict[int, Heard])
    """What came over the stream of the conversation, by place."""
    taken: set[str] = field(default_factory=set[str])
    """The call_ids the agent that speaks LineUp was told are calls."""
    delivered: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """When the consumer of the outbox took each event, counted over all it took."""
    events: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """Every event it took, by id."""
    answers: int = 0
    """Answers that named a call."""
    app: AppStanding = field(default_factory=lambda: AppStanding(state=AppState.ABSENT))
    """Where the administrator was last told that the app stands."""
    app_pending: AppStanding | None = None
    """What a command makes of the app that was sent and not answered."""

    def hear(self, told: Told) -> None:
        """Take an answer in, and note where it contradicts an earlier one."""
        self.answers += 1
        earlier = self.told.setdefault(told.ref, [])
        for before in earlier:
            if before.status in FINAL and (before.status, before.result) != (told.status, told.result):
                self.contradict("a final answer stays", f"{told.ref} was {before}, now {told}")
        earlier.append(told)
        if told.asked.call_id is not None:
            key = (told.asked.agent, told.asked.call_id)
            known = self.by_key.setdefault(key, told.ref)
            if known != told.ref:
                self.contradict("a repeated call_id is the same call", f"{key} was {known}, now {told.ref}")

    def ask(self, asked: Asked) -> bool:
        """A request is about to be sent; whether it is the first with its key."""
        if asked.call_id is None:
            return False
        key = (asked.agent, asked.call_id)
        is_first = key not in self._tried
        self._tried.add(key)
        # Asked once more it may become the call it was not, and the answer that says so may never come.
        self.refused.discard(key)
        return is_first

    def refuse(self, asked: Asked) -> None:
        """The first request with its key was refused before it was a call."""
        assert asked.call_id is not None
        self.refused.add((asked.agent, asked.call_id))

    @property
    def place(self) -> int:
        """The place a reader of the conversation goes on after."""
        return max(self.heard, default=0)

    def listen(self, place: int, heard: Heard) -> None:
        """Take a message of the conversation in; the reader named its last place, so the next one comes next."""
        if place != self.place + 1:
            self.contradict("a conversation is told whole, and once", f"{place} came after {self.place}: {heard}")
        self.heard[place] = heard

    def welcome(self, page: str, epoch: int) -> None:
        """The page was welcomed."""
        if epoch < self.epochs.get(page, 0):
            self.contradict("a page's epoch never goes back", f"{page} was {self.epochs[page]}, now {epoch}")
        self.epochs[page] = max(epoch, self.epochs.get(page, 0))

    def take(self, event: dict[str, Any]) -> None:
        """The consumer took an event."""
        self.delivered.setdefault(event["id"], []).append(sum(map(len, self.delivered.values())))
        self.events[event["id"]] = event

    def contradict(self, clause: str, detail: str) -> None:
        """Note what cannot be."""
        self.contradictions.append(Contradiction(clause=clause, detail=detail))
