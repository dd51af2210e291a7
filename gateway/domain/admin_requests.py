"""What a request of the admin API made that its caller named, so that it can be sent again safely."""

from dataclasses import dataclass
from typing import Final

REMEMBERED_MS: Final = 86_400_000
"""How long a repetition is recognised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a repeatable request made, so that its repetition makes nothing again.

    `holder` is the token, `key` the caller's own name of the request (digested), `request` the digest of what it
    asked, `name` the id of what was made, remembered until `until`.
    """

    holder: str
    key: str
    request: str
    name: str
    until: int
