"""Host intents: what the person or the browser did to a mini app's frame (seed 002 §3, `rules.md` F8).

They are facts of the page, never calls; what follows from one is for the runtime to rule.
"""

from enum import StrEnum


class HostIntent(StrEnum):
    """What happened to one instance on its page."""

    FOREGROUNDED = "foregrounded"
    """It is in front again in a visible document."""

    BACKGROUNDED = "backgrounded"
    """The document it is in front of was hidden."""

    LEFT_WORKSPACE = "left_workspace"
    """The person went back, to another view, or to another mini app."""

    CLOSED = "closed"
    """The person closed it; its frame is gone."""

    RESTORED = "restored"
    """Its frame is there again after the document came back."""

    LOCKED = "locked"
    """The screen was locked."""
