"""A TCP proxy before a real PostgreSQL that can cut both ends at a chosen message."""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from urllib.parse import urlsplit


class CuttingProxy:
    """Listens on a free loopback port and carries bytes both ways until it is told where to cut."""

    def __init__(self, url: str) -> None:
        place = urlsplit(url)
        self._server = (place.hostname or "127.0.0.1", place.port or 5432)
        self._listener = socket.create_server(("127.0.0.1", 0))
        user = place.netloc.rpartition("@")[0]
        self.url = place._replace(netloc=f"{user}@127.0.0.1:{self._listener.getsockname()[1]}").geturl()
        self._cut: tuple[bytes, bool] | None = None
        self._open: list[socket.socket] = []

    def cut_at(self, mark: bytes, *, is_delivered: bool) -> None:
        """Cut once, when `mark` comes from the client: after the server has dealt with it, or before it sees it."""
        self._cut = (mark, is_delivered)

    def __enter__(self) -> "CuttingProxy":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._listener.close()
        for end in self._open:
            end.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._server)
            self._open += [client, server]
            threading.Thread(target=self._up, args=(client, server), daemon=True).start()
            threading.Thread(target=self._down, args=(client, server), daemon=True).start()

    def _up(self, client: socket.socket, server: socket.socket) -> None:
        while chunk := _received(client):
            if self._cut is not None and self._cut[0] in chunk:
                is_delivered, self._cut = self._cut[1], None
                # The way back is shut first, so that the answer is never seen.
                _shut(client)
                if is_delivered:
                    _send(server, chunk)
                    _shut(server, socket.SHUT_WR)
                else:
                    _shut(server)
                return
            _send(server, chunk)
        _shut(server)

    def _down(self, client: socket.socket, server: socket.socket) -> None:
        while chunk := _received(server):
            _send(client, chunk)
        _shut(client)


def _received(end: socket.socket) -> bytes:
    try:
        return end.recv(65_536)
    except OSError:
        return b""


def _send(end: socket.socket, chunk: bytes) -> None:
    with suppress(OSError):  # the other end may be closed by now
        end.sendall(chunk)


def _shut(end: socket.socket, how: int = socket.SHUT_RDWR) -> None:
    with suppress(OSError):
        end.shutdown(how)
