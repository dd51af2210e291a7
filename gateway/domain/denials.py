"""A remembered no: the same request is answered `denied` for ten minutes without a new prompt (design §5)."""

from dataclasses import dataclass
from typing import Final

DENIAL_MS: Final = 600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """One remembered no of `user` to one exact request of `agent`."""

    agent: str
    user: str
    request_fingerprint: str
    capability: str
    title: str
    until: int
