"""How many examples there are, what they are made of, and a gateway in this process to send them to.

`OSTIARY_FUZZ_EXAMPLES` sets how many each property gets: a few in `make test`, as many as wanted by `make fuzz`.
"""

# Examples are any JSON at all: their types would say nothing.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownMemberType=false

import asyncio
import os
from collections.abc import Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import hypothesis
from hypothesis import strategies as st

from gateway.bootstrap import Gateway, build
from gateway.domain.admin_tokens import AdminScope
from gateway.domain.configuration import Configuration
from gateway.domain.sites import AgentProfile
from gateway.settings import Limits, Server
from tests.support.mcp_gateway import site

T = TypeVar("T")

EXAMPLES: Final = int(os.environ.get("OSTIARY_FUZZ_EXAMPLES", "0"))
"""0: each property's own few."""

PORT: Final = 8460
HOST: Final = f"127.0.0.1:{PORT}"
ORIGIN: Final = f"http://{HOST}"
CONVERSATION: Final = "conv_1"

_ALL_CHECKS: Final[Any] = list(hypothesis.HealthCheck)
"""A busy machine is slow at making examples, which says nothing about us."""

RawHeaders = Sequence[tuple[bytes, bytes]]


def examples(few: int) -> hypothesis.settings:
    """The same `few` in every short run, so that a failure there is a change; other ones in a long run."""
    return hypothesis.settings(
        max_examples=EXAMPLES or few,
        deadline=None,
        derandomize=not EXAMPLES,
        database=None,
        suppress_health_check=_ALL_CHECKS,
    )


# ---- what examples are made of ----------------------------------------------------------------------------------

numbers = st.one_of(
    st.integers(),
    st.sampled_from([2**53 - 1, 2**53, -(2**53), 2**63, 2**64, 10**21, 10**400]),
    st.floats(),
    st.sampled_from([1e20, 1e21, 9007199254740992.0, -0.0]),
)
texts = st.text(max_size=12) | st.sampled_from(["", "\x00", "\ud800", "\u2028", "a" * 400, "../..", "*", "é", "😀"])
leaves = st.none() | st.booleans() | numbers | texts
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)

calm_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
calm = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 10**6) | calm_texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(calm_texts, inner, max_size=3),
    max_leaves=5,
)
"""What the strict reader has nothing against, so that whatever comes behind it is asked."""


def deep(depth: int, *, key: str | None = None) -> Any:
    """An array within an array, or an object within an object."""
    value: Any = 1
    for _ in range(depth):
        value = [value] if key is None else {key: value}
    return value


# The deepest are as deep as the strict reader lets anything through.
odd = values | st.builds(deep, st.sampled_from([63, 64, 65, 200, 1_020]), key=st.sampled_from([None, "a"]))

strange = calm | odd


def one_strange(good: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """`good` as it is; with one member changed, at any depth; with one taken out; with one that nobody knows."""
    places: list[tuple[str, ...]] = []

    def collect(value: Any, path: tuple[str, ...]) -> None:
        for key, item in value.items() if isinstance(value, dict) else ():
            places.append((*path, key))
            collect(item, (*path, key))

    def changed(path: tuple[str, ...], new: Any, *, is_gone: bool) -> dict[str, Any]:
        whole: dict[str, Any] = deepcopy(dict(good))
        inner = whole
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = new
        if is_gone:
            del inner[path[-1]]
        return whole

    collect(dict(good), ())
    gone = st.sampled_from([False, False, False, True])
    return st.just(dict(good)) | st.builds(changed, st.sampled_from([*places, ("x",)]), strange, is_gone=gone)


header_values = st.one_of(
    st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF, exclude_characters="\x7f"), max_size=40),
    st.text("0123456789abcdefABCDEF:.[]%,-=@/ \t*\"';_~", max_size=60),
).map(lambda text: text.encode("latin-1"))
"""What a server's own reader lets through as the value of a header."""


def mutated(text: bytes) -> st.SearchStrategy[bytes]:
    """`text`, and `text` with some bytes taken out and others put in."""

    def cut(at: int, length: int, new: bytes) -> bytes:
        at %= len(text) + 1
        return text[:at] + new + text[at + length :]

    new = st.binary(max_size=4) | st.sampled_from(
        [b"{", b"[", b'"', b"\\", b"\xff", b"\x00", b"1e999", b",", b"\\ud800"]
    )
    return st.just(text) | st.builds(cut, st.integers(0, 4_096), st.integers(0, 6), new)


# ---- a gateway in this process ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes


class InProcess:
    """A whole gateway behind its edge, without a socket. `ask` is one request, and raises what the gateway raises."""

    def __init__(self, runner: asyncio.Runner, gateway: Gateway, token: str, key: str, admin: str) -> None:
        self._runner = runner
        self.gateway = gateway
        self.token = token
        self.key = key
        self.admin = admin

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something on its loop."""
        return self._runner.run(work)

    def ask(
        self,
        method: str,
        path: str,
        headers: RawHeaders,
        body: bytes = b"",
        *,
        peer: str = "127.0.0.1",
        query: bytes = b"",
    ) -> Answered:
        """One request of `peer`, who hangs up once the answer begins to come."""
        return self._runner.run(self._ask(method, path, headers, body, peer, query))

    async def _ask(
        self, method: str, path: str, headers: RawHeaders, body: bytes, peer: str, query: bytes
    ) -> Answered:
        begun, parts, sent = asyncio.Event(), list[dict[str, Any]](), [False]

        async def receive() -> dict[str, Any]:
            if not sent[0]:
                sent[0] = True
                return {"type": "http.request", "body": body, "more_body": False}
            await begun.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            parts.append(message)
            if message["type"] == "http.response.body":
                begun.set()

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query,
            "root_path": "",
            "headers": list(headers),
            "client": (peer, 40_000),
            "server": ("127.0.0.1", PORT),
            "state": {},
        }
        async with asyncio.timeout(60):
            await self.gateway.app(scope, receive, send)
        start = next(part for part in parts if part["type"] == "http.response.start")
        return Answered(
            status=start["status"],
            headers={name.decode("latin-1"): value.decode("latin-1") for name, value in start["headers"]},
            body=b"".join(part.get("body", b"") for part in parts if part["type"] == "http.response.body"),
        )


@contextmanager
def in_process(data: Path, **server: Any) -> Generator[InProcess]:
    """Run one until the block ends; `server` are fields of its settings."""
    plain: dict[str, Any] = {"listen_port": PORT, "public_url": ORIGIN, "builtins": ("runtime.echo",)}
    configuration = Configuration(
        revision="policy-000000000001",
        server=Server(**{**plain, **server}),
        limits=Limits(
            calls_per_minute=10_000_000,
            calls_burst=1_000_000,
            requests_per_minute=10_000_000,
            requests_burst=1_000_000,
            ledger_open=100_000,
        ),
        sites={"todo": site("todo")},
        agents={"coder": AgentProfile(name="coder", label="Coder")},
        rules=(),
    )
    with asyncio.Runner() as runner:
        end = asyncio.Event()

        async def hold(ready: asyncio.Future[InProcess]) -> None:
            async with build(configuration, data) as gateway:
                admin = gateway.services.admin
                scope = ["runtime.*", "todo.*"]
                grant = await admin.add_session(
                    "coder", user="ada", sites=["todo"], scope=scope, conversation=CONVERSATION, by="test"
                )
                key = (await admin.add_key("todo", capabilities=["todo.*"], by="test")).secret
                all_of_it = [scope.value for scope in AdminScope]
                secret = (await admin.tokens.add("fuzzer", scopes=all_of_it, by="test")).secret
                ready.set_result(InProcess(runner, gateway, grant.token, key, secret))
                await end.wait()

        async def start() -> tuple[InProcess, "asyncio.Task[None]"]:
            ready: asyncio.Future[InProcess] = asyncio.get_running_loop().create_future()
            task = asyncio.create_task(hold(ready))
            await asyncio.wait([ready, task], return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                task.result()
            return ready.result(), task

        async def stop(task: "asyncio.Task[None]") -> None:
            end.set()
            await task

        running, task = runner.run(start())
        try:
            yield running
            assert runner.run(running.gateway.services.admin.audit_verify()).is_intact
        finally:
            runner.run(stop(task))
