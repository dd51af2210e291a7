"""A mini app that does to its process, and to the gateway, what handlers must not get away with."""

import asyncio
import ctypes
import multiprocessing
import os
import socket
import struct
import subprocess
import sys
import time
from typing import Any

from capabilities.contract import HandlerContext, Tool, agent_tools, python_tool

OBJECT: dict[str, Any] = {"type": "object"}


def _link() -> socket.socket:
    """The link of this very process, which no handler should know of."""
    for name in os.listdir("/proc/self/fd"):
        try:
            found = socket.socket(fileno=os.dup(int(name)))
        except OSError:
            continue
        if found.family == socket.AF_UNIX and found.type == socket.SOCK_STREAM and int(name) > 2:
            try:
                found.getpeername()
            except OSError:
                continue
            if int(name) == int(sys.argv[1]):
                return found
    raise LookupError


def _frame(text: bytes) -> bytes:
    return struct.pack(">I", len(text)) + text


async def echo(given: dict[str, Any], _: HandlerContext) -> dict[str, Any]:
    """Give back what came."""
    return {"echo": given}


async def vanish(_: dict[str, Any], __: HandlerContext) -> dict[str, Any]:
    """End the process as a crash does."""
    os._exit(7)


async def leave(_: dict[str, Any], __: HandlerContext) -> dict[str, Any]:
    """End the process as a script does."""
    sys.exit(7)


async def wait(_: dict[str, Any], context: HandlerContext) -> dict[str, Any]:
    """Wait at the test's gate."""
    return {"gate": await context.secret("gate")}


async def block(_: dict[str, Any], context: HandlerContext) -> dict[str, Any]:
    """Block the whole event loop."""
    await context.progress(1)
    time.sleep(60)  # noqa: ASYNC251 - that is what this handler is for
    return {}


async def seize(_: dict[str, Any], context: HandlerContext) -> dict[str, Any]:
    """Block every thread of the interpreter: a call of C that holds the lock."""
    await context.progress(os.getpid())
    ctypes.PyDLL(None).sleep(60)
    return {}


async def beget(_: dict[str, Any], context: HandlerContext) -> dict[str, Any]:
    """Begin another process, tell its number, and block."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])  # noqa: ASYNC220
    await context.progress(child.pid)
    time.sleep(60)  # noqa: ASYNC251 - that is what this handler is for
    return {}


async def fork(_: dict[str, Any], context: HandlerContext) -> dict[str, Any]:
    """Fork, which copies every descriptor, tell the child's number, and end the process."""
    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
    child.start()
    await context.progress(child.pid or 0)
    os._exit(3)


async def look(_: dict[str, Any], __: HandlerContext) -> dict[str, Any]:
    """Tell what this process finds around it."""
    return {"environment": dict(os.environ), "folder": os.getcwd(), "arguments": sys.argv[1:]}


async def inherited(_: dict[str, Any], __: HandlerContext) -> dict[str, Any]:
    """Tell which descriptors a child of this process finds open."""
    listing = "import os; print(*os.listdir('/proc/self/fd'))"
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", listing, stdout=subprocess.PIPE, close_fds=False
    )
    told, _unused = await child.communicate()
    return {"open": told.decode().split(), "link": sys.argv[1]}


async def flood(given: dict[str, Any], _: HandlerContext) -> dict[str, Any]:
    """Print very much, and one line without an end."""
    for number in range(given["lines"]):
        sys.stdout.write(f"line {number}\n")
    sys.stdout.write("y" * 1_000_000 + "\n")
    sys.stderr.write("\N{SNOWMAN} \x1b[31m\n")
    return {"done": True}


async def forge(_: dict[str, Any], context: HandlerContext) -> dict[str, Any]:
    """Print what would be an answer on the link."""
    sys.stdout.buffer.write(_frame(b'{"type":"result","id":"%b","output":{"forged":1}}' % context.ref.encode()))
    sys.stdout.flush()
    return {"forged": False}


async def meddle(given: dict[str, Any], _: HandlerContext) -> dict[str, Any]:
    """Write a frame of one's own to the link."""
    _link().sendall(_frame(given["frame"].encode()))
    return {"meddled": True}


async def gape(given: dict[str, Any], _: HandlerContext) -> dict[str, Any]:
    """Claim a frame of so many bytes."""
    _link().sendall(struct.pack(">I", given["bytes"]))
    await asyncio.Event().wait()
    return {}


async def cut(_: dict[str, Any], __: HandlerContext) -> dict[str, Any]:
    """Close the link and live on."""
    _link().shutdown(socket.SHUT_WR)
    await asyncio.Event().wait()
    return {}


async def report_much(given: dict[str, Any], context: HandlerContext) -> dict[str, Any]:
    """Report progress, more often than anybody listens."""
    for number in range(given["times"]):
        await context.progress(number)
    return {"reported": given["times"]}


async def ask_much(given: dict[str, Any], context: HandlerContext) -> dict[str, Any]:
    """Ask many things at once; tell how many were refused."""
    asked = (context.secret("gate") for _ in range(given["times"]))
    answers = await asyncio.gather(*asked, return_exceptions=True)
    return {"refused": sum(isinstance(answer, Exception) for answer in answers)}


async def linger(_: dict[str, Any], context: HandlerContext) -> dict[str, Any]:
    """Return, and leave something behind that goes on asking."""

    async def later() -> None:
        await context.secret("gate")

    task = asyncio.get_running_loop().create_task(later())
    task.add_done_callback(lambda done: sys.stdout.write(f"left behind: {done.exception()}\n"))
    return {"done": True}


async def not_json(_: dict[str, Any], __: HandlerContext) -> dict[str, Any]:
    """Return what JSON cannot carry unchanged."""
    return {"big": 2**60}


def _tool(handler: Any) -> Tool:
    name = f"rough.{handler.__name__}"
    return python_tool(name, handler, title="T", description="D", input=OBJECT, output=OBJECT)


TOOLS = agent_tools(
    app="com.example.rough",
    name="Rough",
    version="1.0.0",
    description="Breaks things.",
    tools=[
        *map(_tool, (echo, vanish, leave, wait, block, seize, beget, fork, look, inherited, flood, forge, meddle)),
        *map(_tool, (gape, cut, report_much, ask_much, linger, not_json)),
    ],
)
