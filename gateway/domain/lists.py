"""Where a list that is read a page at a time goes on, and which calls it is of."""

from dataclasses import dataclass

from gateway.domain.calls import Call, CallState

Place = tuple[int, str]
"""An instant and an id: lists go from the newest down, and a page ends above what follows this place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which calls a list is of; None leaves a field open."""

    agent: str | None = None
    user: str | None = None
    session: str | None = None
    capability: str | None = None
    site: str | None = None
    state: CallState | None = None

    def takes_in(self, call: Call) -> bool:
        """Whether `call` is one of them."""
        return (
            self.agent in (None, call.agent)
            and self.user in (None, call.user)
            and self.session in (None, call.session)
            and self.capability in (None, call.capability)
            and self.site in (None, call.site)
            and self.state in (None, call.state)
        )
