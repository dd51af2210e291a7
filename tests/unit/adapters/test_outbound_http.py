"""One request, to an address that was checked, with an answer of bounded size: `OutboundHttp` over a server here."""

import asyncio
import datetime
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gateway.adapters.outbound_http import ANSWER_BYTES, GuardedHttp
from gateway.domain.outbound import Target, target_of
from gateway.domain.workers import Denial, Inbound, Outbound, ServiceDenied

pytestmark = pytest.mark.anyio

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-Two: a\r\nX-Two: b\r\n\r\nbody"


@dataclass
class Server:
    """What it answers, and what it was sent."""

    port: int = 0
    heads: list[str] = field(default_factory=list[str])
    answer: bytes = OK
    holds: bool = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        if self.holds:
            await reader.read()
        writer.write(self.answer)
        writer.close()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def serving(tls: ssl.SSLContext | None = None) -> AsyncGenerator[Server]:
    server = Server()
    async with await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls) as listening:
        server.port = listening.sockets[0].getsockname()[1]
        yield server


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving() as made:
        yield made


class Names:
    """A resolver that says what the test says, and counts."""

    def __init__(self, *answers: list[str]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        if not self._answers:
            raise OSError
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def at(server: Server, path: str = "/a?b=c", host: str = "api.example.com", scheme: str = "http") -> Target:
    return target_of(f"{scheme}://{host}:{server.port}{path}")


def get(**how: Any) -> Outbound:
    return replace(Outbound(method="GET", url="", within_ms=5_000), **how)


async def send(
    http: GuardedHttp, target: Target, *, is_internal: bool = True, **how: Any
) -> Inbound | tuple[Denial, str]:
    try:
        return await http.send(get(**how), target, is_internal=is_internal)
    except ServiceDenied as denied:
        return denied.denial, denied.message


def denial(answer: Inbound | tuple[Denial, str]) -> Denial | None:
    return answer[0] if isinstance(answer, tuple) else None


async def test_a_request_goes_to_the_address_and_names_the_host(server: Server) -> None:
    names = Names(["127.0.0.1"])
    answer = await send(GuardedHttp(resolve=names), at(server), headers=(("x-a", "b"), ("user-agent", "mine")))
    assert isinstance(answer, Inbound)
    assert (answer.status, answer.body, dict(answer.headers)["x-two"]) == (200, b"body", "a, b")
    lines = server.heads[0].split("\r\n")
    assert lines[0] == "GET /a?b=c HTTP/1.1"
    named = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in lines[1:] if line}
    assert named["host"] == f"api.example.com:{server.port}"
    assert (named["accept-encoding"], named["x-a"], named["user-agent"]) == ("identity", "b", "mine")
    assert names.asked == ["api.example.com"]


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.1.2.3"],
        ["169.254.169.254"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["8.8.8.8", "127.0.0.1"],
        ["127.0.0.1", "8.8.8.8"],
    ],
)
async def test_a_name_that_leads_anywhere_private_is_not_asked(server: Server, addresses: list[str]) -> None:
    answer = await send(GuardedHttp(resolve=Names(addresses)), at(server), is_internal=False)
    assert denial(answer) is Denial.NOT_PERMITTED
    assert server.heads == []


async def test_a_name_that_changes_its_mind_is_asked_where_it_was_checked(server: Server) -> None:
    """DNS rebinding: the second answer is never looked at."""
    names = Names(["127.0.0.1"], ["192.0.2.1"])
    assert isinstance(await send(GuardedHttp(resolve=names), at(server)), Inbound)
    assert len(names.asked) == len(server.heads) == 1


async def test_a_redirect_is_an_answer(server: Server) -> None:
    server.answer = b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"
    answer = await send(GuardedHttp(resolve=Names(["127.0.0.1"])), at(server))
    assert isinstance(answer, Inbound)
    assert (answer.status, dict(answer.headers)["location"]) == (302, "http://169.254.169.254/")
    assert len(server.heads) == 1


@pytest.mark.parametrize(("size", "is_refused"), [(ANSWER_BYTES, False), (ANSWER_BYTES + 1, True)])
@pytest.mark.parametrize("told", [True, False])
async def test_an_answer_has_a_largest_size_whether_or_not_it_tells_it(
    server: Server, size: int, is_refused: bool, told: bool
) -> None:
    head = f"Content-Length: {size}\r\n" if told else "Connection: close\r\n"
    server.answer = f"HTTP/1.1 200 OK\r\n{head}\r\n".encode() + bytes(size)
    answer = await send(GuardedHttp(resolve=Names(["127.0.0.1"])), at(server))
    assert denial(answer) is (Denial.TOO_MUCH if is_refused else None)


async def test_what_is_packed_stays_packed(server: Server) -> None:
    """Unpacked, it could be a thousand times as large."""
    server.answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08"
    answer = await send(GuardedHttp(resolve=Names(["127.0.0.1"])), at(server))
    assert isinstance(answer, Inbound)
    assert answer.body == b"\x1f\x8b\x08"


async def test_a_server_that_does_not_answer_is_not_waited_for_longer_than_told(server: Server) -> None:
    server.holds = True
    assert denial(await send(GuardedHttp(resolve=Names(["127.0.0.1"])), at(server), within_ms=100)) is (
        Denial.REQUEST_FAILED
    )


async def test_the_next_address_of_a_name_is_tried_where_nobody_is_at_the_first(server: Server) -> None:
    answer = await send(GuardedHttp(resolve=Names(["127.0.0.9", "127.0.0.1"])), at(server))
    assert isinstance(answer, Inbound)


@pytest.mark.parametrize("answers", [(), (["127.0.0.9"],)])
async def test_a_name_without_an_address_or_a_server_fails(server: Server, answers: tuple[list[str], ...]) -> None:
    assert denial(await send(GuardedHttp(resolve=Names(*answers)), at(server))) is Denial.REQUEST_FAILED


async def test_an_answer_that_is_no_http_fails(server: Server) -> None:
    server.answer = b"SSH-2.0-OpenSSH\r\n\r\n"
    assert denial(await send(GuardedHttp(resolve=Names(["127.0.0.1"])), at(server))) is Denial.REQUEST_FAILED


async def test_the_proxies_of_the_environment_are_not_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert isinstance(await send(GuardedHttp(resolve=Names(["127.0.0.1"])), at(server)), Inbound)


async def test_a_machines_own_resolver_is_the_one_that_is_asked() -> None:
    answer = await send(GuardedHttp(), target_of("http://localhost:1/"), is_internal=False)
    assert denial(answer) is Denial.NOT_PERMITTED


# ---- https -------------------------------------------------------------------------------------------------------


@pytest.fixture
def certified(tmp_path: Path) -> tuple[ssl.SSLContext, Callable[[], ssl.SSLContext]]:
    """A server's context with a certificate for `api.example.com`, and contexts that trust it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    begun = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begun)
        .not_valid_after(begun + datetime.timedelta(days=36_500))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("api.example.com")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, secret = tmp_path / "cert.pem", tmp_path / "key.pem"
    pem.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, secret)
    return context, lambda: ssl.create_default_context(cafile=pem)


@pytest.mark.parametrize(("host", "is_good"), [("api.example.com", True), ("other.example.com", False)])
async def test_the_certificate_has_to_be_the_names_though_an_address_is_asked(
    certified: tuple[ssl.SSLContext, Callable[[], ssl.SSLContext]], host: str, is_good: bool
) -> None:
    context, trusting = certified
    async with serving(context) as server:
        http = GuardedHttp(resolve=Names(["127.0.0.1"]), tls=trusting())
        answer = await send(http, at(server, host=host, scheme="https"))
        assert isinstance(answer, Inbound) == is_good
        assert bool(server.heads) == is_good
