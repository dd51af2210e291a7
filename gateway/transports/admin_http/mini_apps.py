"""Installed mini apps, to be read; they are changed at the command line, where their packages lie."""

from typing import Any, Final

from gateway.domain.errors import ErrorCode
from gateway.protocol.admin import mini_apps as answers
from gateway.runtime.app_shelf import AppView
from gateway.transports.admin_http.operations import Asked, Operation, Told
from gateway.transports.control import views


def _app(asked: Asked[Any, Any], view: AppView) -> dict[str, Any]:
    return views.of_app(view, asked.services.mini_apps.worker_of(view))


async def _list_apps(asked: Asked[Any, Any]) -> Told:
    return Told(value={"items": [_app(asked, view) for view in await asked.services.mini_apps.list()]})


async def _get_app(asked: Asked[Any, Any]) -> Told:
    return Told(value=_app(asked, await asked.services.mini_apps.find(asked.names["app"])))


OPERATIONS: Final = (
    Operation(
        name="listApps",
        method="GET",
        path="/apps",
        told="The installed mini apps.",
        run=_list_apps,
        answer=answers.Apps,
    ),
    Operation(
        name="getApp",
        method="GET",
        path="/apps/{app}",
        told="One installed mini app.",
        run=_get_app,
        answer=answers.App,
        refusals=(ErrorCode.NOT_FOUND,),
    ),
)
