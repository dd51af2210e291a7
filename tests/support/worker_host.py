"""A process that keeps a worker, to be killed: `python -m tests.support.worker_host METHOD`.

It hands `METHOD` of the rough app to the worker, and prints the worker's process and what the handler reports once
the handler runs (or, for `none`, once the worker is there).
"""

import asyncio
import json
import sys

from gateway.adapters.clock import SystemClock
from gateway.adapters.executors.python_workers import PythonWorkers
from tests.support.worker_house import Real


async def main(method: str) -> None:
    """Keep it until the end."""
    clock = SystemClock()
    house = Real(workers=PythonWorkers(clock), clock=clock, app="com.example.rough")
    house.start()
    await house.news.ending(house.submit("echo"))
    told = None
    if method != "none":
        await house.hold(method)
        ((_, told, *_),) = await house.news.until(lambda: house.news.of("progressed"))
    sys.stdout.write(json.dumps({"worker": house.pid, "told": told}) + "\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
