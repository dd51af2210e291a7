"""How the gateway logs: one JSON object a line on standard error, names and numbers, never a payload.

A line at `warning` or above is written when something went wrong, which is when a text nobody foresaw comes near a
log; so such a line keeps the keys listed here and loses every other. Of an exception its type and its place are
told, never its message, which may quote what was being read. What a library logs goes the same way: where it said
something, in its template's words, without what it filled in.
"""

import asyncio
import atexit
import logging
import sys
import time
import traceback
from collections.abc import MutableMapping
from contextlib import suppress
from datetime import UTC, datetime
from threading import Lock
from typing import Any, BinaryIO, Final, cast

import orjson
import structlog

_WORDS: Final = (
    "event level timestamp logger place error frames error_id suppressed "
    "method door path peer host setting hint status ms bytes trace_id tool protocol "
    "capability entry agent session ref state code effect places revision kept "
    "behind_ms cause refused after_seconds app event_id attempts"
)
KNOWN: Final = frozenset(_WORDS.split())
"""What a line at `warning` or above may hold."""

SINGLY: Final = 20
"""Lines of one kind in a second; the next that is written says how many were left out."""

_TRACKED: Final = 512
_FRAMES: Final = 12
_TEXT_MAX: Final = 300

_SPOKEN: Final = frozenset({"uvicorn.error"})
"""Libraries whose messages are constants; others may have put what they read into theirs."""

Line = MutableMapping[str, Any]


def configure_logs(level: str = "info") -> None:
    """Set logging up for the process, at `level` and above; safe to call again."""
    number = logging.getLevelNamesMapping()[level.upper()]
    lines = Lines(getattr(sys.stderr, "buffer", None) or sys.stdout.buffer)
    structlog.configure(
        processors=[_Floods().bounded, _known, _placed, _rendered],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=lambda *_: lines,
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    for handler in [h for h in root.handlers if isinstance(h, _OfLibraries)]:
        root.removeHandler(handler)
    root.addHandler(_OfLibraries())
    # Below that, libraries log whole messages.
    root.setLevel(max(number, logging.WARNING))


class Lines:
    """Writes lines. Those of one turn of the loop go out together; one that is grave takes them along at once."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._held: list[bytes] = []
        self._lock = Lock()
        atexit.register(self.flush)

    def debug(self, line: bytes) -> None:
        """Write `line` soon."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.error(line)
            return
        with self._lock:
            self._held.append(line)
            is_first = len(self._held) == 1
        if is_first:
            loop.call_soon(self.flush)

    info = debug

    def error(self, line: bytes) -> None:
        """Write `line` now."""
        with self._lock:
            self._held.append(line)
        self.flush()

    warning = exception = critical = error

    def flush(self) -> None:
        """Write what is held."""
        with self._lock:
            if not self._held:
                return
            text = b"\n".join([*self._held, b""])
            self._held.clear()
            # A log that cannot be written, or was closed, must not fail what logged.
            with suppress(OSError, ValueError):
                self._file.write(text)
                self._file.flush()


def _is_grave(method: str) -> bool:
    return method not in ("debug", "info")


class _Floods:
    """Keeps one kind of line from filling the disk: whoever knocks decides how often it is written."""

    def __init__(self) -> None:
        self._seen: dict[tuple[Any, ...], tuple[int, int]] = {}

    def bounded(self, _: Any, method: str, line: Line) -> Line:
        """`line`, unless there were enough like it within this second."""
        code = line.get("code")
        if code is None and not _is_grave(method):
            return line
        kind = line["event"], code, line.get("logger"), line.get("place")
        second = int(time.monotonic())
        begun, count = self._seen.get(kind, (second, 0))
        if begun != second:
            if count > SINGLY:
                line["suppressed"] = count - SINGLY
            begun, count = second, 0
        if kind not in self._seen and len(self._seen) >= _TRACKED:
            self._seen.clear()
        self._seen[kind] = begun, count + 1
        if count >= SINGLY:
            raise structlog.DropEvent
        return line


def _known(_: Any, method: str, line: Line) -> Line:
    if not _is_grave(method):
        return line
    return {
        key: value[:_TEXT_MAX] if isinstance(value, str) else value
        for key, value in line.items()
        if key in KNOWN or key == "exc_info"
    }


def _placed(_: Any, __: str, line: Line) -> Line:
    """Exchange an exception for its types and the places it went through."""
    given = line.pop("exc_info", None)
    if given is None or given is False:
        return line
    error: object = given
    if given is True:
        error = sys.exc_info()[1]
    elif isinstance(given, tuple):
        error = cast("tuple[object, ...]", given)[1]
    if isinstance(error, BaseException):
        line["error"] = type(error).__name__
        line["frames"] = _frames(error)
    return line


def _frames(error: BaseException) -> list[str]:
    told: list[str] = []
    seen: BaseException | None = error
    while seen is not None and len(told) < 2 * _FRAMES:
        steps = traceback.extract_tb(seen.__traceback__)[-_FRAMES:]
        told += [type(seen).__name__, *(f"{step.filename}:{step.lineno} {step.name}" for step in steps)]
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return told


def _rendered(_: Any, method: str, line: Line) -> bytes:
    line["level"] = "error" if method in ("exception", "critical") else method
    line["timestamp"] = datetime.now(UTC)  # noqa: TID251 - the log's own clock; nothing is decided by it
    return orjson.dumps(line, default=lambda value: type(value).__name__, option=orjson.OPT_UTC_Z)


class _OfLibraries(logging.Handler):
    """Takes what uvicorn, the SDK, the database's driver and Python itself log into the same lines."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line; a failing log must not fail what logged."""
        is_constant = bool(record.args) or record.name in _SPOKEN
        log = structlog.get_logger()
        write = log.error if record.levelno >= logging.ERROR else log.warning
        facts: dict[str, Any] = {"logger": record.name, "place": f"{record.module}:{record.lineno}"}
        if record.exc_info:
            facts["exc_info"] = record.exc_info
        try:
            write(str(record.msg) if is_constant else "library", **facts)
        except Exception:  # noqa: BLE001 - as the base class wants it
            self.handleError(record)
