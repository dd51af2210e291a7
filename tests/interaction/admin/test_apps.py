"""Installed mini apps over the admin API: what they declare, what became of them, and nothing of their files."""

from pathlib import Path

import pytest

from capabilities.package import write_package
from tests.interaction.admin.client import Program
from tests.interaction.page.rig import Rig
from tests.support.mini_apps import a_surface_package

pytestmark = pytest.mark.anyio

APP = "com.example.focus"


async def test_an_installed_app_is_told_with_its_versions(rig: Rig, admin: Program) -> None:
    assert await admin.get("/apps") == {"items": []}
    package = a_surface_package()
    rig.files.sources[Path("/package")] = write_package(package)
    await rig.services.mini_apps.install(Path("/package"), by="test")
    (told,) = (await admin.get("/apps"))["items"]
    assert await admin.get(f"/apps/{APP}") == told
    assert {key: told[key] for key in ("app", "name", "version", "state", "tools", "granted", "fault", "worker")} == {
        "app": APP,
        "name": "Focus",
        "version": "1.0.0",
        "state": "disabled",
        "tools": ["focus.start", "focus.stop"],
        "granted": [],
        "fault": None,
        "worker": None,
    }
    assert [(v["version"], v["digest"]) for v in told["versions"]] == [("1.0.0", package.digest)]
    await rig.services.mini_apps.enable(APP, by="test")
    assert (await admin.get(f"/apps/{APP}"))["state"] == "enabled"


async def test_an_app_that_is_not_there_is_not_found_and_none_is_changed_here(admin: Program) -> None:
    answer = await admin.ask("GET", "/apps/org.example.none")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    answer = await admin.ask("POST", "/apps", {})
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
