"""The browser files and the two health addresses."""

import base64
import hashlib

import pytest

from surface_host import read_manifest
from tests.interaction.page.rig import Rig

pytestmark = pytest.mark.anyio

FILES = (
    "surface-host.js",
    "surface-host.mjs",
    "surface-host-ui.mjs",
    "surface-host-apps.mjs",
    "surface-host-pack.mjs",
    "surface-host-genui.mjs",
    "surface-host-standard.mjs",
    "surface-host-documents.mjs",
    "surface-host-render.mjs",
)


@pytest.mark.parametrize("name", FILES)
async def test_pages_of_any_origin_may_load_and_pin_the_files(rig: Rig, name: str) -> None:
    answer = await rig.http.get(f"/{name}", headers={"Origin": "https://anywhere.example.test"})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "immutable" not in answer.headers["cache-control"]
    digest = base64.b64encode(hashlib.sha384(answer.content).digest()).decode()
    assert read_manifest()[name].sri == f"sha384-{digest}"


async def test_a_pinned_address_never_changes_its_content(rig: Rig) -> None:
    plain = await rig.http.get("/surface-host.js")
    pinned = hashlib.sha384(plain.content).digest()[:16].hex()
    answer = await rig.http.get(f"/surface-host/{pinned}.js")
    assert answer.content == plain.content
    assert "immutable" in answer.headers["cache-control"]
    # What the script fetches beside itself is there as well.
    for name in FILES:
        assert (await rig.http.get(f"/surface-host/{name}")).status_code == 200


async def test_source_maps_are_json(rig: Rig) -> None:
    answer = await rig.http.get("/surface-host.js.map")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"


async def test_a_file_already_held_is_not_sent_again(rig: Rig) -> None:
    tag = (await rig.http.get("/surface-host.js")).headers["etag"]
    answer = await rig.http.get("/surface-host.js", headers={"If-None-Match": tag})
    assert (answer.status_code, answer.content) == (304, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/surface-host/nothing.js",
        "/testing.mjs",
        "/sandbox-frame.html",
        "/surface-host/agent-tools.mjs",
        "/surface-host/../manifest.json",
    ],
)
async def test_nothing_else_is_served(rig: Rig, path: str) -> None:
    assert (await rig.http.get(path)).status_code == 404


async def test_health_says_that_it_runs_and_readiness_that_the_store_answers(rig: Rig) -> None:
    assert (await rig.http.get("/healthz")).status_code == 200
    assert (await rig.http.get("/readyz")).status_code == 200
    await rig.store.close()
    rig.clock.advance(1_000)
    assert (await rig.http.get("/healthz")).status_code == 200
    assert (await rig.http.get("/readyz")).status_code == 503
