"""What runs of mini apps, in memory: instances, activations, operations, app sessions."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from gateway.domain.activations import Activation, ActivationState
from gateway.domain.app_sessions import AppEntry, AppSession, EntryKind
from gateway.domain.calls import OPEN
from gateway.domain.instances import Instance, InstanceState
from gateway.domain.operations import Operation, OperationState
from gateway.runtime.ports import DuplicateKey, StaleState
from gateway.testing.session_data import MemorySessionDatas
from gateway.testing.tables import Tables


class MemoryInstances:
    """`Instances` over dictionaries."""

    def __init__(self, tables: Tables) -> None:
        self._rows = tables.instances
        self._tables = tables

    def add(self, instance: Instance) -> None:
        other = self.live(instance.user, instance.conversation, instance.app)
        if instance.id in self._rows or (instance.is_live and other):
            raise DuplicateKey(f"instance `{instance.id}`, or another live one of its app, is there")
        self._rows[instance.id] = instance

    def save(self, instance: Instance, *, was: InstanceState) -> None:
        stored = self._rows.get(instance.id)
        if stored is None or stored.state is not was:
            raise StaleState(f"instance `{instance.id}` is not `{was}`")
        self._rows[instance.id] = instance

    def find(self, instance: str) -> Instance | None:
        return self._rows.get(instance)

    def of_app_session(self, app_session: str) -> Instance | None:
        return next((i for i in self._rows.values() if i.app_session == app_session), None)

    def live(self, user: str, conversation: str, app: str) -> Instance | None:
        wanted = (user, conversation, app)
        return next((i for i in self.all_live() if (i.user, i.conversation, i.app) == wanted), None)

    def all_live(self) -> Sequence[Instance]:
        return self._those(lambda _: True)

    def live_on_page(self, page: str) -> Sequence[Instance]:
        return self._those(lambda instance: instance.page == page)

    def live_of_app(self, app: str) -> Sequence[Instance]:
        return self._those(lambda instance: instance.app == app)

    def due(self, now: int, limit: int) -> Sequence[Instance]:
        due = [(at, instance) for instance in self.all_live() if (at := instance.due_at) is not None and at <= now]
        return [instance for _, instance in sorted(due, key=lambda pair: (pair[0], pair[1].id))][:limit]

    def next_due(self) -> int | None:
        return min((at for instance in self.all_live() if (at := instance.due_at) is not None), default=None)

    def unowned(self, now: int, limit: int) -> Sequence[Instance]:
        granted = {(s.user, s.conversation) for s in self._tables.sessions.values() if s.is_live(now)}
        working = {(c.user, c.conversation, c.app) for c in self._tables.calls.values() if c.state in OPEN}
        return self._those(
            lambda i: (
                i.page is None
                and (i.user, i.conversation) not in granted
                and (i.user, i.conversation, i.app) not in working
            )
        )[:limit]

    def purge(self, closed_before: int, limit: int) -> int:
        ended = [(i.closed_at, i.id) for i in self._rows.values() if i.closed_at is not None]
        old = [name for at, name in sorted(ended) if at < closed_before][:limit]
        for name in old:
            del self._rows[name]
        return len(old)

    def _those(self, is_meant: Callable[[Instance], bool]) -> list[Instance]:
        live = [instance for instance in self._rows.values() if instance.is_live and is_meant(instance)]
        return sorted(live, key=lambda instance: (instance.opened_at, instance.id))


class MemoryActivations:
    """`Activations` over dictionaries."""

    def __init__(self, tables: Tables) -> None:
        self._rows = tables.activations

    def add(self, activation: Activation) -> None:
        other = self.live(activation.user, activation.conversation, activation.app)
        if activation.id in self._rows or (activation.is_live and other):
            raise DuplicateKey(f"activation `{activation.id}`, or another live one of its app, is there")
        self._rows[activation.id] = activation

    def save(self, activation: Activation, *, was: ActivationState) -> None:
        stored = self._rows.get(activation.id)
        if stored is None or stored.state is not was:
            raise StaleState(f"activation `{activation.id}` is not `{was}`")
        self._rows[activation.id] = activation

    def find(self, activation: str) -> Activation | None:
        return self._rows.get(activation)

    def live(self, user: str, conversation: str, app: str) -> Activation | None:
        wanted = (user, conversation, app)
        return next((a for a in self.all_live() if (a.user, a.conversation, a.app) == wanted), None)

    def live_of_instance(self, instance: str) -> Activation | None:
        return next((activation for activation in self.all_live() if activation.instance == instance), None)

    def all_live(self) -> Sequence[Activation]:
        live = [activation for activation in self._rows.values() if activation.is_live]
        return sorted(live, key=lambda activation: (activation.started_at, activation.id))

    def due(self, now: int, limit: int) -> Sequence[Activation]:
        due = [activation for activation in self.all_live() if activation.due_at <= now]
        return sorted(due, key=lambda activation: (activation.due_at, activation.id))[:limit]

    def next_due(self) -> int | None:
        return min((activation.due_at for activation in self.all_live()), default=None)

    def purge(self, ended_before: int, limit: int) -> int:
        ended = [(a.ended_at, a.id) for a in self._rows.values() if a.ended_at is not None]
        old = [name for at, name in sorted(ended) if at < ended_before][:limit]
        for name in old:
            del self._rows[name]
        return len(old)


class MemoryOperations:
    """`Operations` over dictionaries."""

    def __init__(self, tables: Tables) -> None:
        self._rows = tables.operations

    def add(self, operation: Operation) -> None:
        if operation.id in self._rows or self.find_of_call(operation.call):
            raise DuplicateKey(f"operation `{operation.id}`, or one of its call, is there")
        self._rows[operation.id] = operation

    def save(self, operation: Operation, *, was: OperationState) -> None:
        stored = self._rows.get(operation.id)
        if stored is None or stored.state is not was:
            raise StaleState(f"operation `{operation.id}` is not `{was}`")
        self._rows[operation.id] = operation

    def find(self, operation: str) -> Operation | None:
        return self._rows.get(operation)

    def find_of_call(self, ref: str) -> Operation | None:
        return next((operation for operation in self._rows.values() if operation.call == ref), None)

    def newest_of(self, app_session: str) -> Operation | None:
        own = [operation for operation in self._rows.values() if operation.app_session == app_session]
        return max(own, key=lambda operation: (operation.started_at, operation.id), default=None)

    def running(self, user: str, conversation: str, app: str) -> Sequence[Operation]:
        wanted = (user, conversation, app, OperationState.RUNNING)
        running = [o for o in self._rows.values() if (o.user, o.conversation, o.app, o.state) == wanted]
        return sorted(running, key=lambda operation: (operation.started_at, operation.id))

    def due(self, now: int, limit: int) -> Sequence[Operation]:
        due = [(at, o) for o in self._rows.values() if (at := o.due_at) is not None and at <= now]
        return [operation for _, operation in sorted(due, key=lambda pair: (pair[0], pair[1].id))][:limit]

    def next_due(self) -> int | None:
        return min((at for o in self._rows.values() if (at := o.due_at) is not None), default=None)


class MemoryAppSessions:
    """`AppSessions` over dictionaries."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, session: AppSession) -> None:
        if session.id in self._tables.app_sessions:
            raise DuplicateKey(f"app session `{session.id}` is there")
        self._tables.app_sessions[session.id] = session

    def save(self, session: AppSession) -> None:
        if session.id in self._tables.app_sessions:
            self._tables.app_sessions[session.id] = replace(session)

    def find(self, session: str) -> AppSession | None:
        return self._tables.app_sessions.get(session)

    def append(self, session: str, kind: EntryKind, *, ref: str, capability: str, state: str | None, at: int) -> None:
        earlier = self._tables.app_entries.get(session, ())
        entry = AppEntry(seq=len(earlier) + 1, kind=kind, ref=ref, capability=capability, state=state, at=at)
        self._tables.app_entries[session] = (*earlier, entry)

    def entries(self, session: str, *, after: int = 0, limit: int) -> Sequence[AppEntry]:
        return [entry for entry in self._tables.app_entries.get(session, ()) if entry.seq > after][:limit]

    def purge(self, ended_before: int, limit: int) -> int:
        ended = [(s.ended_at, s.id) for s in self._tables.app_sessions.values() if s.ended_at is not None]
        old = [name for at, name in sorted(ended) if at < ended_before][:limit]
        for name in old:
            del self._tables.app_sessions[name]
            self._tables.app_entries.pop(name, None)
            MemorySessionDatas(self._tables).erase(name)
        return len(old)
