"""One installed mini app: its versions, whether agents may use it, and the table that moves it (seed 002 §4). Pure.

A version is a package that was verified and kept; its digest is its address. What it declares is a manifest, which
here is only its text.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gateway.domain.errors import IllegalTransition
from gateway.domain.versions import precedence

KEPT: Final = 5
"""Versions of one app that are kept to go back to, the current one included."""


class AppState(StrEnum):
    """Where an app stands. An absent one has no row."""

    ABSENT = "absent"
    DISABLED = "disabled"
    ENABLED = "enabled"


class AppEvent(StrEnum):
    """What an administrator does to an app."""

    INSTALL = "install"
    ENABLE = "enable"
    DISABLE = "disable"
    UPGRADE = "upgrade"
    ROLL_BACK = "roll_back"
    REMOVE = "remove"


_S, _E = AppState, AppEvent

TRANSITIONS: Final[Mapping[AppState, Mapping[AppEvent, AppState]]] = MappingProxyType(
    {
        _S.ABSENT: {_E.INSTALL: _S.DISABLED},
        _S.DISABLED: {
            _E.ENABLE: _S.ENABLED,
            _E.DISABLE: _S.DISABLED,
            _E.UPGRADE: _S.DISABLED,
            _E.ROLL_BACK: _S.DISABLED,
            _E.REMOVE: _S.ABSENT,
        },
        _S.ENABLED: {
            _E.ENABLE: _S.ENABLED,
            _E.DISABLE: _S.DISABLED,
            _E.UPGRADE: _S.ENABLED,
            _E.ROLL_BACK: _S.ENABLED,
        },
    }
)
"""An app that is enabled is not removed: first nobody uses it, then it goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppVersion:
    """One installed package.

    Attributes:
        digest: lower-case hex SHA-256 of the manifest's RFC 8785 text; the manifest names every file's digest.
        manifest: that text.
        key: the name of the trusted key that signed it, None where nobody did.
        installed_at: milliseconds since the epoch.
    """

    digest: str
    app: str
    version: str
    manifest: str
    key: str | None
    installed_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MiniApp:
    """One row: which version is current, and what the administrator granted. Instants are ms since the epoch."""

    id: str
    state: AppState
    digest: str
    granted: tuple[str, ...]
    installed_at: int
    changed_at: int

    @property
    def is_enabled(self) -> bool:
        """Whether agents may use it."""
        return self.state is AppState.ENABLED


def step(
    app: MiniApp, event: AppEvent, *, now: int, digest: str | None = None, granted: Iterable[str] | None = None
) -> MiniApp:
    """Move `app` by `event`; the same object where it stands there already.

    `digest` is the version that becomes current, `granted` all it is granted from now on; without them both stay.

    Raises:
        IllegalTransition: the table has no row for the pair.
    """
    target = TRANSITIONS[app.state].get(event)
    if target is None:
        raise IllegalTransition(f"an app that is `{app.state}` cannot `{event}`")
    grants = app.granted if granted is None else tuple(sorted(set(granted)))
    moved = replace(app, state=target, digest=digest or app.digest, granted=grants)
    return app if moved == app else replace(moved, changed_at=now)


def ordered(versions: Iterable[AppVersion]) -> list[AppVersion]:
    """Oldest first, by SemVer's order."""
    return sorted(versions, key=lambda version: precedence(version.version))


def is_upgrade(current: AppVersion, other: AppVersion) -> bool:
    """Whether `other` comes after `current`, by SemVer's order."""
    return precedence(other.version) > precedence(current.version)


def former(versions: Iterable[AppVersion], current: AppVersion) -> AppVersion | None:
    """What a rollback goes to: the latest of `versions` that comes before the `current` one."""
    before = [version for version in ordered(versions) if is_upgrade(version, current)]
    return before[-1] if before else None


def surplus(versions: Iterable[AppVersion], *, current: str, replaced: str) -> list[AppVersion]:
    """The oldest of `versions`, to let go so that at most `KEPT` stay; never the digest in use, or in use before."""
    known = ordered(versions)
    others = [version for version in known if version.digest not in (current, replaced)]
    return others[: max(0, len(known) - KEPT)]
