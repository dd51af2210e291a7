"""A program that speaks the surface protocol over HTTP."""

import itertools
from typing import Any, Final

import httpx

from gateway.protocol.surface import PROTOCOL
from tests.interaction.page.rig import Rig

_numbers: Final = itertools.count(1)


def fresh_nonce() -> str:
    """A nonce no test has used."""
    return f"nonce-{next(_numbers):012d}"


async def post(
    rig: Rig, token: str, envelope: Any, *, headers: dict[str, str] | None = None, nonce: str | None = None
) -> httpx.Response:
    """One transmission, with everything an `invoke` needs unless `headers` says otherwise."""
    sent = {
        "Authorization": f"Bearer {token}",
        "Ostiary-Nonce": nonce or fresh_nonce(),
        "Ostiary-Timestamp": str(rig.clock.now()),
        **(headers or {}),
    }
    return await rig.http.post("/surface/v1", json=envelope, headers={k: v for k, v in sent.items() if v})


def envelope(method: str, **fields: Any) -> dict[str, Any]:
    """A good envelope."""
    return {"protocol": PROTOCOL, "id": "req_1", "method": method, "input": {}, **fields}


def invoke(capability: str, **arguments: Any) -> dict[str, Any]:
    """A good `invoke`."""
    return envelope("invoke", capability=capability, input=arguments)
