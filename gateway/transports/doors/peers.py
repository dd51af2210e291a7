"""Which address a request came from, and under which name, where proxies stand in front of the gateway.

`X-Forwarded-*` is believed of a trusted proxy only, and only its nearest entries: what stands further left was
written by whoever knocked. `Forwarded` (RFC 7239) is not read.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

from starlette.types import Scope

UNKNOWN: Final = "unknown"
"""The peer of a connection that has no address."""

_FOR: Final = b"x-forwarded-for"
_HOST: Final = b"x-forwarded-host"
_SCHEME: Final = b"x-forwarded-proto"
_SCHEMES: Final = {"http": {"http": "http", "https": "https"}, "websocket": {"http": "ws", "https": "wss"}}

RawHeaders = Sequence[tuple[bytes, bytes]]


@lru_cache(maxsize=4_096)
def address_of(text: str) -> str | None:
    """The one spelling of an address, without a port; None for what is none."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    # A zone is free text.
    if "%" in text:
        return None
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


@lru_cache(maxsize=4_096)
def party_of(peer: str) -> str:
    """Whose requests are limited together: an IPv4 address, or the /64 one IPv6 customer holds."""
    if ":" not in peer:
        return peer
    return str(ip_network((peer, 64), strict=False))


@lru_cache(maxsize=16)
def trusts(networks: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether an address lies in one of `networks` (CIDR)."""
    trusted = [ip_network(network) for network in networks]
    if not trusted:
        return lambda _: False

    @lru_cache(maxsize=4_096)
    def is_trusted(peer: str) -> bool:
        if peer == UNKNOWN:
            return False
        address = ip_address(peer)
        return any(address in network for network in trusted)

    return is_trusted


class Proxies:
    """The trusted proxies of one configuration."""

    def __init__(self, networks: tuple[str, ...]) -> None:
        self.trusts = trusts(networks)

    def seen_through(self, scope: Scope) -> Scope:
        """The scope as its client sent it: `client` is the peer, `Host` and scheme what the proxy was asked for."""
        client = scope.get("client")
        peer = (address_of(client[0]) if client else None) or UNKNOWN
        if not self.trusts(peer):
            return scope if client and client[0] == peer else {**scope, "client": (peer, 0)}
        headers: RawHeaders = scope["headers"]
        seen = {**scope, "client": (self._peer(peer, _values(headers, _FOR)), 0)}
        hosts, schemes = _values(headers, _HOST), _values(headers, _SCHEME)
        if hosts:
            kept = [(name, value) for name, value in headers if name != b"host"]
            seen["headers"] = [(b"host", hosts[-1].encode("latin-1")), *kept]
        if schemes:
            seen["scheme"] = _SCHEMES[scope["type"]].get(schemes[-1].lower(), scope["scheme"])
        return seen

    def _peer(self, proxy: str, hops: list[str]) -> str:
        """The right-most hop nobody vouches for; what is no address is nobody's, so the hop before it counts."""
        peer = proxy
        for hop in reversed(hops):
            address = address_of(hop)
            if address is None:
                break
            peer = address
            if not self.trusts(address):
                break
        return peer


def is_forwarded(headers: RawHeaders) -> bool:
    """Whether some proxy, trusted or not, claims to have been asked for another host."""
    return any(name == _HOST for name, _ in headers)


def _values(headers: RawHeaders, wanted: bytes) -> list[str]:
    lines = [value.decode("latin-1") for name, value in headers if name == wanted]
    return [item.strip() for line in lines for item in line.split(",") if item.strip()]
