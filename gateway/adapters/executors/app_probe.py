"""`AppProbe`: an app's module is imported in a process of its own, as its worker will do it, and says what it declares."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from gateway.adapters.executors.process import ENVIRONMENT

_TOLD: Final = 500
"""Characters of what an app says went wrong."""


class ProcessAppProbe:
    """Begins one process for each question."""

    async def flaw(self, folder: Path, module: str, methods: Collection[str], *, within_ms: int) -> str | None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-u", "-m", "capabilities.declare", str(folder), module),
            cwd="/",
            env=ENVIRONMENT,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=DEVNULL,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(within_ms / 1_000):
                answer, _ = await process.communicate()
        except TimeoutError:
            return f"`{module}` took more than {within_ms} ms to import"
        finally:
            # Whatever it began goes with it.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if process.returncode != 0 or not answer:
            return f"`{module}` ended its process while it was imported (exit {process.returncode})"
        return _flaw_of(json.loads(answer), methods)


def _flaw_of(told: dict[str, Any], methods: Collection[str]) -> str | None:
    if "refused" in told:
        return str(told["refused"])[:_TOLD]
    declared = {tool["method"] for tool in told["declaration"]["tools"] if tool["handler"]["kind"] == "python"}
    missing = sorted(set(methods) - declared)
    return f"its code has no handler for `{missing[0]}`" if missing else None
