"""Which names the gateway answers to: the guard against DNS rebinding."""

from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from gateway.domain.errors import ErrorCode, GatewayError
from gateway.settings import Server

_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost", "0.0.0.0", "::"})  # noqa: S104 - names, not a bind
_PORTS: Final = {"http": 80, "https": 443}


def public_host(server: Server) -> str:
    """What a client writes into `Host` when it goes to the public address."""
    return urlsplit(server.public_url).netloc.lower()


@lru_cache(maxsize=16)
def allowed_hosts(server: Server) -> frozenset[str]:
    """Host headers this gateway answers to, lower case: the public name, the listening address, the configured.

    A name without a port is answered with the port of the public scheme too, and the other way round: proxies
    and clients differ in whether they write it.
    """
    public = urlsplit(server.public_url)
    names = {host.lower() for host in server.hosts} | {public.netloc.lower()}
    port = f":{_PORTS[public.scheme]}"
    names |= {name.removesuffix(port) for name in names} | {name + port for name in names if not _has_port(name)}
    listening = _LOOPBACK if server.listen_host in _LOOPBACK else {server.listen_host}
    for name in listening - {"0.0.0.0", "::"}:  # noqa: S104 - names, not a bind
        names.add(f"[{name}]:{server.listen_port}" if ":" in name else f"{name.lower()}:{server.listen_port}")
    return frozenset(names)


def judge_host(server: Server, headers: Headers) -> None:
    """Refuse a request that came under another name.

    Raises:
        GatewayError: `host_refused`.
    """
    judge_hosts(allowed_hosts(server), headers.getlist("host"))


def is_ours(allowed: frozenset[str], given: list[str]) -> bool:
    """Whether `given` is one name, and one of `allowed`."""
    return len(given) == 1 and given[0].lower() in allowed


def judge_hosts(allowed: frozenset[str], given: list[str]) -> None:
    """Refuse anything but one name of `allowed`.

    Raises:
        GatewayError: `host_refused`. The name itself goes to the log, not to the wire.
    """
    if not is_ours(allowed, given):
        raise GatewayError(ErrorCode.HOST_REFUSED, "this gateway does not answer to that host name")


def _has_port(name: str) -> bool:
    return name.rpartition("]")[2].rpartition(":")[1] == ":"
