"""C06 Probing clients get the status and the body that send them down the right path (both eras are listed)."""

from pathlib import Path

import httpx

from tests.interaction.mcp.test_leaving import begin
from tests.support.in_loop import in_loop
from tests.support.mcp_gateway import MODERN, last_message, running_gateway

VERSION = "io.modelcontextprotocol/protocolVersion"


@in_loop
async def test_the_probes(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        p1 = await gateway.modern(client, "server/discover")
        assert p1.status_code == 200
        assert {"2026-07-28", "2025-11-25"} <= set(p1.json()["result"]["supportedVersions"])

        p2 = await gateway.modern(client, "tools/teleport")
        assert (p2.status_code, p2.json()["error"]["code"], p2.json()["id"]) == (404, -32601, 1)

        future = {"mcp-protocol-version": "2099-01-01"}
        p3 = await gateway.modern(client, "tools/list", meta={VERSION: "2099-01-01"}, headers=future)
        assert (p3.status_code, p3.json()["error"]["code"]) == (400, -32022)
        assert p3.json()["error"]["data"]["requested"] == "2099-01-01"
        assert {"2026-07-28", "2025-11-25"} <= set(p3.json()["error"]["data"]["supported"])

        p4 = await gateway.modern(client, "server/discover", headers={"authorization": ""})
        assert p4.status_code == 401
        assert p4.headers["www-authenticate"].startswith("Bearer")

        head = await begin(gateway, client)
        p5 = await client.post(
            gateway.url, json={"jsonrpc": "2.0", "id": 2, "method": "tools/teleport"}, headers=head
        )
        assert (p5.status_code, last_message(p5)["error"]["code"]) == (200, -32601)

        p6 = await gateway.modern(client, "tools/list", meta={VERSION: "2025-11-25"})
        assert (p6.status_code, p6.json()["error"]["code"]) == (400, -32020)

        message, modern_head = gateway.modern_parts("tools/list")
        del message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
        p7 = await client.post(gateway.url, json=message, headers=modern_head)
        assert (p7.status_code, p7.json()["error"]["code"]) == (400, -32602)

        for version in ({}, {"mcp-protocol-version": MODERN}):
            for method in ("GET", "DELETE"):
                p8 = await client.request(method, gateway.url, headers={**gateway.post_headers(), **version})
                assert p8.status_code in (400, 404, 405)
                assert "error" in p8.json()
                assert "mcp-session-id" not in p8.headers

        p9 = await gateway.modern(client, "tools/list")
        assert p9.status_code == 200
        assert "mcp-session-id" not in p9.headers
        old = await client.post(gateway.url, json={"jsonrpc": "2.0", "id": 3, "method": "tools/list"}, headers=head)
        assert "tools" in last_message(old)["result"]
