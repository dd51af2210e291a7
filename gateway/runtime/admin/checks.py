"""What an administrator may type: users, patterns, days."""

import re
from collections.abc import Sequence
from typing import Final

from gateway.domain.errors import ErrorCode, GatewayError
from policy.patterns import is_pattern

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 86_400_000
DAYS_MAX: Final = 366
USER_MAX: Final = 256
REASON_MAX: Final = 200

_UNPRINTABLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_CONVERSATION: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")


def bad(message: str) -> GatewayError:
    """A refusal that tells the administrator what to mend."""
    return GatewayError(ErrorCode.BAD_REQUEST, message)


def absent(kind: str, name: str, command: str | None = None) -> GatewayError:
    """A refusal because nothing of this kind has that name; `command` lists what there is."""
    advice = f"; `ostiary {command}` shows them" if command else ""
    return GatewayError(ErrorCode.NOT_FOUND, f"there is no {kind} `{name[:160]}`{advice}")


def check_user(user: str) -> None:
    """A user as sites name them."""
    if not user.strip() or user != user.strip() or len(user) > USER_MAX or _UNPRINTABLE.search(user):
        raise bad(f"a user is 1 to {USER_MAX} visible characters, exactly as the site's backend names it")


def check_patterns(patterns: Sequence[str]) -> None:
    """Well-formed capability patterns."""
    for pattern in patterns:
        if not is_pattern(pattern):
            raise bad(f"`{pattern[:160]}` is neither a capability id nor a pattern like `todo.*`")


def check_days(days: int) -> None:
    """A life of whole days."""
    if not 1 <= days <= DAYS_MAX:
        raise bad(f"`{days}` days is not between 1 and {DAYS_MAX}")


def check_hours(hours: int) -> None:
    """A life of whole hours."""
    if not 1 <= hours <= DAYS_MAX * 24:
        raise bad(f"`{hours}` hours are not between 1 hour and {DAYS_MAX} days")


def check_conversation(name: str | None) -> None:
    """The name of a conversation, if one is given."""
    if name is not None and not _CONVERSATION.fullmatch(name):
        raise bad(f"conversation `{name[:160]}` is not made of at most 128 of A-Z, a-z, 0-9, `._:-`")


def check_reason(reason: str | None) -> None:
    """A note for the audit trail, if one is given."""
    if reason is not None and (not reason.strip() or len(reason) > REASON_MAX or _UNPRINTABLE.search(reason)):
        raise bad(f"a reason is 1 to {REASON_MAX} visible characters")
