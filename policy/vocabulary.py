"""The words of a decision. `Effect` says what a call does, `Risk` says who must agree (seed 000 §5.2)."""

from enum import StrEnum
from typing import Final, TypeVar


class Effect(StrEnum):
    """What a call does to business state."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


class Risk(StrEnum):
    """Who must agree before a call runs; also the tier of a decision."""

    DISPLAY_ONLY = "display_only"
    USER_CONFIRMATION = "user_confirmation"
    SYSTEM_PERMISSION = "system_permission"
    RESTRICTED = "restricted"


class Confirm(StrEnum):
    """The declarer's wish; it may raise what policy demands, never lower it."""

    NEVER = "never"
    POLICY = "policy"
    ALWAYS = "always"


class Verdict(StrEnum):
    """The answer of a decision. `forbid` beats `ask` beats `permit`."""

    PERMIT = "permit"
    ASK = "ask"
    FORBID = "forbid"


_Word = TypeVar("_Word", Effect, Risk, Confirm, Verdict)

_RANK: Final = {word: rank for scale in (Effect, Risk, Confirm, Verdict) for rank, word in enumerate(scale)}


def highest(*words: _Word) -> _Word:
    """The strictest of several words of one scale."""
    return max(words, key=_RANK.__getitem__)
