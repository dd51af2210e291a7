"""An address is taken once, heard from when it is opened, and given back; one that is not to be had is told in words."""

import socket
from collections.abc import Generator

import pytest

from gateway.asgi.listeners import AddressRefused, Listener, listener

HOST = "127.0.0.1"


@pytest.fixture
def port() -> Generator[int]:
    """Nobody else's while the test runs: it is held, and not listened on."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind((HOST, 0))
        yield holder.getsockname()[1]


def test_nobody_is_heard_before_it_is_opened_and_nobody_after_its_end(port: int) -> None:
    with listener("server.listen", HOST, port) as taken:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((HOST, port))
        taken.open()
        socket.create_connection((HOST, port)).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((HOST, port))


def test_an_address_somebody_listens_on_is_refused_when_it_is_taken(port: int) -> None:
    with listener("server.listen", HOST, port) as first:
        first.open()
        with pytest.raises(AddressRefused) as refused:
            Listener("server.metrics_listen", HOST, port)
    assert str(refused.value) == (
        f"cannot listen on `{HOST}:{port}`: Address already in use;"
        " change `server.metrics_listen`, or stop what listens there"
    )


def test_of_two_that_take_it_at_one_moment_the_faster_is_heard_and_the_other_told(port: int) -> None:
    with listener("server.listen", HOST, port) as first, listener("server.metrics_listen", HOST, port) as second:
        first.open()
        with pytest.raises(AddressRefused, match=r"Address already in use; change `server\.metrics_listen`"):
            second.open()
        socket.create_connection((HOST, port)).close()


def test_a_name_is_listened_on_wherever_it_leads_on_this_machine(port: int) -> None:
    with listener("server.listen", "localhost", port) as taken:
        taken.open()
        assert (HOST, port) in [bound.getsockname()[:2] for bound in taken.sockets]
        socket.create_connection((HOST, port)).close()


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("192.0.2.1", "`192.0.2.1:{port}`: Cannot assign requested address; change `server.listen`"),
        ("2001:db8::1", "`[2001:db8::1]:{port}`: "),
        ("nowhere.invalid", "`nowhere.invalid:{port}`: "),
    ],
)
def test_an_address_this_machine_does_not_have_is_refused_by_name(port: int, host: str, told: str) -> None:
    with pytest.raises(AddressRefused) as refused:
        Listener("server.listen", host, port)
    message = str(refused.value)
    assert message.startswith(f"cannot listen on {told.format(port=port)}")
    assert message.endswith("change `server.listen`")
