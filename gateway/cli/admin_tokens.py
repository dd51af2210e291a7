"""`ostiary admin-token`: who may administer over HTTP, what, and until when."""

import re
from typing import Annotated, Final

import typer

from gateway.cli.gateway_link import ask
from gateway.cli.options import CONFIG_DEFAULT, DATA_DEFAULT, AsJson, Config, Data
from gateway.cli.output import fail, instant, note, print_json, print_table, say

admin_token = typer.Typer(no_args_is_help=True, help="Tokens of the admin API at `/admin/v1`.")

_SPAN: Final = re.compile(r"([0-9]{1,5})([hd])")
_HOURS: Final = {"h": 1, "d": 24}


@admin_token.command("add")
def add_admin_token(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    *,
    scope: Annotated[
        list[str],
        typer.Option(
            "--scope",
            "-s",
            help="`admin.read`, or `admin.` and `sessions`, `keys`, `calls`, `audit`, `configuration`, `tokens`. Repeatable.",
        ),
    ],
    expires: Annotated[str, typer.Option("--expires", help="How long it lasts, like `12h` or `90d`.")] = "90d",
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Make a token of the admin API; NAME stands in the audit trail. It is shown once and stored as a hash only."""
    span = _SPAN.fullmatch(expires)
    if span is None:
        fail(f"`{expires}` is no length of time; write it like `12h` or `90d`")
    made = ask(data, config, "admin_token.add", name=name, scopes=scope, hours=int(span[1]) * _HOURS[span[2]])
    if as_json:
        print_json(made)
        return
    say(made["token"])
    note(f"admin token {made['name']} for {', '.join(made['scopes'])}, until {instant(made['expires_at'])}")
    note("it is not shown again; send it as `Authorization: Bearer` to `/admin/v1`")


@admin_token.command("list")
def list_admin_tokens(config: Config = CONFIG_DEFAULT, data: Data = DATA_DEFAULT, as_json: AsJson = False) -> None:
    """List every token of the admin API, newest first."""
    found = ask(data, config, "admin_token.list")
    if as_json:
        print_json(found)
        return
    print_table(
        ["token", "name", "scopes", "standing", "until", "used in the hour of"],
        [
            [
                t["admin_token"],
                t["name"],
                t["scopes"],
                t["standing"],
                instant(t["expires_at"]),
                instant(t["last_used_at"]),
            ]
            for t in found
        ],
        empty="no admin token; `ostiary admin-token add NAME --scope S` makes one",
    )


@admin_token.command("revoke")
def revoke_admin_token(
    name: Annotated[str, typer.Argument(metavar="TOKEN", help="Its id, or its name while it is live.")],
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
) -> None:
    """End a token of the admin API; it opens nothing from the next request on."""
    revoked = ask(data, config, "admin_token.revoke", name=name)
    say(f"admin token {revoked['name']} ({revoked['admin_token']}) is revoked")
