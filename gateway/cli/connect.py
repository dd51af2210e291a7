"""`ostiary connect`: what each client wants to be told. The configuration goes to standard output, advice beside it."""

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from gateway.cli.options import CONFIG_DEFAULT, Config
from gateway.cli.output import fail, note, say

PLACEHOLDER: Final = "ost_agent_YOUR_TOKEN"
_TOKEN: Final = re.compile(r"ost_agent_[A-Za-z0-9_-]+")


class Client(StrEnum):
    """Clients we know the file of."""

    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    CODEX = "codex"
    VSCODE = "vscode"


@dataclass(frozen=True, slots=True)
class Told:
    """What to write, where, and what to know."""

    text: str
    where: str
    advice: tuple[str, ...] = ()


def _claude_code(url: str, token: str, name: str) -> Told:
    header = shlex.quote(f"Authorization: Bearer {token}")
    return Told(
        f"claude mcp add --transport http {name} {url} --header {header}",
        "run this where your project is",
        (
            "a call that waits for a person sends progress, so the client's idle limit of 300 s is not reached",
            "tools appear and go as pages come and go; `/mcp` shows the present ones",
        ),
    )


def _cursor(url: str, token: str, name: str) -> Told:
    server = {"url": url, "headers": {"Authorization": f"Bearer {token}"}}
    advice = ("Cursor offers about 80 tools over all servers; narrow the session's `--scope` if you have more",)
    return Told(_json({"mcpServers": {name: server}}), "put this into `~/.cursor/mcp.json`", advice)


def _codex(url: str, token: str, name: str) -> Told:
    # Calls wait up to 240 s for a person; shorter limits would give up on them.
    lines = (
        f"[mcp_servers.{name}]",
        f"url = {json.dumps(url)}",
        f"http_headers = {{ Authorization = {json.dumps(f'Bearer {token}')} }}",
        "tool_timeout_sec = 300",
    )
    advice = (
        "Codex reads the tools once, at its start: open the page before you start it",
        "tools of a page opened later are reached through `gateway_describe` and `gateway_invoke`",
    )
    return Told("\n".join(lines), "put this into `~/.codex/config.toml`", advice)


def _vscode(url: str, token: str, name: str) -> Told:
    if token != PLACEHOLDER:
        server: dict[str, Any] = {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {token}"}}
        return Told(_json({"servers": {name: server}}), "put this into `.vscode/mcp.json`, which is often committed")
    asked = f"{name}-token"
    server = {"type": "http", "url": url, "headers": {"Authorization": f"Bearer ${{input:{asked}}}"}}
    question = {"id": asked, "type": "promptString", "description": "Ostiary agent token", "password": True}
    text = _json({"inputs": [question], "servers": {name: server}})
    return Told(text, "put this into `.vscode/mcp.json`", ("the token is asked for once and kept by VS Code",))


def _json(value: Any) -> str:
    return json.dumps(value, indent=2)


CLIENTS: Final[dict[Client, Callable[[str, str, str], Told]]] = {
    Client.CLAUDE_CODE: _claude_code,
    Client.CURSOR: _cursor,
    Client.CODEX: _codex,
    Client.VSCODE: _vscode,
}


def connect(
    client: Annotated[Client, typer.Argument(metavar="CLIENT", help="claude-code, cursor, codex or vscode.")],
    token: Annotated[str, typer.Option("--token", help="The token `ostiary session add` showed.")] = PLACEHOLDER,
    url: Annotated[str | None, typer.Option("--url", help="The gateway, if not the file's `public_url`.")] = None,
    name: Annotated[str, typer.Option("--name", help="What the client calls this server.")] = "ostiary",
    config: Config = CONFIG_DEFAULT,
) -> None:
    """Print the exact configuration for a client."""
    if not _TOKEN.fullmatch(token):
        fail("this is no agent token; `ostiary session add` makes one, and it begins with `ost_agent_`")
    if not name.isascii() or not name.replace("-", "").isalnum():
        fail(f"`{name}` is not a server name; use letters, digits and `-`")
    told = CLIENTS[client](f"{_address(url, config)}/mcp", token, name)
    say(told.text)
    note(f"\n{told.where}")
    for advice in told.advice:
        note(f"- {advice}")
    if token == PLACEHOLDER and client is not Client.VSCODE:
        note(f"- replace `{PLACEHOLDER}` by what `ostiary session add` shows, or pass it as `--token`")


def _address(url: str | None, config: Path) -> str:
    # Only this far does a client's configuration need what judges a whole file.
    from gateway.adapters.configuration.values import Refused, origin
    from gateway.settings import Server

    if url is not None:
        try:
            return origin(url.removesuffix("/").removesuffix("/mcp"))
        except Refused as error:
            fail(f"{error.message}; {error.hint}" if error.hint else error.message)

    if not config.exists():
        return Server().public_url
    from gateway.adapters.configuration_file import ConfigurationError, load_file

    try:
        return load_file(config).server.public_url
    except ConfigurationError as error:
        fail(f"{error}\nmend the file, or name the gateway with `--url`")
