"""Swapping the configuration of a running gateway: what was asked or accepted is judged again (design §5)."""

from collections.abc import Callable, Mapping

from capabilities.contract import Descriptor
from gateway.domain.audit import AuditEvent
from gateway.domain.configuration import Configuration
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.effects import After
from gateway.runtime.pages import CLOSE_ORIGIN, Pages
from gateway.runtime.ports import Clock, Tx
from gateway.runtime.rejudging import withdraw_changed
from gateway.runtime.spine import Spine
from gateway.runtime.world import Live, LivePage
from policy.model import name_matches


class Reconfiguration:
    """One per gateway."""

    def __init__(
        self,
        *,
        spine: Spine,
        live: Live,
        clock: Clock,
        pages: Pages,
        builtins: Callable[[Configuration], Mapping[str, Descriptor]],
    ) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._pages = pages
        self._builtins = builtins

    async def apply(self, configuration: Configuration, *, by: str | None = None) -> None:
        """Take `configuration` over; equal decisions keep open calls and approvals, others withdraw them."""
        reach(Point.RELOAD_READ)
        self._live.configure(configuration, self._builtins(configuration))
        now, world = self._clock.now(), self._live.world

        def work(tx: Tx) -> After:
            effects = withdraw_changed(tx, world, now)
            record = audit.of_admin(AuditEvent.CONFIGURATION_LOADED, now, configuration=configuration.revision, by=by)
            tx.audit.append(record)
            reach(Point.RELOAD_WRITTEN)
            return After(None, effects)

        await self._spine.run(work)
        reach(Point.RELOAD_COMMITTED)
        for page in world.pages.values():
            link = self._pages.link(page.id)
            if link is not None and not _still_welcome(configuration, page):
                link.close(CLOSE_ORIGIN, "revoked")


def _still_welcome(configuration: Configuration, page: LivePage) -> bool:
    site = configuration.sites.get(page.session.site)
    return (
        site is not None
        and page.session.origin in site.origins
        and any(name_matches(pattern, page.session.user) for pattern in site.users)
    )
