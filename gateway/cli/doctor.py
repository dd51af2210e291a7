"""`ostiary doctor`: the machine, the folder, the file and the running gateway, looked at from outside."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import typer

from gateway.adapters.clock import SystemClock
from gateway.cli.examinations import (
    Finding,
    Verdict,
    broken,
    fine,
    odd,
    of_addresses,
    of_apps,
    of_clock,
    of_folder,
    of_keys,
    of_ledger,
    of_limits,
    of_packages,
)
from gateway.cli.options import CONFIG_DEFAULT, DATA_DEFAULT, AsJson, Config, Data
from gateway.cli.output import print_json, say, shown
from gateway.domain.configuration import Configuration

_TIMEOUT_S: Final = 5.0


def doctor(config: Config = CONFIG_DEFAULT, data: Data = DATA_DEFAULT, as_json: AsJson = False) -> None:
    """Look at the machine, the data, the configuration and the running gateway; ends with 1 if something is broken."""
    findings = list(_findings(config, data))
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            say(f"{finding.verdict:<4}  {finding.check}: {shown(finding.said)}")
            if finding.fix:
                say(f"      {finding.fix}")
    if any(finding.verdict is Verdict.FAIL for finding in findings):
        raise typer.Exit(1)


def _findings(config: Path, data: Path) -> Iterator[Finding]:
    # The store and everything below it take a second to import; only this command needs them here.
    from gateway.adapters.configuration_file import ConfigurationError, load_file
    from gateway.bootstrap import DATABASE, flaw_of_place

    yield from of_folder(data, DATABASE)
    yield _of_browser_half()
    try:
        configuration = load_file(config)
    except ConfigurationError as error:
        yield broken("configuration", str(error), f"mend it; `ostiary check {config}` says the same")
        return
    yield fine("configuration", f"`{configuration.revision}`")
    flaw = flaw_of_place(configuration, data)
    yield fine("store", "fit for this machine") if flaw is None else broken("store", flaw, "see the message")
    yield of_limits(configuration)
    yield from of_addresses(configuration)
    yield from of_packages(data)
    yield from _of_gateway(configuration, data)


def _of_browser_half() -> Finding:
    from surface_host import read_manifest

    try:
        missing = [asset.name for asset in read_manifest().values() if not asset.path.is_file()]
    except (OSError, ValueError, KeyError) as error:
        return broken("surface host", f"its files cannot be read: {type(error).__name__}", "install ostiary again")
    if missing:
        return broken("surface host", f"missing: {', '.join(missing)}", "install ostiary again")
    return fine("surface host", "its files are there")


def _of_gateway(configuration: Configuration, data: Path) -> Iterator[Finding]:
    from gateway.transports.control import CommandRefused, ControlClient, NoGateway, PathTooLong

    try:
        with ControlClient(data) as client:
            status: Any = client.ask("status")
            keys: Any = client.ask("site.key.list")
            sessions: Any = client.ask("session.list")
            apps: Any = client.ask("app.list")
            newest: Any = client.ask("audit.tail", {"limit": 1})
    except (NoGateway, PathTooLong, CommandRefused) as error:
        yield odd("gateway", str(error), "`ostiary serve` starts it; what only it can tell was not looked at")
        return
    now = SystemClock().now()
    yield fine("gateway", f"it answers on its control socket, with `{status['policy']}`")
    if status["policy"] != configuration.revision:
        yield odd("revision", f"the file is `{configuration.revision}`, in force is another", "`ostiary reload`")
    yield of_clock(now, newest[-1]["at"] if newest else None)
    yield of_ledger(configuration, status)
    yield from of_keys(configuration, keys, sessions, now)
    yield from of_apps(apps)
    yield from _of_public_url(configuration)


def _of_public_url(configuration: Configuration) -> Iterator[Finding]:
    """Ask the way an agent would."""
    import httpx

    url = configuration.server.public_url
    try:
        answer = httpx.get(f"{url}/readyz", timeout=_TIMEOUT_S, follow_redirects=False)
    except httpx.HTTPError as error:
        yield broken(
            "reachability",
            f"`{url}` does not answer: {type(error).__name__}",
            "look at the proxy, its certificate, the name in DNS and the firewall",
        )
        return
    if answer.status_code in {403, 421}:
        yield broken(
            "reachability",
            f"`{url}` is refused for its host name",
            "let the proxy pass `Host` on, add the name to `server.hosts`, or list the proxy in `server.trusted_proxies`",
        )
    elif answer.status_code != 200:
        yield broken("readiness", f"`{url}/readyz` answers {answer.status_code}", f"`curl {url}/readyz` says why")
    else:
        yield fine("reachability", f"`{url}/readyz` answers 200")
