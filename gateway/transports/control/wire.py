"""The wire of the control socket: one JSON object a line, a request and its answer by turns.

Request `{"command": name, "parameters": {...}}`; answer `{"ok": true, "value": ...}` or
`{"ok": false, "code": wire code, "message": text}`.
"""

import os
from pathlib import Path
from typing import Final

SOCKET: Final = "control.sock"
REQUEST_BYTES_MAX: Final = 64 * 1024
ANSWER_BYTES_MAX: Final = 16 * 1024 * 1024

_PATH_MAX: Final = 103
"""What the shortest `sun_path` among our systems holds, its end mark left out."""


class PathTooLong(Exception):
    """The data folder lies too deep for a socket's address."""


def socket_path(data: Path) -> str:
    """The address of the control socket, in its shorter spelling.

    Raises:
        PathTooLong: neither the absolute nor the relative path fits a socket address.
    """
    whole = (data / SOCKET).resolve()
    shortest = min(str(whole), os.path.relpath(whole), key=lambda path: len(os.fsencode(path)))
    if len(os.fsencode(shortest)) > _PATH_MAX:
        raise PathTooLong(
            f"`{whole}` is too long for a socket; choose a data folder nearer to the root with `--data`"
        )
    return shortest
