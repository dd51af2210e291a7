"""`ostiary site`: the declared sites, and the keys of their backends."""

from typing import Annotated

import typer

from gateway.cli.gateway_link import ask
from gateway.cli.options import CONFIG_DEFAULT, DATA_DEFAULT, AsJson, Config, Data
from gateway.cli.output import instant, note, print_json, print_table, say

site = typer.Typer(no_args_is_help=True, help="Sites the configuration file declares, and their service keys.")
key = typer.Typer(no_args_is_help=True, help="Service keys: a site's backend mints page tickets with one.")
site.add_typer(key, name="key")


@site.command("list")
def list_sites(config: Config = CONFIG_DEFAULT, data: Data = DATA_DEFAULT, as_json: AsJson = False) -> None:
    """List the declared sites."""
    found = ask(data, config, "site.list")
    if as_json:
        print_json(found)
        return
    print_table(
        ["site", "label", "origins", "users", "exposes"],
        [[s["site"], s["label"], s["origins"], s["users"], [e["id"] for e in s["expose"]]] for s in found],
        empty="the file declares no site",
    )


@key.command("add")
def add_key(
    name: Annotated[str, typer.Argument(metavar="SITE")],
    capability: Annotated[
        list[str] | None,
        typer.Option("--capabilities", help="An id or `todo.*`; all the site exposes now if left out. Repeatable."),
    ] = None,
    days: Annotated[int, typer.Option("--days", help="How long it lasts.")] = 90,
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Give the backend of SITE a key. It is shown once and stored as a hash only."""
    made = ask(data, config, "site.key.add", site=name, capabilities=capability, days=days)
    if as_json:
        print_json(made)
        return
    say(made["secret"])
    note(f"key {made['key']} of {name} for {', '.join(made['capabilities'])}, until {instant(made['expires_at'])}")
    note("it is not shown again; the site's backend sends it as `Authorization: Bearer` to `/v1/host-tokens`")


@key.command("list")
def list_keys(
    name: Annotated[str | None, typer.Argument(metavar="[SITE]")] = None,
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """List service keys, newest first."""
    found = ask(data, config, "site.key.list", site=name)
    if as_json:
        print_json(found)
        return
    print_table(
        ["key", "site", "capabilities", "standing", "until"],
        [[k["key"], k["site"], k["capabilities"], k["standing"], instant(k["expires_at"])] for k in found],
        empty="no key; `ostiary site key add SITE` makes one",
    )


@key.command("revoke")
def revoke_key(
    name: Annotated[str, typer.Argument(metavar="KEY")], config: Config = CONFIG_DEFAULT, data: Data = DATA_DEFAULT
) -> None:
    """End a service key: it mints no more tickets."""
    revoked = ask(data, config, "site.key.revoke", name=name)
    say(f"key {revoked['key']} of {revoked['site']} is revoked")
