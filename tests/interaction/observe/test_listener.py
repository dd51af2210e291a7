"""`/metrics` has a listener of its own: it tells what the doors just did, and lives and dies with them."""

import asyncio
from asyncio.subprocess import PIPE
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.gateway_process import OSTIARY, Place, client_of, invocation
from tests.support.in_loop import until
from tests.support.mcp_gateway import free_port

pytestmark = pytest.mark.anyio

HOST = "127.0.0.1"


def place_with_metrics(folder: Path, port: int) -> Place:
    """A place whose gateway tells its metrics at `port`."""
    folder.mkdir(exist_ok=True)
    place = Place(folder)
    place.file.write_text(place.file.read_text().replace("server: {", f'server: {{metrics_listen: "{HOST}:{port}", '))
    return place


async def value(metrics: httpx.AsyncClient, name: str, **labels: str) -> float:
    """The sum of the series of `name` with these labels, as Prometheus would read them now."""
    answer = await metrics.get("/metrics")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    families = text_string_to_metric_families(answer.text)
    return sum(s.value for f in families for s in f.samples if s.name == name and labels.items() <= s.labels.items())


async def refused_words(place: Place) -> str:
    """What a gateway says that cannot start."""
    process = await asyncio.create_subprocess_exec(*OSTIARY, "serve", *place.places(), stdout=PIPE, stderr=PIPE)
    out, err = await process.communicate()
    assert (process.returncode, out) == (1, b"")
    return err.decode()


async def test_it_counts_what_the_doors_did_and_is_gone_with_them(tmp_path: Path) -> None:
    port = free_port()
    place = place_with_metrics(tmp_path, port)
    token = await place.token()
    async with httpx.AsyncClient(base_url=f"http://{HOST}:{port}") as metrics:
        async with place.serving() as running, client_of(running) as doors:
            served = {"http_route": "/surface/v1", "http_response_status_code": "200"}
            assert await value(metrics, "http_server_request_duration_seconds_count", **served) == 0
            assert (await doors.post("/surface/v1", **invocation(token, "one"))).status_code == 200
            assert await value(metrics, "ostiary_calls_total", state="succeeded", entry="agent_tool") == 1
            assert await value(metrics, "ostiary_ledger_used") == 1
            # The answer is there a little before its request is over.
            await until(lambda: _is_counted(metrics, served))

            assert (await doors.get("/metrics")).status_code == 404
            for path in ("/surface/v1", "/mcp", "/readyz", "/admin/v1/status", "/"):
                assert (await metrics.get(path)).status_code == 404, path
            assert (await metrics.post("/metrics")).status_code == 405
            assert (await metrics.get("/metrics", headers={"host": "evil.test"})).status_code == 421
        assert running.process.returncode == 0
        with pytest.raises(httpx.ConnectError):
            await metrics.get("/metrics")


async def _is_counted(metrics: httpx.AsyncClient, served: dict[str, str]) -> bool:
    return await value(metrics, "http_server_request_duration_seconds_count", **served) == 1


async def test_a_second_gateway_on_the_same_port_says_so_and_the_first_goes_on(tmp_path: Path) -> None:
    port = free_port()
    first, second = (place_with_metrics(tmp_path / name, port) for name in ("first", "second"))
    async with first.serving(), httpx.AsyncClient(base_url=f"http://{HOST}:{port}") as metrics:
        assert await refused_words(second) == (
            f"error: cannot listen on `{HOST}:{port}`: Address already in use;"
            " change `server.metrics_listen`, or stop what listens there\n"
        )
        assert [path.name for path in second.data.iterdir()] == ["gateway.lock"], "nothing was begun"
        assert await value(metrics, "ostiary_store_up") == 1


@pytest.mark.parametrize("where", ["127.0.0.1", "0.0.0.0"])  # noqa: S104 - named, and refused
async def test_the_doors_and_the_metrics_cannot_share_an_address(tmp_path: Path, where: str) -> None:
    place = Place(tmp_path)
    text = place.file.read_text()
    place.file.write_text(text.replace("server: {", f'server: {{metrics_listen: "{where}:{place.port}", '))
    said = await refused_words(place)
    assert "ostiary.yaml:2:26: `server.metrics_listen` is where `server.listen` listens" in said
    assert not place.data.exists()
