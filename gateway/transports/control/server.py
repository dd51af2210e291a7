"""The gateway's end of the control socket. Its lock is the file system: mode 0600 inside a folder of mode 0700."""

import asyncio
import os
import pwd
import socket
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import orjson
import structlog
from pydantic import ValidationError

from gateway.domain.errors import ErrorCode, GatewayError
from gateway.protocol.strict_json import BadJson, parse
from gateway.runtime.admin import Admin, Reloader
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.transports.control.commands import Desk, Request, perform
from gateway.transports.control.wire import ANSWER_BYTES_MAX, REQUEST_BYTES_MAX, socket_path

IDLE_SECONDS: Final = 60.0
_CREDENTIALS: Final = struct.Struct("3i")

_log = structlog.get_logger("ostiary.control")


@asynccontextmanager
async def serve_control(admin: Admin, reloader: Reloader, data: Path) -> AsyncGenerator[None]:
    """Answer the command line until the block ends. The caller holds the process lock of `data`.

    Raises:
        PathTooLong: the data folder lies too deep for a socket.
    """
    listener, path = _listener(data)
    desks = _Desks(admin, reloader)
    server = await asyncio.start_unix_server(desks.serve, sock=listener, limit=REQUEST_BYTES_MAX)
    try:
        yield
    finally:
        server.close()
        await desks.close()
        _remove(path)


def _listener(data: Path) -> tuple[socket.socket, str]:
    path = socket_path(data)
    # INVARIANT: whoever holds the lock owns this name, so a socket found here is left over.
    _remove(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    # Before it listens: nobody can have connected while the mode was the umask's.
    Path(path).chmod(0o600)
    return listener, path


def _remove(path: str) -> None:
    Path(path).unlink(missing_ok=True)


class _Desks:
    """Serves connections, each one command at a time."""

    def __init__(self, admin: Admin, reloader: Reloader) -> None:
        self._admin = admin
        self._reloader = reloader
        self._tasks: set[asyncio.Task[Any]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            uid = _peer_of(writer)
            if uid in {os.getuid(), 0}:
                await self._converse(
                    reader, writer, Desk(admin=self._admin, by=f"local:{_name_of(uid)}", reloader=self._reloader)
                )
        except (ConnectionError, TimeoutError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def close(self) -> None:
        """Hang up on everybody."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, desk: Desk) -> None:
        while True:
            try:
                line = await asyncio.wait_for(reader.readline(), IDLE_SECONDS)
            except ValueError:
                refusal = _refusal(ErrorCode.BODY_TOO_LARGE, f"a request is at most {REQUEST_BYTES_MAX} bytes")
                writer.write(refusal + b"\n")
                await writer.drain()
                return
            if not line.endswith(b"\n"):
                return
            writer.write(await _answer(desk, line) + b"\n")
            await writer.drain()


async def _answer(desk: Desk, line: bytes) -> bytes:
    try:
        command, parameters = _request_of(line)
        answer = orjson.dumps({"ok": True, "value": await perform(desk, command, parameters)})
    except GatewayError as error:
        return _refusal(error.code, error.message)
    except (StoreBusy, StoreUnavailable):
        return _refusal(ErrorCode.STORE_UNAVAILABLE, "the store does not take it now; nothing was changed, try again")
    except Exception as error:  # noqa: BLE001 - one broken command must not end the gateway; the log has the details
        _log.error("command_failed", error=type(error).__name__, exc_info=error)
        return _refusal(ErrorCode.STORE_UNAVAILABLE, "the command failed inside the gateway; its log says why")
    if len(answer) >= ANSWER_BYTES_MAX:
        return _refusal(ErrorCode.BODY_TOO_LARGE, "the answer is too large; ask for less with `--limit`")
    return answer


def _request_of(line: bytes) -> tuple[str, dict[str, Any]]:
    try:
        request = Request.model_validate(parse(line))
    except BadJson as error:
        raise GatewayError(ErrorCode.BAD_JSON, "the request is not JSON") from error
    except ValidationError as error:
        raise GatewayError(ErrorCode.BAD_REQUEST, "a request is `{command, parameters}`") from error
    return request.command, request.parameters


def _refusal(code: ErrorCode, message: str) -> bytes:
    return orjson.dumps({"ok": False, "code": code.wire, "message": message})


def _peer_of(writer: asyncio.StreamWriter) -> int:
    """The user id at the other end; where the system does not tell, the file mode already proved it is ours."""
    peer: socket.socket = writer.get_extra_info("socket")
    if not hasattr(socket, "SO_PEERCRED"):
        return os.getuid()
    _, uid, _ = _CREDENTIALS.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return uid


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
