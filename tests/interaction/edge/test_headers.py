"""Every answer says how it may be used, whichever door gave it."""

from pathlib import Path

import pytest

from tests.support.whole_gateway import DOORS, serving

pytestmark = pytest.mark.anyio

PATHS = ("/livez", "/readyz", "/nowhere", "/surface-host.js", "/surface-host/nothing.js", "/mcp", "/.well-known/x")


async def test_every_answer_keeps_browsers_from_misreading_it(tmp_path: Path) -> None:
    async with serving(tmp_path, server={"public_url": "https://gw.example.test"}) as whole:
        answers = [await whole.post(door) for door in DOORS]
        answers += [await whole.post(door, authorization="Basic x") for door in DOORS]
        answers += [await whole.client.get(f"{whole.origin}{path}") for path in PATHS]
        for answer in answers:
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
            assert answer.headers["strict-transport-security"] == "max-age=31536000"
            assert answer.headers.get_list("cache-control")
            assert "server" not in answer.headers
        private = [answer for answer in answers if "surface-host" not in answer.url.path]
        assert {answer.headers["cross-origin-resource-policy"] for answer in private} == {"same-origin"}
        assert {"no-store", "no-cache"} >= {answer.headers["cache-control"].split(",")[0] for answer in private}


async def test_browser_files_still_load_everywhere_and_http_promises_no_https(tmp_path: Path) -> None:
    async with serving(tmp_path) as whole:
        answer = await whole.client.get(f"{whole.origin}/surface-host.js", headers={"origin": "https://any.test"})
        assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["cache-control"] == "public, max-age=60"
        assert "strict-transport-security" not in answer.headers
