"""Installed mini apps and capabilities of the gateway itself, put into the world by hand."""

from typing import Final

from capabilities.contract import CallModel, Descriptor, HandlerKind
from gateway.domain.app_catalog import AppTool, Catalog, OfferedApp, OfferedSurface
from policy.vocabulary import Confirm, Effect
from tests.interaction.page.rig import Rig

_STATE: Final = Descriptor(
    id="focus.state",
    title="State",
    description="Says what is going on.",
    input_schema={"type": "object"},
    output_schema={"type": "object"},
    effect=Effect.READ,
    confirm=Confirm.NEVER,
    call_model=CallModel.QUERY,
    handler=HandlerKind.PYTHON,
    contract_version="2",
    bundle_hash="d" * 64,
    app_scope="com.example.focus",
    permissions=("http:api.example.test",),
)
FOCUS: Final = OfferedApp(
    id="com.example.focus",
    name="Focus",
    version="1.2.0",
    digest="d" * 64,
    is_enabled=True,
    tools={"focus.state": AppTool(app="com.example.focus", descriptor=_STATE)},
    surface=OfferedSurface(
        id="face", title="bundle-text-7f3a", integrity="sha256-bundle-text-7f3a", events=("tick",)
    ),
    has_worker=True,
)
CANVAS: Final = OfferedApp(
    id="com.example.canvas",
    name="Canvas",
    version="1.0.0",
    digest="c" * 64,
    is_enabled=True,
    surface=OfferedSurface(id="canvas", title="Canvas", integrity="sha256-x", events=("draw", "resize", "snapshot")),
)


def with_apps(rig: Rig, *apps: OfferedApp) -> None:
    """Let exactly these be installed."""
    rig.services.live.install(Catalog.of(apps))


def offered(rig: Rig, *capabilities: str) -> None:
    """Let the gateway itself offer these."""
    world = rig.services.live.world
    declared = {
        name: Descriptor(
            id=name,
            input_schema={"type": "object"},
            effect=Effect.READ,
            confirm=Confirm.NEVER,
            handler=HandlerKind.RUNTIME,
        )
        for name in capabilities
    }
    rig.services.live.configure(world.configuration, declared)
