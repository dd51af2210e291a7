"""The control socket over the store in memory: what comes back, what is refused, and what is never shown."""

import asyncio
import getpass
import json
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from capabilities.contract import Descriptor
from capabilities.registry import BUILTINS
from gateway.adapters.configuration_file import load, load_file
from gateway.adapters.executors.python_workers import PythonWorkers
from gateway.adapters.process_lock import hold_lock
from gateway.domain.audit import AuditEvent, ChainedRecord, Stream, chain
from gateway.domain.configuration import Configuration
from gateway.domain.pages import PageSession
from gateway.runtime.admin import Admin, Broken, Reloader
from gateway.runtime.admin.trail import Trail
from gateway.runtime.effects import KeyEnded, SessionEnded
from gateway.runtime.identity import Identity, hash_of, key_name
from gateway.runtime.mini_apps import MiniApps
from gateway.runtime.retention import Retention
from gateway.runtime.services import Services
from gateway.runtime.spine import Spine
from gateway.runtime.world import Live, LivePage, World
from gateway.testing import FakeClock, MemoryAppFiles, MemoryStore, SequentialIds
from gateway.transports.control import COMMANDS, SOCKET, CommandRefused, ControlClient, NoGateway, serve_control
from policy.vocabulary import Effect

pytestmark = pytest.mark.anyio

FILE = """\
version: 1
server: {builtins: [runtime.echo]}
sites:
  todo:
    address: http://localhost:3000/
    origins: [http://localhost:3000]
    users: [ada]
    expose: [todo.overview, todo.add]
agents:
  claude: {label: Claude Code}
rules:
  - {id: no-echo, agents: [claude], capabilities: [runtime.echo], verdict: forbid}
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Bench:
    """A gateway's administration without its doors."""

    data: Path
    store: MemoryStore = field(default_factory=MemoryStore)
    clock: FakeClock = field(default_factory=FakeClock)
    ended: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.file = self.data / "ostiary.yaml"
        self.file.write_text(FILE)
        self.spine, ids = Spine(self.store), SequentialIds()
        self.spine.on(SessionEnded, lambda effect: self.ended.append(effect.session))
        self.spine.on(KeyEnded, lambda effect: self.ended.append(effect.site))
        builtins = {name: builtin.descriptor for name, builtin in BUILTINS.items()}
        self.live = Live(World(configuration=load(FILE, "ostiary.yaml"), builtins=builtins))
        identity = Identity(spine=self.spine, live=self.live, clock=self.clock, ids=ids)
        retention = Retention(store=self.spine.store, live=self.live, clock=self.clock)
        self.apps = MemoryAppFiles()
        self.admin = Admin(
            spine=self.spine,
            live=self.live,
            clock=self.clock,
            ids=ids,
            identity=identity,
            retention=retention,
            mini_apps=MiniApps(
                spine=self.spine,
                live=self.live,
                clock=self.clock,
                files=self.apps,
                workers=PythonWorkers(self.clock),
            ),
        )

        async def apply(configuration: Configuration, *, by: str | None = None) -> None:
            self.live.configure(configuration, builtins)

        services = SimpleNamespace(
            live=self.live, clock=self.clock, spine=self.spine, reconfiguration=SimpleNamespace(apply=apply)
        )
        self.reloader = Reloader(services=cast("Services", services), path=self.file, load=load_file, judge=load)

    @asynccontextmanager
    async def served(self) -> AsyncGenerator[None]:
        async with serve_control(self.admin, self.reloader, self.data):
            yield

    async def ask(self, command: str, **parameters: Any) -> Any:
        def work() -> Any:
            with ControlClient(self.data) as client:
                return client.ask(command, parameters)

        return await asyncio.to_thread(work)

    async def refusal(self, command: str, **parameters: Any) -> tuple[str, str]:
        with pytest.raises(CommandRefused) as caught:
            await self.ask(command, **parameters)
        return caught.value.code, str(caught.value)

    async def grant(self, **more: Any) -> dict[str, Any]:
        asked = {"agent": "claude", "user": "ada", "sites": ["todo"], "scope": ["todo.*", "runtime.echo"], **more}
        return await self.ask("session.add", **asked)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncGenerator[Bench]:
    one = Bench(tmp_path)
    async with one.served():
        yield one


async def test_a_session_is_made_listed_and_revoked_and_each_change_is_audited(bench: Bench) -> None:
    made = await bench.grant(days=2)
    token = made.pop("token")
    assert token.startswith("ost_agent_")
    assert len(token) == len("ost_agent_") + 43
    assert made["expires_at"] - made["created_at"] == 2 * 86_400_000
    assert await bench.ask("session.list") == [made]

    revoked = await bench.ask("session.revoke", name=made["session"])
    assert (revoked["standing"], bench.ended) == ("revoked", [made["session"]])

    by = f"local:{getpass.getuser()}"
    trail = await bench.ask("audit.tail", stream="admin")
    assert [(r["event"], r["facts"]["session"], r["facts"]["by"]) for r in trail] == [
        (AuditEvent.SESSION_ADDED, made["session"], by),
        (AuditEvent.SESSION_REVOKED, made["session"], by),
    ]
    stored = await bench.store.run(lambda tx: tx.sessions.find(made["session"]))
    assert stored is not None
    assert stored.token_hash == hash_of(token)


async def test_a_key_holds_its_id_and_covers_what_the_site_exposes(bench: Bench) -> None:
    made = await bench.ask("site.key.add", site="todo")
    secret = made.pop("secret")
    assert key_name(secret) == made["key"]
    assert made["capabilities"] == ["todo.overview", "todo.add"]
    assert await bench.ask("site.key.list", site="todo") == [made]
    assert await bench.ask("site.key.list", site="other") == []
    assert (await bench.ask("site.key.revoke", name=made["key"]))["standing"] == "revoked"
    events = [record["event"] for record in await bench.ask("audit.tail")]
    assert events == [AuditEvent.KEY_ADDED, AuditEvent.KEY_REVOKED]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"agent": "cursor"}, "there is no agent `cursor`; declare it under `agents:` and reload"),
        ({"sites": ["shop"]}, "there is no site `shop`; declare it under `sites:` and reload"),
        ({"user": "bob"}, "site `todo` does not speak for user `bob`; see its `users:`"),
        ({"user": " "}, "a user is 1 to 256 visible characters, exactly as the site's backend names it"),
        ({"scope": ["*"]}, "`*` is neither a capability id nor a pattern like `todo.*`"),
        ({"days": 0}, "`0` days is not between 1 and 366"),
    ],
)
async def test_a_session_about_what_is_not_declared_is_refused_and_leaves_nothing(
    bench: Bench, change: dict[str, Any], said: str
) -> None:
    asked = {"agent": "claude", "user": "ada", "sites": ["todo"], "scope": ["todo.*"], **change}
    assert await bench.refusal("session.add", **asked) == ("bad_request", said)
    assert (await bench.ask("session.list"), await bench.ask("audit.tail")) == ([], [])


@pytest.mark.parametrize(
    ("command", "parameters"),
    [
        ("session.revoke", {"name": "sess_nobody"}),
        ("site.key.revoke", {"name": "nokey"}),
        ("site.key.add", {"site": "shop"}),
        ("calls.show", {"name": "call_nothing"}),
        ("explain", {"session": "sess_nobody", "capability": "todo.add"}),
        ("explain", {"session": "sess_nobody", "capability": "todo"}),
        ("session.add", {"agent": "claude"}),
        ("session.list", {"surplus": 1}),
        ("calls.list", {"limit": 0}),
        ("calls.list", {"limit": "5"}),
        ("audit.tail", {"stream": "gossip"}),
        ("shutdown", {}),
    ],
)
async def test_what_is_not_there_or_not_right_is_refused_in_words(
    bench: Bench, command: str, parameters: dict[str, Any]
) -> None:
    code, message = await bench.refusal(command, **parameters)
    assert code in {"bad_request", "not_found", "unknown_call"}
    assert "`" in message


async def test_explain_tells_every_stage_by_the_runtime_and_on_each_page(bench: Bench) -> None:
    session = (await bench.grant())["session"]
    told = await bench.ask("explain", session=session, capability="runtime.echo")
    (place,) = told["places"]
    assert (place["page"], place["verdict"], place["rules"]) == (None, "forbid", ["no-echo"])
    assert len(place["stages"]) == 9
    assert all({"stage", "outcome", "reason", "revision"} == stage.keys() for stage in place["stages"])

    assert (await bench.ask("explain", session=session, capability="todo.add"))["places"] == []
    for site, page in (("todo", "page_1"), ("shop", "page_2")):
        bench.live.put_page(live_page(page, site))
    told = await bench.ask("explain", session=session, capability="todo.add")
    assert {p["page"]["page"]: p["verdict"] for p in told["places"]} == {"page_1": "permit", "page_2": "forbid"}
    assert (await bench.ask("status"))["pages"][0]["user"] == "ada"


def live_page(name: str, site: str) -> LivePage:
    """A page of ada that declares `todo.add`."""
    session = PageSession(
        id=name,
        site=site,
        user="ada",
        origin="http://localhost:3000",
        resume_hash=b"",
        document="d",
        epoch=1,
        capabilities=("todo.*",),
        created_at=0,
        seen_at=0,
        standing_until=0,
    )
    declared = {"todo.add": Descriptor(id="todo.add", input_schema={}, effect=Effect.READ)}
    return LivePage(
        session=session, url="http://x/", title="", visible=True, visible_at=0, automated=False, capabilities=declared
    )


async def test_an_admin_token_is_made_listed_and_revoked_and_each_change_is_audited(bench: Bench) -> None:
    asked = {"name": "pipeline", "scopes": ["admin.read", "admin.keys"]}
    made = await bench.ask("admin_token.add", **asked, hours=12)
    secret = made.pop("token")
    assert secret.startswith("ost_admin_")
    assert len(secret) == len("ost_admin_") + 43
    assert made["expires_at"] - made["created_at"] == 12 * 3_600_000
    assert await bench.ask("admin_token.list") == [made]

    code, said = await bench.refusal("admin_token.add", **asked)
    assert (code, "`pipeline`" in said) == ("bad_request", True)
    assert (await bench.ask("admin_token.revoke", name="pipeline"))["standing"] == "revoked"
    assert (await bench.ask("admin_token.revoke", name=made["admin_token"]))["standing"] == "revoked"
    again = await bench.ask("admin_token.add", **asked)
    assert again["admin_token"] != made["admin_token"]

    records = await bench.ask("audit.tail", stream="admin")
    assert [record["event"] for record in records] == [
        "admin_token.added",
        "admin_token.revoked",
        "admin_token.added",
    ]
    assert records[0]["facts"] == {
        "admin_token": made["admin_token"],
        "name": "pipeline",
        "scope": ["admin.keys", "admin.read"],
        "expires_at": made["expires_at"],
        "by": f"local:{getpass.getuser()}",
    }
    assert secret not in json.dumps(records)


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "Pipeline"},
        {"name": "p" * 64},
        {"name": "pipe line"},
        {"scopes": []},
        {"scopes": ["admin.everything"]},
        {"hours": 0},
        {"hours": 366 * 24 + 1},
    ],
)
async def test_an_admin_token_that_makes_no_sense_is_refused(bench: Bench, wrong: dict[str, Any]) -> None:
    code, _ = await bench.refusal("admin_token.add", **{"name": "pipeline", "scopes": ["admin.read"], **wrong})
    assert code == "bad_request"
    assert await bench.ask("admin_token.list") == []


async def test_an_admin_token_nobody_made_is_not_found(bench: Bench) -> None:
    assert (await bench.refusal("admin_token.revoke", name="nobody"))[0] == "not_found"


async def test_an_expired_session_says_so(bench: Bench) -> None:
    await bench.grant(days=1)
    bench.clock.advance(86_400_000)
    assert [session["standing"] for session in await bench.ask("session.list")] == ["expired"]


@dataclass
class Meddled:
    """A store whose stored records somebody changed on the way."""

    store: MemoryStore
    meddle: Callable[[list[ChainedRecord]], list[ChainedRecord]]

    async def run(self, work: Any, heard: Any = None) -> Any:
        found: Any = await self.store.run(work, heard)
        # The walk reads records and checkpoints together, and before them where it begins.
        if found is None:
            return None
        records, checkpoints = found
        return self.meddle(list(records)), checkpoints

    async def back_up(self, target: Path) -> None: ...

    async def close(self) -> None: ...


def rewritten(records: list[ChainedRecord]) -> list[ChainedRecord]:
    return [replace(r, body=r.body.replace(b"ada", b"eve")) if r.seq == 2 else r for r in records]


def rewritten_and_chained(records: list[ChainedRecord]) -> list[ChainedRecord]:
    """Whoever recomputes one value still meets the next record."""
    return [replace(r, hash=chain(records[0].hash, r.body)) if r.seq == 2 else r for r in rewritten(records)]


def cut(records: list[ChainedRecord]) -> list[ChainedRecord]:
    return [r for r in records if r.seq != 1]


@pytest.mark.parametrize(
    ("meddle", "seq", "what"),
    [
        (rewritten, 2, "the chain value does not follow from the text and the record before"),
        (rewritten_and_chained, 3, "the chain value does not follow from the text and the record before"),
        (cut, 2, "record 1 is missing"),
    ],
)
async def test_verify_names_the_first_bad_record(bench: Bench, meddle: Any, seq: int, what: str) -> None:
    for _ in range(3):
        await bench.grant()
    assert (await bench.ask("audit.verify")).items() >= {"intact": True, "records": 3, "streams": 1}.items()
    found = await Trail(Meddled(bench.store, meddle)).verify()
    assert found.broken == (Broken(stream=Stream.ADMIN, seq=seq, what=what),)


async def test_following_starts_where_the_last_look_ended(bench: Bench) -> None:
    await bench.grant()
    seen = {record["stream"]: record["seq"] for record in await bench.ask("audit.tail")}
    assert await bench.ask("audit.after", seen=seen) == []
    await bench.grant()
    assert [r["seq"] for r in await bench.ask("audit.after", seen=seen)] == [2]


async def test_a_broken_file_keeps_the_old_one_and_is_audited_without_its_text(bench: Bench) -> None:
    kept = bench.live.world.configuration
    bench.file.write_text("version: 1\npassword-of-ada: hunter2\n")
    answer = await bench.ask("reload")
    assert answer["accepted"] is False
    assert "ostiary.yaml:2:1: unknown key `password-of-ada`" in answer["message"]
    assert f"`{kept.revision}` stays in force" in answer["message"]
    assert bench.live.world.configuration is kept
    (record,) = await bench.admin.audit_tail(stream=Stream.ADMIN)
    assert record.event is AuditEvent.CONFIGURATION_REFUSED
    assert record.facts["places"] == [f"{bench.file}:2:1"]
    assert "hunter2" not in str(record)
    assert "password" not in str(record)


async def test_a_good_file_is_taken_over_and_says_what_waits_for_a_start(bench: Bench) -> None:
    bench.file.write_text('version: 1\nserver: {listen: "127.0.0.1:9999"}\n')
    answer = await bench.ask("reload")
    revision = bench.live.world.configuration.revision
    assert answer == {"accepted": True, "message": f"loaded `{revision}`; from the next start on: `server.listen`"}
    assert (await bench.ask("status"))["policy"] == revision


async def test_the_socket_is_for_its_owner_and_goes_with_the_gateway(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(tmp_path / SOCKET))
    stale.close()
    with hold_lock(tmp_path):
        async with bench.served():
            assert (tmp_path / SOCKET).stat().st_mode & 0o777 == 0o600
            assert await bench.ask("agent.list") == [{"agent": "claude", "label": "Claude Code"}]
    assert not (tmp_path / SOCKET).exists()
    with pytest.raises(NoGateway):
        ControlClient(tmp_path)


async def raw(bench: Bench, *lines: bytes) -> list[dict[str, Any]]:
    """Send `lines` as they are; the answers until the gateway hangs up or as many have come."""
    reader, writer = await asyncio.open_unix_connection(str(bench.data / SOCKET))
    answers: list[dict[str, Any]] = []
    for line in lines:
        writer.write(line)
        async with asyncio.timeout(5):
            answers.append(json.loads(await reader.readline() or b"null"))
    writer.close()
    return answers


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"not json\n", "bad_json"),
        (b'{"command":"agent.list","command":"site.list","parameters":{}}\n', "bad_json"),
        (b'{"command":"agent.list"}\n', "bad_request"),
        (b'{"command":1,"parameters":{}}\n', "bad_request"),
        (b'{"command":"agent.list","parameters":{},"by":"local:root"}\n', "bad_request"),
        (b"x" * 70_000 + b"\n", "body_too_large"),
    ],
)
async def test_a_line_that_is_no_request_is_refused_and_the_gateway_lives(
    bench: Bench, line: bytes, code: str
) -> None:
    (answer,) = await raw(bench, line)
    assert (answer["ok"], answer["code"]) == (False, code)
    assert await bench.ask("site.list")


async def test_one_connection_takes_many_commands_by_turns(bench: Bench) -> None:
    line = b'{"command":"agent.list","parameters":{}}\n'
    assert [answer["ok"] for answer in await raw(bench, line, b"{}\n", line)] == [True, False, True]


async def test_a_store_that_cannot_commit_is_told_and_changes_nothing(bench: Bench) -> None:
    bench.store.is_failing = True
    code, message = await bench.refusal("site.key.add", site="todo")
    assert (code, "nothing was changed" in message) == ("store_unavailable", True)


async def test_every_command_refuses_what_it_does_not_know(bench: Bench) -> None:
    assert {name for name, row in COMMANDS.items() if row.parameters.model_config.get("extra") != "forbid"} == set()
