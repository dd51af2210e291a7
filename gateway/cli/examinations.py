"""What `ostiary doctor` looks at. Each examination says what it found and how to mend it, and never a secret."""

import os
import resource
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from gateway.domain.configuration import Configuration

_MIB: Final = 1024 * 1024
SPACE_WARN: Final = 1024 * _MIB
SPACE_FAIL: Final = 128 * _MIB
DAY_MS: Final = 86_400_000
SOON_MS: Final = 14 * DAY_MS
CLOCK_SLACK_MS: Final = 5_000
SPARE_FILES: Final = 64
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class Verdict(StrEnum):
    """How bad it is; `fail` ends the command with 1."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    check: str
    verdict: Verdict
    said: str
    fix: str = ""


def fine(check: str, said: str) -> Finding:
    """Nothing to do."""
    return Finding(check=check, verdict=Verdict.OK, said=said)


def odd(check: str, said: str, fix: str) -> Finding:
    """It works, and somebody should look."""
    return Finding(check=check, verdict=Verdict.WARN, said=said, fix=fix)


def broken(check: str, said: str, fix: str) -> Finding:
    """It does not work, or is open to others."""
    return Finding(check=check, verdict=Verdict.FAIL, said=said, fix=fix)


def of_folder(data: Path, database: str) -> Iterator[Finding]:
    """The data folder: whose it is, who may read it, how much fits in."""
    if not data.is_dir():
        yield odd("data folder", f"there is no `{data}` yet", "`ostiary serve` makes it; or name it with `--data`")
        return
    mode = stat.S_IMODE(data.stat().st_mode)
    if mode & 0o077:
        yield broken("data folder", f"`{data}` has mode {mode:04o}", f"`chmod 700 {data}`")
    else:
        yield fine("data folder", f"`{data}`, mode {mode:04o}")
    if data.stat().st_uid != os.getuid() and os.getuid() != 0:
        yield broken("owner", f"`{data}` belongs to another user", "run as the user of the gateway")
    file = data / database
    if file.exists() and stat.S_IMODE(file.stat().st_mode) & 0o077:
        yield broken("database file", f"others may read `{file}`", f"`chmod 600 {file}`")
    free = shutil.disk_usage(data).free
    told = f"{free // _MIB} MiB free"
    fix = "make room, or put the data on a larger disk"
    if free < SPACE_WARN:
        yield (broken if free < SPACE_FAIL else odd)("space", told, fix)
    else:
        yield fine("space", told)


def of_addresses(configuration: Configuration) -> Iterator[Finding]:
    """Whether what agents and pages are told fits where the sites are."""
    public = urlsplit(configuration.server.public_url)
    is_local = public.hostname in _LOOPBACK
    if public.scheme != "https" and not is_local:
        yield broken(
            "public url",
            f"`{configuration.server.public_url}` is not https: tokens would go in clear, and browsers refuse the page",
            "put a TLS proxy before the gateway and set `server.public_url` to its https address",
        )
    else:
        yield fine("public url", configuration.server.public_url)
    for site in configuration.sites.values():
        far = [origin for origin in site.origins if urlsplit(origin).hostname not in _LOOPBACK]
        if far and is_local:
            yield broken(
                f"site `{site.name}`",
                f"people open `{far[0]}`, and their browsers would look for the gateway on their own machine",
                "set `server.public_url` to an address those browsers reach",
            )
        plain = [origin for origin in far if urlsplit(origin).scheme != "https"]
        if plain:
            yield odd(f"site `{site.name}`", f"origin `{plain[0]}` is not https", "serve the site over https")
        own = urlsplit(site.address)
        if f"{own.scheme}://{own.netloc}" not in site.origins:
            yield odd(
                f"site `{site.name}`",
                f"its address `{site.address}` is none of its origins, so a page opened there is refused",
                "add that origin, or mend the address",
            )
        if site.allow_automated_approval and not is_local:
            yield odd(
                f"site `{site.name}`",
                "it takes approvals from automated browsers",
                "leave `allow_automated_approval` out; it is for demos and tests",
            )


def of_limits(configuration: Configuration) -> Finding:
    """Whether the machine lets the gateway have as many connections as it may take."""
    needed = configuration.limits.connections + SPARE_FILES
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        return broken(
            "open files",
            f"this shell may open {soft}, and `limits.connections` alone allows {configuration.limits.connections}",
            f"`LimitNOFILE={needed}` in the unit, `ulimit -n {needed}`, or a lower `limits.connections`",
        )
    return fine("open files", f"{soft} for {configuration.limits.connections} connections")


def of_clock(now: int, newest: int | None) -> Finding:
    """The clock beside the newest audit record."""
    if newest is not None and now + CLOCK_SLACK_MS < newest:
        return broken(
            "clock",
            f"it is {(newest - now) // 1_000} s behind the newest audit record: it was set back, or is wrong",
            "set the clock and keep it with NTP (`timedatectl set-ntp true`)",
        )
    return fine("clock", "not behind the audit trail")


def of_keys(
    configuration: Configuration, keys: Sequence[Mapping[str, Any]], sessions: Sequence[Mapping[str, Any]], now: int
) -> Iterator[Finding]:
    """Whether pages of every site can sign in, and some agent can act."""
    for site in configuration.sites:
        ends = [key["expires_at"] for key in keys if key["site"] == site and key["standing"] == "live"]
        fix = f"`ostiary site key add {site}`, give it to the site's backend, then revoke the old one"
        if not ends:
            yield odd(f"keys of `{site}`", "no service key is live, so no page can sign in", fix)
        elif max(ends) < now + SOON_MS:
            yield odd(f"keys of `{site}`", f"the last one ends in {(max(ends) - now) // DAY_MS} days", fix)
        else:
            yield fine(f"keys of `{site}`", f"{len(ends)} live")
    live = [session for session in sessions if session["standing"] == "live"]
    if sessions and not live:
        yield odd("agent sessions", "none is live", "`ostiary session add AGENT --user U --site S --scope P`")
    elif live and all(session["expires_at"] < now + SOON_MS for session in live):
        yield odd("agent sessions", "all end within 14 days", "make new ones with `ostiary session add`")
    else:
        yield fine("agent sessions", f"{len(live)} live")


def of_packages(data: Path) -> Iterator[Finding]:
    """The files of installed mini apps, each held against its digest; whether a gateway runs or not."""
    # The packages and their schemas take a while to import, and most gateways have none.
    from capabilities.package import PackageRefused, package_of
    from gateway.adapters.app_files import FOLDER, FolderAppFiles
    from gateway.runtime.ports import FilesRefused

    files = FolderAppFiles(data)
    folders = [entry for entry in sorted((data / FOLDER).glob("*")) if not entry.name.startswith(".")]
    for folder in folders:
        try:
            package = package_of(files.load(folder.name))
            flaw = None if package.digest == folder.name else "its manifest is another one"
        except (FilesRefused, PackageRefused) as error:
            flaw = str(error)
        if flaw is not None:
            yield broken(
                f"package `{folder.name[:12]}`",
                flaw,
                "install the package again; until then its app is not available",
            )
    if folders:
        yield fine("packages of mini apps", f"{len(folders)} looked at")


def of_apps(apps: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """What the gateway says of installed mini apps."""
    for app in apps:
        name, lacking = app["app"], sorted(set(app["permissions"]) - set(app["granted"]))
        check = f"app `{name}`"
        if app["fault"]:
            yield broken(check, app["fault"], "install the package again, or `ostiary app rollback`")
        elif app["worker"] == "backing_off":
            yield broken(
                check, "its worker keeps ending by itself", "the log says why; `ostiary app rollback` goes back"
            )
        elif app["state"] == "enabled" and lacking:
            wanted = " ".join(f"--grant {permission}" for permission in lacking)
            yield odd(check, "some of its tools are not offered", f"`ostiary app enable {name} {wanted}`")
        else:
            yield fine(check, f"{app['version']}, {app['state']}")


def of_ledger(configuration: Configuration, status: Mapping[str, Any]) -> Finding:
    """How much of the ledger is used."""
    used, cap = status["ledger_rows"], configuration.limits.ledger_rows
    told = f"{used} of {cap} rows"
    if used * 10 >= cap * 9:
        return odd(
            "ledger",
            f"{told}; at the cap it refuses every new call",
            "keep calls for less long (`limits.minted_call_keep_ms`, `call_keep_ms`) or raise `limits.ledger_rows`",
        )
    return fine("ledger", told)
