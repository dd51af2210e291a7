"""`ostiary agent` and `ostiary session`: who may act, for whom, where, and until when."""

from typing import Annotated

import typer

from gateway.cli.gateway_link import ask
from gateway.cli.options import CONFIG_DEFAULT, DATA_DEFAULT, AsJson, Config, Data
from gateway.cli.output import instant, note, print_json, print_table, say

agent = typer.Typer(no_args_is_help=True, help="Agents the configuration file declares.")
session = typer.Typer(no_args_is_help=True, help="Grants: one agent, one user, some sites, a scope, an end.")


@agent.command("list")
def list_agents(config: Config = CONFIG_DEFAULT, data: Data = DATA_DEFAULT, as_json: AsJson = False) -> None:
    """List the declared agents."""
    found = ask(data, config, "agent.list")
    if as_json:
        print_json(found)
    else:
        rows = [[a["agent"], a["label"]] for a in found]
        print_table(["agent", "label"], rows, empty="the file declares no agent")


@session.command("add")
def add_session(
    name: Annotated[str, typer.Argument(metavar="AGENT")],
    *,
    user: Annotated[str, typer.Option("--user", "-u", help="Whom it acts for, as the site's backend names them.")],
    scope: Annotated[list[str], typer.Option("--scope", "-s", help="A capability id, or `todo.*`. Repeatable.")],
    site: Annotated[list[str] | None, typer.Option("--site", help="A site it reaches. Repeatable.")] = None,
    days: Annotated[int, typer.Option("--days", help="How long it lasts.")] = 30,
    conversation: Annotated[
        str | None, typer.Option("--conversation", help="Its conversation, if not its own.")
    ] = None,
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Let AGENT act for a user. The token is shown once and stored as a hash only."""
    parameters = {"agent": name, "user": user, "sites": site or [], "scope": scope, "days": days}
    made = ask(data, config, "session.add", **parameters, conversation=conversation)
    if as_json:
        print_json(made)
        return
    say(made["token"])
    note(f"session {made['session']}: {name} for {user}, until {instant(made['expires_at'])}")
    note("the token is not shown again; `ostiary connect claude-code` (or cursor, codex, vscode) says where it goes")
    if not site:
        note("it reaches no site, so only what needs no page; name sites with `--site`")


@session.command("list")
def list_sessions(config: Config = CONFIG_DEFAULT, data: Data = DATA_DEFAULT, as_json: AsJson = False) -> None:
    """List every grant, newest first."""
    found = ask(data, config, "session.list")
    if as_json:
        print_json(found)
        return
    print_table(
        ["session", "agent", "user", "sites", "scope", "standing", "until"],
        [
            [s["session"], s["agent"], s["user"], s["sites"], s["scope"], s["standing"], instant(s["expires_at"])]
            for s in found
        ],
        empty="no session; `ostiary session add AGENT --user U --site S --scope P` makes one",
    )


@session.command("revoke")
def revoke_session(
    name: Annotated[str, typer.Argument(metavar="SESSION")],
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
) -> None:
    """End a grant: its token, its streams, its calls that were not handed out yet."""
    revoked = ask(data, config, "session.revoke", name=name)
    say(f"session {revoked['session']} of {revoked['agent']} for {revoked['user']} is revoked")
