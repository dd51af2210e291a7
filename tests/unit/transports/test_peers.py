"""Addresses: one spelling for each, and never one that a caller made up."""

from typing import Any

import pytest

from gateway.adapters.configuration.values import Refused, network
from gateway.settings import Server
from gateway.transports.doors import allowed_hosts
from gateway.transports.doors.peers import Proxies, address_of, party_of


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("203.0.113.9", "203.0.113.9"),
        (" 203.0.113.9:4711 ", "203.0.113.9"),
        ("[2001:DB8::1]:443", "2001:db8::1"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("unknown", None),
        ("_hidden", None),
        ("fe80::1%<b>", None),
        ("203.0.113.999", None),
        ("", None),
    ],
)
def test_an_address_has_one_spelling(text: str, address: str | None) -> None:
    assert address_of(text) == address


def test_one_customer_of_ipv6_is_one_party() -> None:
    assert party_of("2001:db8::1") == party_of("2001:db8::ffff")
    assert party_of("2001:db8::1") != party_of("2001:db8:0:1::1")
    assert party_of("203.0.113.9") == "203.0.113.9"


def seen(client: str | None, *networks: str, **headers: str) -> dict[str, Any]:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "client": (client, 1) if client else None, "headers": raw, "scheme": "http"}
    return dict(Proxies(networks).seen_through(scope))


@pytest.mark.parametrize(
    ("hops", "peer"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("203.0.113.9, 198.51.100.7", "198.51.100.7"),
        ("203.0.113.9, 10.1.2.3, 10.0.0.1", "203.0.113.9"),
        ("made up, 10.1.2.3", "10.1.2.3"),
        ("10.1.2.3", "10.1.2.3"),
        ("made up", "10.0.0.1"),
    ],
)
def test_the_right_most_hop_nobody_vouches_for_is_the_peer(hops: str, peer: str) -> None:
    assert seen("10.0.0.1", "10.0.0.0/8", x_forwarded_for=hops)["client"][0] == peer


def test_several_lines_are_one_list() -> None:
    raw = [(b"x-forwarded-for", b"203.0.113.9"), (b"x-forwarded-for", b"198.51.100.7, 10.0.0.2")]
    scope = {"type": "http", "client": ("10.0.0.1", 1), "headers": raw, "scheme": "http"}
    assert Proxies(("10.0.0.0/8",)).seen_through(scope)["client"][0] == "198.51.100.7"


def test_a_stranger_speaks_for_itself() -> None:
    told = seen("198.51.100.7", "10.0.0.0/8", host="evil.test", x_forwarded_for="1.1.1.1", x_forwarded_host="gw.test")
    assert told["client"][0] == "198.51.100.7"
    assert (b"host", b"evil.test") in told["headers"]
    assert seen(None, "10.0.0.0/8")["client"][0] == "unknown"


def test_the_proxy_says_what_it_was_asked_for() -> None:
    told = seen("10.0.0.1", "10.0.0.0/8", host="up", x_forwarded_host="a.test, gw.test", x_forwarded_proto="https")
    assert [value for name, value in told["headers"] if name == b"host"] == [b"gw.test"]
    assert told["scheme"] == "https"
    assert seen("10.0.0.1", "10.0.0.0/8", x_forwarded_proto="gopher")["scheme"] == "http"


def test_names_are_answered_with_and_without_the_port_of_their_scheme() -> None:
    names = allowed_hosts(Server(public_url="https://gw.test", hosts=("other.test", "third.test:443", "[::1]:9")))
    assert {"gw.test", "gw.test:443", "other.test:443", "third.test", "[::1]:9"} <= names
    assert "gw.test:80" not in names


@pytest.mark.parametrize("text", ["10.0.0.5/32", "10.0.0.0/8", "2001:db8::/32"])
def test_networks_are_taken_as_written(text: str) -> None:
    assert network(text) == text


@pytest.mark.parametrize("text", ["0.0.0.0/0", "::/0", "10.0.0.5/8", "proxy.test", "10.0.0.0/33"])
def test_a_network_is_never_everybody_nor_a_guess(text: str) -> None:
    with pytest.raises(Refused):
        network(text)
