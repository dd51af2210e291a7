"""Installed mini apps over the surface protocol: described without a page, and told apart from what never was."""

from pathlib import Path

import pytest

from capabilities.package import write_package
from tests.interaction.page.rig import Rig
from tests.interaction.surface.client import envelope, invoke, post
from tests.support.mini_apps import a_surface_package

pytestmark = pytest.mark.anyio

APP = "com.example.focus"


async def granted(rig: Rig) -> str:
    return (await rig.grant(scope=["focus.*"]))[1]


async def test_what_needs_no_page_is_described_without_one(rig: Rig) -> None:
    """Rules D3."""
    token = await granted(rig)
    rig.files.sources[Path("/package")] = write_package(a_surface_package())
    await rig.services.mini_apps.install(Path("/package"), by="test")
    assert (await post(rig, token, envelope("describe"))).json()["result"]["capabilities"] == []
    await rig.services.mini_apps.enable(APP, by="test")
    told = (await post(rig, token, envelope("describe"))).json()["result"]
    assert [capability["id"] for capability in told["capabilities"]] == ["focus.stop"]
    assert (told["context"], told["pages"]) == (None, 0)


async def test_what_a_disabled_app_offered_is_revoked_for_who_saw_it_and_unknown_to_others(rig: Rig) -> None:
    """Rules B3."""
    saw, never = await granted(rig), await granted(rig)
    rig.files.sources[Path("/package")] = write_package(a_surface_package())
    await rig.services.mini_apps.install(Path("/package"), by="test")
    await rig.services.mini_apps.enable(APP, by="test")
    await post(rig, saw, envelope("describe"))
    await rig.services.mini_apps.disable(APP, by="test")
    answers = [(await post(rig, token, invoke("focus.stop"))).json() for token in (saw, never)]
    assert [(answer["ok"], answer["error"]["code"]) for answer in answers] == [
        (False, "revoked"),
        (False, "CAPABILITY_NOT_EXPOSED"),
    ]
    assert len(await rig.records("call.refused", capability="focus.stop")) == 2
