"""The commands of the app centre."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from gateway.transports.control import views
from gateway.transports.control.desk import Command, Desk, Named, Parameters, Text, Texts


class ListApps(Parameters):
    """`app.list`; with `verify` the files of each are looked at again."""

    verify: bool = False


class Package(Parameters):
    """`app.install` and `app.upgrade`: a package, named by its whole path."""

    package: Annotated[str, Field(max_length=4096, pattern=r"^/[^\x00]*$")]


class Enable(Named):
    """`app.enable`, with changes of what it is granted."""

    grant: Texts = Field(default_factory=list[str])
    revoke: Texts = Field(default_factory=list[str])


class RollBack(Named):
    """`app.rollback`, to a version or to the one before."""

    to: Text | None = None


async def _list(desk: Desk, p: ListApps) -> Any:
    apps = desk.admin.mini_apps
    return [views.of_app(view, apps.worker_of(view)) for view in await apps.list(verify=p.verify)]


async def _install(desk: Desk, p: Package) -> Any:
    apps = desk.admin.mini_apps
    view = await apps.install(Path(p.package), by=desk.by)
    return views.of_app(view, apps.worker_of(view))


async def _upgrade(desk: Desk, p: Package) -> Any:
    apps = desk.admin.mini_apps
    view = await apps.upgrade(Path(p.package), by=desk.by)
    return views.of_app(view, apps.worker_of(view))


async def _enable(desk: Desk, p: Enable) -> Any:
    apps = desk.admin.mini_apps
    view = await apps.enable(p.name, grant=p.grant, revoke=p.revoke, by=desk.by)
    return views.of_app(view, apps.worker_of(view))


async def _disable(desk: Desk, p: Named) -> Any:
    apps = desk.admin.mini_apps
    view = await apps.disable(p.name, by=desk.by)
    return views.of_app(view, apps.worker_of(view))


async def _roll_back(desk: Desk, p: RollBack) -> Any:
    apps = desk.admin.mini_apps
    view = await apps.roll_back(p.name, to=p.to, by=desk.by)
    return views.of_app(view, apps.worker_of(view))


async def _remove(desk: Desk, p: Named) -> Any:
    await desk.admin.mini_apps.remove(p.name, by=desk.by)
    return {"app": p.name}


COMMANDS: Final[Mapping[str, Command[Any]]] = {
    "app.list": Command(ListApps, _list),
    "app.install": Command(Package, _install),
    "app.upgrade": Command(Package, _upgrade),
    "app.enable": Command(Enable, _enable),
    "app.disable": Command(Named, _disable),
    "app.rollback": Command(RollBack, _roll_back),
    "app.remove": Command(Named, _remove),
}
