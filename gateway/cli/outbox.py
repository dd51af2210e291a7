"""`ostiary outbox`: what is on its way to the webhook, and what was given up."""

from typing import Annotated

import typer

from gateway.cli.gateway_link import ask
from gateway.cli.options import CONFIG_DEFAULT, DATA_DEFAULT, AsJson, Config, Data
from gateway.cli.output import fail, instant, print_json, print_table, say

outbox = typer.Typer(no_args_is_help=True, help="Events on their way to the webhook. What they say is not shown.")


@outbox.command("list")
def list_entries(
    state: Annotated[str, typer.Option("--state", help="`dead`, `pending` or `sent`.")] = "dead",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)] = 50,
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """List entries in the order they go: those that were given up, unless --state says otherwise."""
    if state not in ("dead", "pending", "sent"):
        fail(f"there is no state `{state}`; an entry is `dead`, `pending` or `sent`")
    found = ask(data, config, "outbox.list", state=state, limit=limit)
    if as_json:
        print_json(found)
        return
    print_table(
        ["entry", "type", "key", "at", "attempts", "next attempt", "ended", "error"],
        [
            [
                e["entry"],
                e["type"],
                e["key"],
                instant(e["at"]),
                e["attempts"],
                instant(e["due_at"]),
                instant(e["ended_at"]),
                e["error"],
            ]
            for e in found
        ],
        empty=f"no {state} entry",
    )


@outbox.command("requeue")
def requeue(
    entry: Annotated[str | None, typer.Argument(metavar="[ENTRY]")] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="Every entry that is dead now.")] = False,
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Put a dead ENTRY behind those of its key, with all its attempts again. The event keeps its id."""
    if (entry is None) is not every:
        fail("name one entry, or say `--all`; `ostiary outbox list` shows which are dead")
    done = ask(data, config, "outbox.requeue", name=entry)
    if as_json:
        print_json(done)
        return
    count = done["requeued"]
    say("1 entry is on its way again" if count == 1 else f"{count} entries are on their way again")
