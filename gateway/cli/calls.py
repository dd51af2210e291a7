"""`ostiary calls` and `ostiary explain`: what was asked, and why it was or was not allowed."""

from typing import Annotated, Any

import typer

from gateway.cli.gateway_link import ask
from gateway.cli.options import CONFIG_DEFAULT, DATA_DEFAULT, AsJson, Config, Data
from gateway.cli.output import instant, print_json, print_table, say, shown

calls = typer.Typer(no_args_is_help=True, help="Calls in the ledger. Arguments and results are not shown.")


@calls.command("list")
def list_calls(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)] = 50,
    session: Annotated[str | None, typer.Option("--session", help="Only calls of this session.")] = None,
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """List calls, newest first."""
    found = ask(data, config, "calls.list", limit=limit, session=session)
    if as_json:
        print_json(found)
        return
    print_table(
        ["ref", "admitted", "agent", "user", "capability", "state", "code"],
        [
            [c["ref"], instant(c["admitted_at"]), c["agent"], c["user"], c["capability"], c["state"], c["code"]]
            for c in found
        ],
        empty="no calls",
    )


@calls.command("show")
def show_call(
    ref: Annotated[str, typer.Argument(metavar="REF")],
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Show one call and its receipts."""
    found: dict[str, Any] = ask(data, config, "calls.show", name=ref)
    if as_json:
        print_json(found)
        return
    receipts = found.pop("receipts")
    rows = [[name, instant(value) if name.endswith("_at") else value] for name, value in found.items()]
    print_table(["field", "value"], rows, empty="")
    print_table(
        ["receipt", "status", "reason", "at"],
        [[r["seq"], r["status"], r["reason"], instant(r["at"])] for r in receipts],
        empty="no receipts",
    )


def explain(
    session: Annotated[str, typer.Argument(metavar="SESSION")],
    capability: Annotated[str, typer.Argument(metavar="CAPABILITY")],
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Say why SESSION may or may not use CAPABILITY: every stage, wherever it is declared."""
    found = ask(data, config, "explain", session=session, capability=capability)
    if as_json:
        print_json(found)
        return
    who = f"{shown(found['agent'])} for {shown(found['user'])}"
    say(f"{capability} for session {found['session']} ({who}), policy {found['policy']}")
    if found["standing"] != "live":
        say(f"the session is of no use: {found['standing']}")
    if not found["places"]:
        say(f"nothing declares it now: no built-in that is on, and no connected page of {shown(found['user'])}")
    for place in found["places"]:
        page = place["page"]
        where = (
            "runtime built-in" if page is None else f"page {page['page']} of {page['site']}, {shown(page['path'])}"
        )
        reasons = "; ".join(place["reasons"])
        say("")
        say(f"{where}: {place['verdict']}, tier {place['tier']} ({shown(reasons)})")
        print_table(
            ["stage", "outcome", "why", "revision"],
            [[s["stage"], s["outcome"], s["reason"], s["revision"]] for s in place["stages"]],
            empty="",
        )
