"""Takes addresses before anything else is begun, so that one which is not to be had is told in words and changes nothing."""

import errno
import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

BACKLOG: Final = 2_048
"""Connections that wait to be accepted, as many as uvicorn would take by itself."""


class AddressRefused(Exception):
    """An address cannot be listened on; the message names it, its setting, and what to do."""


class Listener:
    """The sockets of one setting: taken when made, and heard from `open` on."""

    def __init__(self, setting: str, host: str, port: int) -> None:
        """Take the address.

        Raises:
            AddressRefused: it is not to be had.
        """
        self.host: Final = host
        self.port: Final = port
        self._setting = setting
        self.sockets: list[socket.socket] = []
        try:
            self._bind()
        except OSError as error:
            self.close()
            raise self._refused(error) from error

    def open(self) -> None:
        """Let connections come; they wait until a server accepts them.

        Raises:
            AddressRefused: another program was faster.
        """
        try:
            for bound in self.sockets:
                bound.listen(BACKLOG)
        except OSError as error:
            raise self._refused(error) from error

    def close(self) -> None:
        """Give the address back."""
        for bound in self.sockets:
            bound.close()

    def _bind(self) -> None:
        """One socket for each address a name stands for; those this machine does not have are left out."""
        missing: OSError | None = None
        found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in dict.fromkeys(found):
            try:
                self._bind_one(socket.socket(family, kind, protocol), address)
            except OSError as error:
                if error.errno not in _NOT_HERE:
                    raise
                missing = error
        if missing is not None and not self.sockets:
            raise missing

    def _bind_one(self, fresh: socket.socket, address: tuple[object, ...]) -> None:
        try:
            fresh.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if fresh.family == socket.AF_INET6:
                fresh.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            fresh.bind(address)
        except OSError:
            fresh.close()
            raise
        self.sockets.append(fresh)

    def _refused(self, error: OSError) -> AddressRefused:
        where = f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        remedy = _REMEDIES.get(error.errno or 0, "")
        return AddressRefused(f"cannot listen on `{where}`: {why}; change `{self._setting}`{remedy}")


_NOT_HERE: Final = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})

_REMEDIES: Final = {errno.EADDRINUSE: ", or stop what listens there"}


@contextmanager
def listener(setting: str, host: str, port: int) -> Generator[Listener]:
    """Hold an address until the block ends."""
    taken = Listener(setting, host, port)
    try:
        yield taken
    finally:
        taken.close()
