"""The logs of conversations in memory."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gateway.domain.calls import Call, CallState
from gateway.domain.conversations import Asked, EndTold, EventTold, Following, Message, ReceiptTold, Talk
from gateway.testing.tables import Tables, Told


class MemoryConversations:
    """`Conversations` over dictionaries."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def follow(self, ref: str, following: Following) -> None:
        self._open(following.talk)
        if ref in self._tables.calls:
            self._tables.followed.setdefault((ref, following.talk), following.asked)

    def told_receipt(self, ref: str, at: int) -> None:
        call, receipt = self._tables.calls[ref], self._tables.receipts[ref][-1]
        for talk, _ in self._followers(ref):
            self._tell(talk, ref, ReceiptTold(seq=0, at=at, call=call, receipt=receipt))

    def told_end(self, call: Call, at: int) -> None:
        for talk, asked in self._followers(call.ref):
            told = EndTold(
                seq=0,
                at=at,
                call=call,
                asked=asked,
                state=call.state,
                code=call.code,
                message=call.message,
                result=None,
            )
            self._tell(talk, call.ref, told)

    def tell_event(self, talk: Talk, body: str, at: int) -> None:
        self._open(talk)
        self._tell(talk, None, EventTold(seq=0, at=at, body=body))

    def head(self, talk: Talk) -> int:
        return self._tables.conversations.get(talk, 0)

    def read(self, talk: Talk, *, after: int, limit: int) -> Sequence[Message]:
        own = [told for (name, seq), told in self._tables.messages.items() if name == talk and seq > after]
        return [self._present(told) for told in sorted(own, key=lambda told: told.message.seq)[:limit]]

    def purge(self, before: int, limit: int) -> int:
        old = [place for place, told in self._tables.messages.items() if told.message.at < before]
        old = sorted(old, key=lambda place: self._tables.messages[place].message.at)[:limit]
        for place in old:
            del self._tables.messages[place]
        return len(old)

    def forget_calls(self, refs: Iterable[str]) -> None:
        """Forget the messages of calls that are forgotten."""
        gone = frozenset(refs)
        for place in [place for place, told in self._tables.messages.items() if told.ref in gone]:
            del self._tables.messages[place]
        for place in [place for place in self._tables.followed if place[0] in gone]:
            del self._tables.followed[place]

    def leap(self, by: int) -> None:
        for talk in self._tables.conversations:
            self._tables.conversations[talk] += by

    def close(self, limit: int) -> int:
        used = {name for name, _ in self._tables.messages} | {name for _, name in self._tables.followed}
        used |= {Talk.of(session) for session in self._tables.sessions.values()}
        empty = [talk for talk in self._tables.conversations if talk not in used][:limit]
        for talk in empty:
            del self._tables.conversations[talk]
        return len(empty)

    def _open(self, talk: Talk) -> None:
        self._tables.conversations.setdefault(talk, 0)

    def _followers(self, ref: str) -> list[tuple[Talk, Asked]]:
        return [(name, asked) for (call, name), asked in self._tables.followed.items() if call == ref]

    def _tell(self, talk: Talk, ref: str | None, message: Message) -> None:
        seq = self._tables.conversations[talk] = self._tables.conversations[talk] + 1
        self._tables.messages[talk, seq] = Told(ref, replace(message, seq=seq))

    def _present(self, told: Told) -> Message:
        match told.message:
            case EventTold() as event:
                return event
            case ReceiptTold() as receipt:
                return replace(receipt, call=self._tables.calls[receipt.call.ref])
            case EndTold() as end:
                succeeded = end.state is CallState.SUCCEEDED
                result = self._tables.results.get(end.call.ref) if succeeded else None
                return replace(end, call=self._tables.calls[end.call.ref], result=result)
