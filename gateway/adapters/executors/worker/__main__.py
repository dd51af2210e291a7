"""The worker process of one app: `python -m gateway.adapters.executors.worker LINK LIFE FOLDER MODULE`.

LINK is the number of the descriptor its frames go over, LIFE that of a pipe that ends with the gateway, MODULE what to
load of the package in FOLDER. It prints nothing of its own
on standard output; what the app prints there and on standard error goes to the gateway's log.
"""

import asyncio
import os
import socket
import sys
from pathlib import Path

from capabilities.loading import AppNotLoaded, load_app
from gateway.adapters.executors.worker.leash import tie
from gateway.adapters.executors.worker.link import Link
from gateway.adapters.executors.worker.serve import Server


def main(link: int, life: int, folder: Path, module: str) -> int:
    """Serve until the gateway says goodbye; returns the exit status."""
    # INVARIANT: only this process holds the link; what a handler begins must not keep it open, nor write to it.
    os.set_inheritable(link, False)
    tie(life)
    return asyncio.run(_serve(Link(socket.socket(fileno=link)), folder, module))


async def _serve(link: Link, folder: Path, module: str) -> int:
    server, loop = Server(link), asyncio.get_running_loop()
    # Before the app is loaded: loading runs the app's code, too, and may never end.
    link.listen(lambda frame: loop.call_soon_threadsafe(server.heard, frame))
    # The package stays as it was installed, whatever file an app writes beside itself.
    os.chdir("/")
    try:
        tools = load_app(folder, module)
    except AppNotLoaded as error:
        link.write({"type": "unloadable", "message": str(error)[:2_000]})
        return 1
    await server.run(tools)
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]))
