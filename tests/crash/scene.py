"""What the rig's world consists of: one site with one page, two agents, and the actions the page offers."""

import socket
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.crash.consumer import VARIABLE

HOST: Final = "127.0.0.1"
SITE: Final = "todo"
USER: Final = "ann"
ORIGIN: Final = "https://app.example.test"
AGENTS: Final = ("coder", "helper", "scribe")
SCRIBE: Final = "scribe"
"""Speaks LineUp, and nobody else does: each of its calls is followed by its conversation."""

TALK: Final = "talk"
"""The conversation of each of them; to each it is its own."""

SCOPE: Final = ("todo.*", "runtime.echo")
"""What the site's pages may be asked for; agents may also ask for what runs in a worker."""

_TITLED: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"title": {"type": "string", "minLength": 1}},
    "required": ["title"],
    "additionalProperties": False,
}
_DONE: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"done": {"type": "string"}},
    "required": ["done"],
    "additionalProperties": False,
}


def _action(name: str, **more: Any) -> dict[str, Any]:
    return {"id": f"todo.{name}", "description": f"{name}.", "input_schema": _TITLED, "output_schema": _DONE, **more}


READ: Final = _action("list", effect="read", confirm="never")
WRITE: Final = _action("add")
SLOW: Final = _action("slow", effect="read", confirm="never")
STUCK: Final = _action("stuck", effect="read", confirm="never", timeout_ms=1_000)
BROKEN: Final = _action("broken", effect="read", confirm="never")
SECRET: Final = _action(
    "unlock",
    input_schema={**_TITLED, "properties": {"title": {"type": "string", "writeOnly": True}}},
)
DECLARED: Final = (READ, WRITE, SLOW, STUCK, BROKEN, SECRET)

_DATABASE: Final = '  database: "{database}"\n'
_CONFIGURATION: Final = """\
version: 1
server:
  listen: "{host}:{port}"
  public_url: "http://{host}:{port}"
  builtins: [runtime.echo]
  database: "{database}"
outbox:
  webhook: {{url: "{consumer}", secret_env: {variable}, timeout_ms: 500}}
  attempts: 3
  pause_ms: 100
  pause_cap_ms: 200
limits:
  calls_per_minute: 10000000
  calls_burst: 1000000
  open_approvals_per_page: 200
  # Short enough to run out while a gateway is down or under load, long enough to be answered.
  approval_ms: 1500
sites:
  {site}:
    label: {label}
    address: "{origin}/"
    origins: ["{origin}"]
    users: [{user}]
    expose: [{expose}, "timer.*"]
agents: {{{agents}}}
rules:
  - {{id: time-freely, agents: ["*"], capabilities: ["timer.*"], verdict: permit}}
  # So that a built-in is also run after its admission.
  - {{id: ask-first, agents: [helper], capabilities: [runtime.echo], verdict: ask}}
"""


def write_configuration(path: Path, port: int, *, consumer: str, database: str = "", label: str = "To-do") -> None:
    """The file a life is started with; another label makes another revision."""
    text = _CONFIGURATION if database else _CONFIGURATION.replace(_DATABASE, "")
    path.write_text(
        text.format(
            host=HOST,
            port=port,
            consumer=consumer,
            variable=VARIABLE,
            database=database,
            site=SITE,
            label=label,
            origin=ORIGIN,
            user=USER,
            expose=", ".join(declared["id"] for declared in DECLARED),
            agents=", ".join(f"{agent}: {{label: {agent.title()}}}" for agent in AGENTS),
        )
    )


def free_port(dice: Random) -> int:
    """A port nobody listens on, below those the system gives to clients: one of them could take it in a pause."""
    while True:
        port = dice.randrange(20_000, 32_000)
        with socket.socket() as attempt:
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                attempt.bind((HOST, port))
            except OSError:
                continue
            return port
