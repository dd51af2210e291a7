"""The sandbox: what is served there, to whom, and that nothing there is ever more than a frame without a network."""

import json

import pytest

from surface_host.bundles import Parts, integrity_of
from tests.interaction.page.rig import ORIGIN, Rig
from tests.support.surface_packages import surface_package

pytestmark = pytest.mark.anyio

HTML, CSS, JS = "<p>hello</p>", "p{margin:0}", "1"


def install(rig: Rig, **files: bytes) -> str:
    digest, package = surface_package(HTML, CSS, JS, events=("draw",))
    rig.files.put(digest, {**package, **{name.replace("_", "."): body for name, body in files.items()}})
    return digest


async def test_the_outer_frame_may_be_shown_by_the_pages_of_its_site_alone(rig: Rig) -> None:
    answer = await rig.http.get("/sandbox/v1/frame/todo")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    policies = answer.headers.get_list("content-security-policy")
    assert f"frame-ancestors {ORIGIN}" in policies
    again = await rig.http.get("/sandbox/v1/frame/todo", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.headers["cache-control"]) == (304, "public, no-cache")
    assert f"frame-ancestors {ORIGIN}" in again.headers.get_list("content-security-policy")


@pytest.mark.parametrize(
    "path",
    [
        "/sandbox/v1/frame/todo",
        "/sandbox/v1/frame/other",
        "/sandbox/v1/apps/{digest}/main",
        "/sandbox/v1/apps/{digest}/other",
        "/sandbox/v1/apps/{other}/main",
        "/sandbox/v1/apps/..%2F{digest}/main",
        "/sandbox/",
        "/sandbox/v2/frame/todo",
    ],
)
async def test_every_answer_carries_the_frame_s_policy(rig: Rig, path: str) -> None:
    answer = await rig.http.get(path.format(digest=install(rig), other="0" * 64))
    policy = ", ".join(answer.headers.get_list("content-security-policy"))
    for word in (
        "sandbox allow-scripts;",
        "default-src 'none'",
        "connect-src 'none'",
        "frame-src 'none'",
        "frame-ancestors",
    ):
        assert word in policy
    assert "allow-same-origin" not in policy
    assert answer.headers["connection-allowlist"] == "()"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(("method", "host"), [("POST", None), ("DELETE", None), ("GET", "elsewhere.example.test")])
async def test_refusals_carry_it_too(rig: Rig, method: str, host: str | None) -> None:
    headers = {} if host is None else {"Host": host}
    answer = await rig.http.request(method, "/sandbox/v1/frame/todo", headers=headers)
    assert answer.status_code >= 400
    assert any("sandbox allow-scripts;" in policy for policy in answer.headers.get_list("content-security-policy"))


async def test_a_bundle_is_served_by_digest_for_ever_and_is_the_one_that_was_installed(rig: Rig) -> None:
    digest = install(rig)
    answer = await rig.http.get(
        f"/sandbox/v1/apps/{digest}/main", headers={"Origin": "https://anywhere.example.test"}
    )
    assert json.loads(answer.content) == {"html": HTML, "css": CSS, "js": JS}
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "immutable" in answer.headers["cache-control"]
    found = await rig.services.bundles.find(digest, "main")
    assert found is not None
    assert found.integrity == integrity_of(Parts(html=HTML, css=CSS, js=JS))
    assert (found.events, found.has_handlers) == (("draw",), False)


@pytest.mark.parametrize("file", ["main_js", "main_html", "manifest_json"])
async def test_a_package_that_was_changed_on_disk_is_not_served(rig: Rig, file: str) -> None:
    digest = install(rig, **{file: b'{"changed": true}'})
    assert (await rig.http.get(f"/sandbox/v1/apps/{digest}/main")).status_code == 404


async def test_a_surface_that_may_not_be_shown_is_not_served(rig: Rig) -> None:
    digest, package = surface_package("<iframe>", None, None)
    rig.files.put(digest, package)
    assert (await rig.http.get(f"/sandbox/v1/apps/{digest}/main")).status_code == 404


async def test_a_removed_package_is_gone_once_it_is_forgotten(rig: Rig) -> None:
    digest = install(rig)
    assert (await rig.http.get(f"/sandbox/v1/apps/{digest}/main")).status_code == 200
    rig.files.remove(digest)
    rig.services.bundles.forget(digest)
    assert (await rig.http.get(f"/sandbox/v1/apps/{digest}/main")).status_code == 404


async def test_what_is_asked_for_most_lately_stays_in_memory(rig: Rig) -> None:
    digests: list[str] = []
    for number in range(40):
        digest, package = surface_package(f"<p>{number}</p>")
        rig.files.put(digest, package)
        digests.append(digest)
        assert await rig.services.bundles.find(digest, "main") is not None
    for digest in digests:
        rig.files.remove(digest)
    known = [await rig.services.bundles.find(digest, "main") is not None for digest in digests]
    assert known == [False] * 8 + [True] * 32
