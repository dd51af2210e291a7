"""The command line against a gateway that runs, and against a database nobody holds; on each database."""

import json

from tests.interaction.cli.shell import Shell, add_session
from tests.support.databases import database

__all__ = ["database"]


def test_what_is_made_before_the_start_counts_after_it_and_the_whole_is_audited(shell: Shell) -> None:
    first = add_session(shell)
    with shell.serving():
        second = add_session(shell)
        assert [s["session"] for s in shell.json("session", "list")] == [second["session"], first["session"]]
        assert "is revoked" in shell.says("session", "revoke", first["session"])
        key = shell.json("site", "key", "add", "todo")
        assert [k["key"] for k in shell.json("site", "key", "list", "todo")] == [key["key"]]
        shell.says("site", "key", "revoke", key["key"])
        assert shell.json("agent", "list") == [{"agent": "claude", "label": "Claude Code"}]
        assert shell.json("site", "list")[0]["expose"] == [{"id": "todo.add"}]
        assert shell.json("calls", "list") == []
        assert shell.json("status")["sessions"] == 1
        told = shell.json("explain", second["session"], "runtime.echo")
        assert [(place["page"], place["verdict"]) for place in told["places"]] == [(None, "forbid")]
        assert "nothing declares it now" in shell.says("explain", second["session"], "todo.add")

    lines = shell.says("audit", "tail", "--stream", "admin", "--json").splitlines()
    assert [json.loads(line)["event"] for line in lines] == [
        "session.added",
        "gateway.started",
        "session.added",
        "session.revoked",
        "key.added",
        "key.revoked",
        "gateway.stopped",
    ]
    assert shell.json("audit", "verify") == {
        "intact": True,
        "records": 7,
        "streams": 1,
        "broken": [],
        "starts": {},
        "unchecked": [],
    }
    assert "no gateway runs" in shell.fails("reload")
    trail = "".join(lines)
    assert not any(secret in trail for secret in (first["token"], second["token"], key["secret"]))


def test_an_admin_token_is_shown_once_and_listed_with_its_standing(shell: Shell) -> None:
    made = shell.json("admin-token", "add", "pipeline", "--scope", "admin.read", "--expires", "12h")
    assert made["expires_at"] - made["created_at"] == 12 * 3_600_000
    assert "pipeline" in shell.says("admin-token", "list")
    assert made["token"] not in shell.says("admin-token", "list", "--json")
    assert shell.says("admin-token", "revoke", "pipeline").endswith("is revoked\n")
    assert [token["standing"] for token in shell.json("admin-token", "list")] == ["revoked"]
    assert "`soon` is no length of time" in shell.fails(
        "admin-token", "add", "x", "-s", "admin.read", "--expires", "soon"
    )
