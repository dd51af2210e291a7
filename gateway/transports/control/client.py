"""The command line's end of the control socket. Plain blocking sockets: one question, one answer, done."""

import json
import socket
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gateway.transports.control.wire import ANSWER_BYTES_MAX, socket_path

_TIMEOUT_S = 120.0
_LONG_S = {
    "backup": 3_600.0,
    **dict.fromkeys(("app.install", "app.upgrade", "app.enable", "app.disable", "app.rollback"), 1_500.0),
}
"""Commands that may take as long as a disk does, or as handlers may take to end by themselves."""


class NoGateway(Exception):
    """Nobody answers at the control socket."""


class CommandRefused(Exception):
    """The gateway refused a command; the message is fit for the person who typed it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ControlClient:
    """A connection to the gateway that runs over a data folder."""

    def __init__(self, data: Path) -> None:
        """Connect.

        Raises:
            NoGateway: there is no socket, or nobody listens at it.
            PathTooLong: the data folder lies too deep.
        """
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_TIMEOUT_S)
        try:
            self._socket.connect(socket_path(data))
        except OSError as error:
            self._socket.close()
            raise NoGateway(f"no gateway runs over `{data}`") from error
        self._answers = self._socket.makefile("rb")

    def ask(self, command: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """Run one command and return its value.

        Raises:
            CommandRefused: the gateway said no, and why.
            NoGateway: it went away.
        """
        request = json.dumps({"command": command, "parameters": dict(parameters or {})})
        try:
            self._socket.settimeout(_LONG_S.get(command, _TIMEOUT_S))
            self._socket.sendall(request.encode() + b"\n")
            line = self._answers.readline(ANSWER_BYTES_MAX + 1)
        except OSError as error:
            raise NoGateway("the gateway does not answer") from error
        if not line.endswith(b"\n"):
            raise NoGateway("the gateway went away before it answered; look before you repeat the command")
        answer: dict[str, Any] = json.loads(line)
        if not answer["ok"]:
            raise CommandRefused(answer["code"], answer["message"])
        return answer["value"]

    def close(self) -> None:
        """Hang up."""
        self._answers.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
