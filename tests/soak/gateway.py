"""The gateway under load, in a process of its own; answers one JSON line on standard output per line on its input.

Run as `python -m tests.soak.gateway FOLDER TIMES`; TIMES are limits in YAML's flow style. Commands: `ready`, `grant`, `revoke`, `ticket`, `counts`, `verify`,
`stop`; each a JSON object `{"do": …, …}`.
"""

import asyncio
import gc
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from capabilities.registry import BUILTINS
from gateway.adapters.configuration_file import load
from gateway.asgi import Bounds, server_of
from gateway.bootstrap import Gateway, build
from gateway.demo.scene import HOST, free_port
from gateway.domain.calls import CallState
from gateway.runtime.identity import TicketRequest

SITE: Final = "http://soak.test"
SCOPE: Final = ("counter.*", "runtime.echo")

CONFIGURATION: Final = """\
version: 1
server:
  listen: "{host}:{port}"
  public_url: "http://{host}:{port}"
  builtins: [runtime.echo]
limits:
  # Raised for the load; nothing is switched off.
  calls_per_minute: 10000000
  calls_burst: 1000000
  requests_per_minute: 10000000
  requests_burst: 1000000
  connections: 20000
  connections_per_peer: 20000
  page_connections: 10000
  page_arrivals: 10000
  {times}
sites:
  soak:
    address: "{site}/"
    origins: ["{site}"]
    users: any
    expose: [counter.*]
agents:
  soak: {{label: Soak}}
"""

SHORT: Final = "{page_grace_ms: 2000, page_ping_ms: 2000, standing_ms: 20000, approval_ms: 4000}"
"""Times under which minutes see what otherwise takes hours."""


class Operator:
    """What the load asks of the gateway's own process."""

    def __init__(self, gateway: Gateway, port: int, key: str) -> None:
        self._services = gateway.services
        self._port = port
        self._key = key
        self._does: dict[str, Callable[[dict[str, Any]], Awaitable[Any]]] = {
            "ready": self._ready,
            "grant": self._grant,
            "revoke": self._revoke,
            "ticket": self._ticket,
            "counts": self._counts,
            "verify": self._verify,
        }

    async def does(self, asked: dict[str, Any]) -> Any:
        """Answer one command."""
        return await self._does[asked["do"]](asked)

    async def _ready(self, _: dict[str, Any]) -> Any:
        return {"port": self._port, "pid": os.getpid()}

    async def _grant(self, asked: dict[str, Any]) -> Any:
        grant = await self._services.admin.add_session(
            "soak", user=asked["user"], sites=["soak"], scope=list(SCOPE), by="soak"
        )
        return {"session": grant.session.id, "token": grant.token}

    async def _revoke(self, asked: dict[str, Any]) -> Any:
        await self._services.admin.revoke_session(asked["session"], by="soak")

    async def _ticket(self, asked: dict[str, Any]) -> Any:
        key = await self._services.identity.site_key(self._key)
        return (await self._services.identity.mint_ticket(key, TicketRequest(user=asked["user"], origin=SITE)))[0]

    async def _counts(self, _: dict[str, Any]) -> Any:
        gc.collect()
        services = self._services
        rows = await services.spine.store.run(lambda tx: list(tx.calls.recent(limit=1_000_000)))
        kinds = {"pages": "PageProtocol", "waiters": "Waiter", "exchanges": "Exchange", "documents": "Document"}
        alive = [type(thing).__name__ for thing in gc.get_objects()]
        return {
            **{name: alive.count(kind) for name, kind in kinds.items()},
            "live_pages": len(services.live.world.pages),
            "tasks": len(asyncio.all_tasks()),
            "futures": alive.count("Future"),
            "calls": len(rows),
            "open_calls": sum(row.state.is_undispatched or row.state is CallState.DISPATCHED for row in rows),
            "unknown_calls": sum(row.state is CallState.UNKNOWN for row in rows),
        }

    async def _verify(self, _: dict[str, Any]) -> Any:
        return {"is_intact": (await self._services.admin.audit_verify()).is_intact}


def _lines(flow: str) -> str:
    return "\n  ".join(entry.strip() for entry in flow.strip("{}").split(","))


async def main(folder: Path, times: str) -> None:
    """Serve until told to stop."""
    port = free_port(0)
    configuration = load(
        CONFIGURATION.format(host=HOST, port=port, site=SITE, times=_lines(times)), "soak.yaml", builtins=BUILTINS
    )
    async with build(configuration, folder) as gateway:
        key = (await gateway.services.admin.add_key("soak", capabilities=["counter.*"], by="soak")).secret
        server = server_of(gateway.app, HOST, port, gateway.stop_streams, bounds=Bounds.of(gateway.services))
        serving = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - uvicorn tells nobody
            await asyncio.sleep(0.01)
        operator = Operator(gateway, port, key)
        lines = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        while line := await lines.readline():
            sys.stdout.write(json.dumps(await operator.does(json.loads(line))) + "\n")
            sys.stdout.flush()
        server.stop()
        await serving


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
