"""Imported once by the fork server: one whole life of a gateway, so that every fork begins with all of it warm.

A start costs a fresh process a quarter of a second of imports and compiled statements; a fork of this one has them.
"""

import asyncio
import gc
import os
import signal
import tempfile
from pathlib import Path
from random import Random

from gateway.asgi import serve
from gateway.bootstrap import Gateway
from tests.crash.scene import HOST, free_port, write_configuration


def _live_once(folder: Path) -> None:
    config = folder / "ostiary.yaml"
    write_configuration(config, free_port(Random()), consumer=f"http://{HOST}:{free_port(Random())}/")

    def stop(_: Gateway) -> None:
        asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGTERM)

    asyncio.run(serve(config, folder / "data", on_ready=stop))


with tempfile.TemporaryDirectory(prefix="ostiary-crash-") as _folder:
    _live_once(Path(_folder))
gc.collect()
gc.freeze()
