"""What every answer carries beside its own headers: the words that keep browsers from misreading it."""

from typing import Final

from gateway.settings import Server

RawHeaders = list[tuple[bytes, bytes]]

ALWAYS: Final[RawHeaders] = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
"""Each unless the answer says it itself; so a door that forgets one is closed, not open."""

_HSTS: Final = (b"strict-transport-security", b"max-age=31536000")

CLOSE: Final = (b"connection", b"close")


def defaults_of(server: Server) -> RawHeaders:
    """The headers every answer of this configuration has."""
    return [*ALWAYS, _HSTS] if server.public_url.startswith("https://") else ALWAYS


def dressed(own: RawHeaders, defaults: RawHeaders, more: RawHeaders) -> RawHeaders:
    """An answer's headers with `more`, and with the defaults it lacks."""
    names = {name.lower() for name, _ in own}
    return [*own, *more, *(pair for pair in defaults if pair[0] not in names)]
