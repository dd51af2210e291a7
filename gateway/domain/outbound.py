"""Where a handler's outbound request may go: what its address says, and which addresses of machines are nobody's
business but the operator's. Pure: names are resolved elsewhere.

The attack is server-side request forgery: a declared name that leads to the gateway's own network, a cloud's
metadata service, or the loopback interface.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import urlsplit

PORTS: Final = {"http": 80, "https": 443}

_PRINTABLE: Final = re.compile(r"[!-~]{1,8192}")
_HOST: Final = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
_VALUE: Final = re.compile(r"[\t -~]{0,8192}")

OURS: Final = frozenset(
    {
        *("host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade"),
        *("accept-encoding", "expect", "proxy-authorization", "proxy-connection", "forwarded", "via"),
    }
)
"""Headers a handler does not set: they say how the message travels, or who the gateway is to others."""

_TRANSLATED: Final = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
"""NAT64: the last four bytes are an IPv4 address, which a translator may well reach (RFC 6052, RFC 8215)."""

_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")

_SPECIAL: Final = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"), IPv6Network("3fff::/20"))
"""Set aside by IANA for protocols and for documentation; Python's own tables do not have all of them."""


class AddressRefused(ValueError):
    """The address of a request is not one a handler may ask; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A judged address. `path` begins with `/` and holds the query."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """What the `Host` header says."""
        return self.host if self.port == PORTS[self.scheme] else f"{self.host}:{self.port}"

    def is_permitted_by(self, permissions: Collection[str]) -> bool:
        """Whether it is declared: `http:host` for the scheme's own port, `http:host:port` for exactly that one."""
        return f"http:{self.host}:{self.port}" in permissions or (
            self.port == PORTS[self.scheme] and f"http:{self.host}" in permissions
        )

    def is_internal_for(self, hosts: Collection[str]) -> bool:
        """Whether the administrator names it as one of the own network: `host`, or `host:port`."""
        return self.host in hosts or f"{self.host}:{self.port}" in hosts


def target_of(url: str) -> Target:
    """Judge `url`.

    Raises:
        AddressRefused: it is not an http or https address that every reader understands alike.
    """
    if not _PRINTABLE.fullmatch(url) or "\\" in url:
        raise AddressRefused("the address has characters that no address has, or is too long")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressRefused("the address cannot be read") from None
    if parts.scheme not in PORTS:
        raise AddressRefused("the address is neither http nor https")
    if "@" in parts.netloc:
        raise AddressRefused("the address names a user; put credentials into a header")
    host = (parts.hostname or "").lower()
    if not _HOST.fullmatch(host):
        raise AddressRefused("the address names no host")
    path = parts.path or "/"
    query = f"?{parts.query}" if parts.query else ""
    return Target(
        scheme=parts.scheme, host=host, port=PORTS[parts.scheme] if port is None else port, path=f"{path}{query}"
    )


def is_public(address: str) -> bool:
    """Whether `address` is a machine of the open internet, whichever way it is written."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return _is_public(found)


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address):
        inner = _inside(address)
        if inner is not None:
            return _is_public(inner)
        # Tunnels end where their address says, which is not where the packet seems to go.
        is_tunnel = address.sixtofour is not None or address.teredo is not None
        if address not in _GLOBAL_UNICAST or is_tunnel:
            return False
    is_special = address.is_multicast or address.is_reserved or any(address in network for network in _SPECIAL)
    return address.is_global and not is_special


def _inside(address: IPv6Address) -> IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if any(address in network for network in _TRANSLATED):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return None


def flaw_of_header(name: str, value: str) -> str | None:
    """Why a header is not sent; None when it is."""
    if not _TOKEN.fullmatch(name):
        return "a header's name has characters that no name has"
    if name.lower() in OURS:
        return f"the header `{name.lower()}` is the gateway's to set"
    if not _VALUE.fullmatch(value):
        return f"the value of the header `{name.lower()}` has characters that no value has"
    return None
