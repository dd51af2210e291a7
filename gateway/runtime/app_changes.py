"""What an administrator does to a mini app, each as part of one unit of work: rows, and the record of the change.

A change that leaves all as it is has no record.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from gateway.domain.audit import AuditEvent, AuditRecord
from gateway.domain.errors import ErrorCode, GatewayError, IllegalTransition
from gateway.domain.mini_apps import (
    AppEvent,
    AppState,
    AppVersion,
    MiniApp,
    former,
    is_upgrade,
    ordered,
    step,
    surplus,
)
from gateway.runtime import audit
from gateway.runtime.app_packages import Judged
from gateway.runtime.ports import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an app came to. `record` is None where it stood there already."""

    app: MiniApp
    record: AuditRecord | None = None


_NEXT: Final = {
    AppEvent.INSTALL: "it is installed in another version; `ostiary app upgrade` replaces that",
    AppEvent.REMOVE: "it is enabled; `ostiary app disable` comes first",
}


def get_app(tx: Tx, name: str) -> MiniApp:
    """The installed app `name`.

    Raises:
        GatewayError: `not_found`.
    """
    app = tx.mini_apps.find(name)
    if app is None:
        raise GatewayError(ErrorCode.NOT_FOUND, f"there is no app `{name[:160]}`; `ostiary app list` shows them")
    return app


def get_version(tx: Tx, digest: str) -> AppVersion:
    """A version that a row names, so it is there."""
    found = tx.mini_apps.find_version(digest)
    assert found is not None, "a row names only versions that are kept"
    return found


# -- install and upgrade ------------------------------------------------------------------------------------------


def check_install(tx: Tx, judged: Judged) -> None:
    """Whether the package may be installed; the same one again may.

    Raises:
        GatewayError: `state_conflict`, with what to do instead.
    """
    app = tx.mini_apps.find(judged.package.manifest.app.id)
    if app is not None and app.digest != judged.package.digest:
        _same_version_is_same_content(tx, judged)
        raise _conflict(app.id, _NEXT[AppEvent.INSTALL])


def install(tx: Tx, judged: Judged, now: int, by: str) -> Change:
    """Add the app, disabled. Raises as `check_install` does."""
    check_install(tx, judged)
    package, manifest = judged.package, judged.package.manifest
    there = tx.mini_apps.find(manifest.app.id)
    if there is not None:
        return Change(app=there)
    absent = MiniApp(
        id=manifest.app.id,
        state=AppState.ABSENT,
        digest=package.digest,
        granted=(),
        installed_at=now,
        changed_at=now,
    )
    app = step(absent, AppEvent.INSTALL, now=now)
    tx.mini_apps.put(app)
    tx.mini_apps.add_version(_version_of(judged, now))
    record = audit.of_admin(
        AuditEvent.APP_INSTALLED,
        now,
        app=app.id,
        version=manifest.app.version,
        digest=package.digest[:32],
        signed_by=judged.key,
        by=by,
    )
    return Change(app=app, record=record)


def check_upgrade(tx: Tx, judged: Judged) -> MiniApp:
    """The app that the package may replace; the current package again may.

    Raises:
        GatewayError: `not_found`, or `state_conflict` with what to do instead.
    """
    manifest = judged.package.manifest
    app = tx.mini_apps.find(manifest.app.id)
    if app is None:
        raise GatewayError(
            ErrorCode.NOT_FOUND, f"app `{manifest.app.id}` is not installed; `ostiary app install` does that"
        )
    current = get_version(tx, app.digest)
    if current.digest != judged.package.digest:
        _same_version_is_same_content(tx, judged)
        if not is_upgrade(current, _version_of(judged, 0)):
            raise _conflict(
                app.id,
                f"version `{manifest.app.version}` does not come after `{current.version}`; "
                "`ostiary app rollback` goes back",
            )
    return app


def upgrade(tx: Tx, judged: Judged, now: int, by: str) -> Change:
    """Make the package the app's current version. Raises as `check_upgrade` does."""
    app = check_upgrade(tx, judged)
    package, manifest = judged.package, judged.package.manifest
    if app.digest == package.digest:
        return Change(app=app)
    was = get_version(tx, app.digest)
    moved = step(
        app,
        AppEvent.UPGRADE,
        now=now,
        digest=package.digest,
        # What a version does not ask for is not granted: a later one that asks again is not given it unseen.
        granted=set(app.granted) & set(manifest.permissions),
    )
    if tx.mini_apps.find_version(package.digest) is None:
        tx.mini_apps.add_version(_version_of(judged, now))
    tx.mini_apps.put(moved)
    for old in surplus(tx.mini_apps.versions(app.id), current=package.digest, replaced=was.digest):
        tx.mini_apps.drop_version(old.digest)
    record = audit.of_admin(
        AuditEvent.APP_UPGRADED,
        now,
        app=app.id,
        version=manifest.app.version,
        was=was.version,
        digest=package.digest[:32],
        signed_by=judged.key,
        permissions=list(moved.granted),
        by=by,
    )
    return Change(app=moved, record=record)


def _same_version_is_same_content(tx: Tx, judged: Judged) -> None:
    manifest = judged.package.manifest
    for kept in tx.mini_apps.versions(manifest.app.id):
        if kept.version == manifest.app.version and kept.digest != judged.package.digest:
            raise _conflict(
                manifest.app.id,
                f"version `{kept.version}` is kept with other content; give the package another version",
            )


def _version_of(judged: Judged, now: int) -> AppVersion:
    manifest = judged.package.manifest
    return AppVersion(
        digest=judged.package.digest,
        app=manifest.app.id,
        version=manifest.app.version,
        manifest=manifest.text.decode(),
        key=judged.key,
        installed_at=now,
    )


# -- the others ---------------------------------------------------------------------------------------------------


def rollback_target(tx: Tx, name: str, to: str | None) -> AppVersion:
    """The kept version that a rollback of the app goes to; `to` names it, else the one before the current.

    Raises:
        GatewayError: `not_found`, or `state_conflict` where there is none to go back to.
    """
    app = get_app(tx, name)
    current, kept = get_version(tx, app.digest), ordered(tx.mini_apps.versions(name))
    if to is None:
        target = former(kept, current)
        if target is None:
            raise _conflict(name, f"no version before `{current.version}` is kept; `ostiary app list` shows them")
        return target
    target = next((version for version in kept if version.version == to), None)
    if target is None:
        known = ", ".join(f"`{version.version}`" for version in kept)
        raise _conflict(name, f"version `{to[:80]}` is not kept; there are {known}")
    if is_upgrade(current, target):
        raise _conflict(name, f"`{to}` comes after `{current.version}`; `ostiary app upgrade` goes forward")
    return target


def roll_back(tx: Tx, name: str, target: str, permissions: Collection[str], now: int, by: str) -> Change:
    """Make the kept version with the digest `target`, which asks for `permissions`, the current one."""
    app = get_app(tx, name)
    if app.digest == target:
        return Change(app=app)
    was, version = get_version(tx, app.digest), get_version(tx, target)
    granted = set(app.granted) & set(permissions)
    moved = step(app, AppEvent.ROLL_BACK, now=now, digest=target, granted=granted)
    tx.mini_apps.put(moved)
    record = audit.of_admin(
        AuditEvent.APP_ROLLED_BACK,
        now,
        app=name,
        version=version.version,
        was=was.version,
        digest=target[:32],
        permissions=list(moved.granted),
        by=by,
    )
    return Change(app=moved, record=record)


def enable(tx: Tx, name: str, granted: Collection[str], now: int, by: str) -> Change:
    """Let agents use the app; `granted` are all permissions it has from now on."""
    app = get_app(tx, name)
    moved = step(app, AppEvent.ENABLE, now=now, granted=granted)
    if moved is app:
        return Change(app=app)
    tx.mini_apps.put(moved)
    record = audit.of_admin(
        AuditEvent.APP_ENABLED,
        now,
        app=name,
        version=get_version(tx, app.digest).version,
        permissions=list(moved.granted),
        by=by,
    )
    return Change(app=moved, record=record)


def disable(tx: Tx, name: str, now: int, by: str) -> Change:
    """Let no agent use the app any more."""
    app = get_app(tx, name)
    moved = step(app, AppEvent.DISABLE, now=now)
    if moved is app:
        return Change(app=app)
    tx.mini_apps.put(moved)
    version = get_version(tx, app.digest).version
    return Change(app=moved, record=audit.of_admin(AuditEvent.APP_DISABLED, now, app=name, version=version, by=by))


def remove(tx: Tx, name: str, now: int, by: str) -> Change:
    """Forget the app and every version of it.

    Raises:
        GatewayError: `not_found`, or `state_conflict` where it is enabled.
    """
    app = get_app(tx, name)
    version = get_version(tx, app.digest).version
    try:
        gone = step(app, AppEvent.REMOVE, now=now)
    except IllegalTransition:
        raise _conflict(name, _NEXT[AppEvent.REMOVE]) from None
    tx.mini_apps.remove(name)
    return Change(app=gone, record=audit.of_admin(AuditEvent.APP_REMOVED, now, app=name, version=version, by=by))


def _conflict(app: str, message: str) -> GatewayError:
    return GatewayError(ErrorCode.STATE_CONFLICT, f"app `{app}`: {message}")
