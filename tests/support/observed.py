"""A whole gateway as bootstrap builds it, with its metrics, spans and log lines at hand, and pages that speak the wire."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from gateway.adapters.tracing import OtelTracer
from gateway.asgi import server_of
from gateway.bootstrap import Gateway, build
from gateway.testing import FakeClock
from tests.interaction.page.rig import HOST, PATIENCE, Rig, configuration, free_port
from tests.support.in_loop import until
from tests.support.mcp_gateway import ACCEPT, MODERN, last_message


@dataclass(eq=False)
class Observed(Rig):
    """`Rig` over a whole gateway."""

    gateway: Gateway | None = None
    exporter: InMemorySpanExporter | None = None
    data: Path | None = None

    def spans(self) -> list[ReadableSpan]:
        """Every span that ended."""
        assert self.exporter is not None
        return list(self.exporter.get_finished_spans())

    async def span(self, name: str) -> ReadableSpan:
        """The only span of that name, as soon as it ended: an answer arrives a little before its span is over."""
        await until(lambda: any(span.name == name for span in self.spans()))
        (found,) = (span for span in self.spans() if span.name == name)
        return found

    async def scrape(self) -> str:
        """What Prometheus gets."""
        assert self.gateway is not None
        assert self.gateway.metrics is not None
        transport = httpx.ASGITransport(app=self.gateway.metrics)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            answer = await http.get("/metrics")
        assert answer.status_code == 200
        return answer.text

    async def samples(self) -> list[Sample]:
        """The same, read."""
        families = text_string_to_metric_families(await self.scrape())
        return [sample for family in families for sample in family.samples]

    async def value(self, name: str, **labels: str) -> float:
        """The sum of the series of `name` that have these labels."""
        return sum(s.value for s in await self.samples() if s.name == name and labels.items() <= s.labels.items())

    async def mcp(
        self,
        token: str | None,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        meta: Mapping[str, Any] | None = None,
        **headers: str,
    ) -> httpx.Response:
        """One request of the newer era."""
        whole = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "probe", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
            **(meta or {}),
        }
        head = {"accept": ACCEPT, "content-type": "application/json", "mcp-protocol-version": MODERN}
        head |= {"mcp-method": method, **headers}
        if token is not None:
            head["authorization"] = f"Bearer {token}"
        if params is not None and "name" in params:
            head["mcp-name"] = params["name"]
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**(params or {}), "_meta": whole}}
        return await self.http.post("/mcp", content=json.dumps(message), headers=head)

    async def invoke(self, token: str, capability: str, arguments: Any, **how: Any) -> dict[str, Any]:
        """One call over MCP, as its answer tells it."""
        given = {"capability": capability, "arguments": arguments, **how.pop("given", {})}
        answer = await self.mcp(token, "tools/call", {"name": "gateway_invoke", "arguments": given}, **how)
        return last_message(answer)["result"]


@asynccontextmanager
async def observed(
    data: Path, *, server: Mapping[str, Any] | None = None, share: float | None = 1.0, **limits: Any
) -> AsyncGenerator[Observed]:
    """Run one until the block ends; it keeps this `share` of the traces, or with None has no tracing at all."""
    port, clock, exporter = free_port(), FakeClock(), InMemorySpanExporter()
    told = {"metrics_listen": "127.0.0.1:9464", **(server or {})}
    config = configuration(port, server=told, requests_per_minute=1_000_000, requests_burst=100_000, **limits)
    tracer = None if share is None else OtelTracer(SimpleSpanProcessor(exporter), ratio=share)
    async with build(config, data, clock=clock, tracer=tracer) as gateway:
        running = server_of(gateway.app, HOST, port, gateway.stop_streams)
        serving = asyncio.create_task(running.serve())
        while not running.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.005)
        try:
            async with httpx.AsyncClient(base_url=f"http://{HOST}:{port}", timeout=PATIENCE) as http:
                store = gateway.services.spine.store
                rig = Observed(
                    gateway.services,
                    port,
                    clock,
                    store,
                    http,
                    _never_fails,
                    gateway=gateway,
                    exporter=exporter,
                    data=data,
                )
                yield rig
                await rig.close()
        finally:
            gateway.stop_streams()
            running.should_exit = True
            await serving
            clock.advance(1_000)
    if tracer is not None:
        tracer.close()


def lines_of(text: str) -> list[dict[str, Any]]:
    """The log lines in what was written to standard error."""
    return [json.loads(line) for line in text.splitlines()]


def _never_fails() -> Callable[[], None]:
    raise AssertionError("the store of a whole gateway is a real one; it does not fail on command")
