"""Serves one gateway: the lock, the database, the listeners, the control socket, and a graceful end."""

import asyncio
import gc
import resource
import signal
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from gateway.adapters.configuration.values import listen
from gateway.adapters.configuration_file import load_file
from gateway.adapters.process_lock import hold_lock
from gateway.asgi.connections import Bounds, protocol_of
from gateway.asgi.listeners import AddressRefused, Listener, listener
from gateway.bootstrap import Gateway, build
from gateway.domain.configuration import Configuration
from gateway.protocol.page_frames import FRAME_BYTES
from gateway.transports.control import serve_control
from gateway.transports.page_ws.protocol import PageProtocol

__all__ = ["AddressRefused", "Bounds", "Server", "rest_collector", "serve", "server_of"]


FILES_BESIDE = 128
"""Open files of the process beside its connections: database, control socket, listeners."""


class Server(uvicorn.Server):
    """Ends long-lived streams before uvicorn waits for them, so that an exit takes no grace period.

    It leaves signals to its caller: uvicorn would send itself again what stopped it, and that would kill
    the process before the database is closed.
    """

    def __init__(self, config: uvicorn.Config, before_exit: Callable[[], None]) -> None:
        super().__init__(config)
        self._before_exit = before_exit

    def stop(self) -> None:
        """Begin a graceful end."""
        self._before_exit()
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture none."""
        yield


def server_of(
    app: ASGIApp, host: str, port: int, before_exit: Callable[[], None], *, bounds: Bounds | None = None
) -> Server:
    """A uvicorn server with the limits of the page channel, and of connections."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=protocol_of(bounds or Bounds()),
        log_config=None,
        access_log=False,
        lifespan="off",
        ws=PageProtocol,
        ws_max_size=FRAME_BYTES,
        ws_per_message_deflate=False,
        ws_ping_interval=None,
        timeout_graceful_shutdown=10,
        server_header=False,
        date_header=False,
        proxy_headers=False,
    )
    return Server(config, before_exit)


async def serve(config: Path, data: Path, *, on_ready: Callable[[Gateway], None] | None = None) -> None:
    """Run until SIGTERM or SIGINT; SIGHUP reloads the file.

    Raises:
        AddressRefused: an address it should listen on is not to be had.
    """
    configuration: Configuration = load_file(config)
    async with AsyncExitStack() as stack:
        stack.enter_context(hold_lock(data))
        wanted = configuration.server
        doors = stack.enter_context(listener("server.listen", wanted.listen_host, wanted.listen_port))
        metrics = _listener_of_metrics(wanted.metrics_listen, stack)
        gateway = await stack.enter_async_context(build(configuration, data, file=config))
        await stack.enter_async_context(serve_control(gateway.services.admin, gateway.reloader, data))
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, lambda: gateway.services.spine.spawn(gateway.reloader.reload()))
        _allow_files(configuration.limits.connections + FILES_BESIDE)
        server = server_of(
            gateway.app,
            wanted.listen_host,
            wanted.listen_port,
            gateway.stop_streams,
            bounds=Bounds.of(gateway.services),
        )
        ending = _Ending(gateway, server)
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, ending.ask)
        await stack.enter_async_context(_serving_metrics(gateway, metrics))
        rest_collector()
        doors.open()
        if on_ready is not None:
            on_ready(gateway)
        await server.serve(doors.sockets)


class _Ending:
    """A graceful end: what is new is refused, what is under way has a while. Whoever asks twice does not wait."""

    def __init__(self, gateway: Gateway, server: Server) -> None:
        self._gateway = gateway
        self._server = server
        self._draining: asyncio.Task[None] | None = None

    def ask(self) -> None:
        """A signal came."""
        if self._draining is None:
            self._draining = asyncio.get_running_loop().create_task(self._end())
        else:
            self._draining.cancel()
            self._server.stop()

    async def _end(self) -> None:
        await self._gateway.drain()
        self._server.stop()


def rest_collector() -> None:
    """Leave what is there when serving begins out of every collection, and collect seldom.

    A call makes hundreds of objects and no cycle, so the pace Python begins with finds next to nothing.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


def _allow_files(wanted: int) -> None:
    """Raise the soft limit of open files, so that the cap on connections is reached before it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    ceiling = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < ceiling:
        resource.setrlimit(resource.RLIMIT_NOFILE, (ceiling, hard))


def _listener_of_metrics(where: str, stack: AsyncExitStack) -> Listener | None:
    return stack.enter_context(listener("server.metrics_listen", *listen(where))) if where else None


@asynccontextmanager
async def _serving_metrics(gateway: Gateway, taken: Listener | None) -> AsyncGenerator[None]:
    """`/metrics` on its own listener, where one is configured."""
    if gateway.metrics is None or taken is None:
        yield
        return
    server = server_of(gateway.metrics, taken.host, taken.port, lambda: None)
    taken.open()
    serving = asyncio.create_task(server.serve(taken.sockets))
    try:
        yield
    finally:
        server.should_exit = True
        await serving
