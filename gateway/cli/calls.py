"""`ostiary calls` and `ostiary explain`: what was asked, and why it was or was not allowed."""

from typing import Annotated, Any

import typer

from gateway.cli.gateway_link import ask
from gateway.cli.instants import instant_of
from gateway.cli.options import CONFIG_DEFAULT, DATA_DEFAULT, AsJson, Config, Data
from gateway.cli.output import fail, instant, print_json, print_table, say, shown

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


@calls.command("reconcile")
def reconcile(
    ref: Annotated[str | None, typer.Argument(metavar="[REF]")] = None,
    *,
    succeeded: Annotated[
        bool | None, typer.Option("--succeeded/--failed", help="What you found out: it happened, or it did not.")
    ] = None,
    reason: Annotated[str | None, typer.Option("--reason", help="How you know; kept in the audit trail.")] = None,
    page: Annotated[str | None, typer.Option("--page", help="Every unknown call of this page session.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="Only those handed out since, like `2h`.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Only those handed out before.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show which are meant and change nothing.")] = False,
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Settle `unknown` calls by what you found out elsewhere: one by REF, or those of a page or time."""
    if succeeded is None:
        fail("say what you found out: `--succeeded` or `--failed`")
    is_bulk = any(option is not None for option in (page, since, until))
    if (ref is not None) is is_bulk:
        fail("name one call by its ref, or several by `--page`, `--since` and `--until`; `--dry-run` shows which")
    if ref is not None and dry_run:
        fail(f"`--dry-run` goes with several calls; `ostiary calls show {ref}` shows this one")
    found = ask(
        data,
        config,
        "calls.reconcile",
        name=ref,
        succeeded=succeeded,
        reason=reason,
        page=page,
        since=instant_of(since, "--since"),
        until=instant_of(until, "--until"),
        is_rehearsal=dry_run,
    )
    if as_json:
        print_json(found)
        return
    print_table(
        ["ref", "handed out", "agent", "user", "capability", "page", "state"],
        [
            [c["ref"], instant(c["dispatched_at"]), c["agent"], c["user"], c["capability"], c["page"], c["state"]]
            for c in found
        ],
        empty="no unknown call is meant",
    )


def purge(config: Config = CONFIG_DEFAULT, data: Data = DATA_DEFAULT, as_json: AsJson = False) -> None:
    """Forget now what is older than the configuration keeps; the gateway does it by itself every ten minutes."""
    found = ask(data, config, "purge")
    if as_json:
        print_json(found)
        return
    print_table(["forgotten", "rows"], [[kind, rows] for kind, rows in found.items()], empty="nothing is old enough")


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
