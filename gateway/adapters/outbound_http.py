"""`OutboundHttp`: asks a server once, at the very address that was checked, and reads a bounded answer."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import Final

import httpx

from gateway.domain.outbound import Target, is_public
from gateway.domain.workers import Denial, Inbound, Outbound, ServiceDenied

ANSWER_BYTES: Final = 1_048_576
"""Largest answer that is read."""

TRIED: Final = 3
"""Addresses of one name that are tried."""


Resolve = Callable[[str, int], Awaitable[list[str]]]
"""The addresses of a name; raises `OSError` where it has none."""


class GuardedHttp:
    """One per gateway. A connection serves one request: the next one is checked anew.

    `resolve` and `tls` are for tests; without them the machine's own are used.
    """

    def __init__(self, *, resolve: Resolve | None = None, tls: ssl.SSLContext | None = None) -> None:
        self._resolve = resolve or _resolved
        self._given_tls = tls

    async def send(self, request: Outbound, target: Target, *, is_internal: bool) -> Inbound:
        try:
            async with asyncio.timeout(request.within_ms / 1_000):
                addresses = await self._checked(target, is_internal=is_internal)
                return await self._ask(request, target, addresses)
        except TimeoutError:
            raise _failed(f"`{target.authority}` did not answer within {request.within_ms} ms") from None

    async def _checked(self, target: Target, *, is_internal: bool) -> list[str]:
        """The addresses of the target's name, all of them such as may be asked."""
        try:
            addresses = await self._resolve(target.host, target.port)
        except OSError:
            raise _failed(f"`{target.host}` has no address") from None
        # One address of the own network among others is what an attack on the name looks like.
        if not is_internal and not all(map(is_public, addresses)):
            raise ServiceDenied(
                Denial.NOT_PERMITTED,
                f"`{target.host}` leads into a network that is not public; an administrator can list it under "
                "`internal_hosts` of the app",
            )
        return addresses[:TRIED]

    async def _ask(self, request: Outbound, target: Target, addresses: list[str]) -> Inbound:
        connecting = httpx.Timeout(None, connect=request.within_ms / 1_000 / len(addresses))
        trouble = "it has no address"
        for address in addresses:
            try:
                return await self._ask_at(address, request, target, connecting)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                # Nothing was sent; the name's next address may be there.
                trouble = type(error).__name__
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise _failed(f"`{target.authority}` gave no answer: {type(error).__name__}") from None
        raise _failed(f"`{target.authority}` cannot be reached: {trouble}")

    async def _ask_at(self, address: str, request: Outbound, target: Target, connecting: httpx.Timeout) -> Inbound:
        host = f"[{address}]" if ":" in address else address
        own = {"host": target.authority, "accept-encoding": "identity", "user-agent": "ostiary"}
        # No environment: its proxies would resolve the name themselves, after the check.
        async with (
            httpx.AsyncClient(
                trust_env=False, verify=self._tls, timeout=connecting, follow_redirects=False
            ) as client,
            client.stream(
                request.method,
                f"{target.scheme}://{host}:{target.port}{target.path}",
                headers={**own, **dict(request.headers)},
                content=request.body or None,
                # The certificate has to be the name's, though the address is asked.
                extensions={"sni_hostname": target.host},
            ) as answer,
        ):
            return Inbound(
                status=answer.status_code,
                headers=tuple(answer.headers.items()),
                body=await _read(answer, target),
            )

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return self._given_tls or httpx.create_ssl_context(trust_env=False)


async def _resolved(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


async def _read(answer: httpx.Response, target: Target) -> bytes:
    body = bytearray()
    # As it came: unpacking could make a thousand bytes of one.
    async for part in answer.aiter_raw():
        body += part
        if len(body) > ANSWER_BYTES:
            raise ServiceDenied(
                Denial.TOO_MUCH, f"the answer of `{target.authority}` is larger than {ANSWER_BYTES} bytes"
            )
    return bytes(body)


def _failed(message: str) -> ServiceDenied:
    return ServiceDenied(Denial.REQUEST_FAILED, message)
