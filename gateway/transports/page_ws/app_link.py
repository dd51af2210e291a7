"""The way to frames: `FrameLink` and `SurfaceLink` over the page channel."""

from collections.abc import Mapping
from typing import Any

import orjson

from gateway.domain.app_catalog import OfferedApp, OfferedSurface
from gateway.domain.bundles import SentBundle
from gateway.domain.calls import Call
from gateway.domain.instances import Instance
from gateway.domain.sandbox import bundle_address, frame_address
from gateway.domain.surfaces import Surface
from gateway.protocol import app_frames
from gateway.runtime.pages import Pages
from gateway.runtime.workspaces import JsonObject, Shown
from gateway.runtime.world import LivePage
from surface_host.bundles import Parts


class AppLink:
    """Writes to the live document of a page session only."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def open(self, page: LivePage, instance: Instance, shown: Shown) -> bool:
        app, surface = shown.app, shown.app.surface
        if surface is None:
            return False
        opening = app_frames.Opening(
            app=app.id,
            version=app.version,
            title=app.name,
            surface=surface.id,
            sandbox=frame_address(page.session.site),
            bundle=bundle_address(app.digest, surface.id),
            integrity=surface.integrity,
            events=surface.events,
            has_handlers=surface.has_handlers,
            state=shown.state,
            revision=shown.revision,
            data=orjson.loads(shown.data),
        )
        return self._send(page, app_frames.app_open(instance.id, opening))

    def state(self, page: LivePage, instance: Instance, state: JsonObject) -> bool:
        return self._send(page, app_frames.app_state(instance.id, state))

    def ask_front(self, page: LivePage, instance: Instance, *, agent: str, remaining_ms: int) -> bool:
        return self._send(page, app_frames.app_foreground(instance.id, agent=agent, remaining=remaining_ms))

    def close(self, page: LivePage, instance: Instance, reason: str) -> bool:
        return self._send(page, app_frames.app_close(instance.id, reason))

    def tool(self, page: LivePage, instance: str, call: Call, arguments: str, remaining_ms: int) -> bool:
        frame = app_frames.app_tool(instance, call.ref, call.capability, arguments, remaining_ms)
        return self._send(page, frame)

    def cancel(self, page: LivePage, instance: str, ref: str) -> bool:
        return self._send(page, app_frames.app_cancel(instance, ref))

    def show(
        self, page: LivePage, surface: Surface, app: OfferedApp, offered: OfferedSurface, state: JsonObject
    ) -> bool:
        opening = app_frames.Opening(
            app=app.id,
            version=app.version,
            title=app.name if surface.title is None else f"{app.name}: {surface.title}",
            surface=offered.id,
            sandbox=frame_address(page.session.site),
            bundle=bundle_address(app.digest, offered.id),
            integrity=offered.integrity,
            events=offered.events,
            # What an agent opens only shows: its bundle runs no calls and asks for nothing.
            has_handlers=False,
            state=state,
        )
        return self._send(page, app_frames.app_open(surface.id, opening))

    def show_sent(
        self, page: LivePage, surface: Surface, bundle: SentBundle, parts: Parts, state: JsonObject, *, agent: str
    ) -> bool:
        opening = app_frames.Opening(
            app=surface.app,
            version=surface.version,
            title=bundle.name if surface.title is None else f"{bundle.name}: {surface.title}",
            surface=surface.surface,
            sandbox=frame_address(page.session.site),
            bundle="",
            integrity=bundle.integrity,
            events=(app_frames.EVERY_EVENT,) if bundle.events is None else bundle.events,
            profile=bundle.profile,
            state=state,
            sent=app_frames.SentParts(agent=agent, html=parts.html, css=parts.css, js=parts.js),
        )
        return self._send(page, app_frames.app_open(surface.id, opening))

    def change(self, page: LivePage, surface: Surface, state: JsonObject) -> bool:
        return self._send(page, app_frames.app_state(surface.id, state))

    def offer_front(self, page: LivePage, surface: Surface, *, agent: str, remaining_ms: int) -> bool:
        return self._send(page, app_frames.app_foreground(surface.id, agent=agent, remaining=remaining_ms))

    def hide(self, page: LivePage, surface: Surface) -> bool:
        return self._send(page, app_frames.app_close(surface.id, surface.reason or ""))

    def _send(self, page: LivePage, frame: Mapping[str, Any]) -> bool:
        return self._pages.send(page.id, page.session.epoch, frame)
