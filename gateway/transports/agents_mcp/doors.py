"""Which names the endpoint answers to, and from which web pages: the guard against DNS rebinding."""

from collections.abc import Mapping

from gateway.domain.errors import ErrorCode
from gateway.settings import Server
from gateway.transports.agents_mcp.refusals import Refused
from gateway.transports.doors import allowed_hosts


class Doors:
    """The allowlists of one configuration; remade when it is swapped."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._hosts = allowed_hosts(server)
        self._origins = frozenset(server.origins)

    def check(self, headers: Mapping[str, str]) -> None:
        """Let a request pass that names us, and a web page we know or none.

        Raises:
            Refused: 421 for a foreign `Host`, 403 for a foreign `Origin`.
        """
        host = headers.get("host", "").lower()
        if host not in self._hosts:
            raise Refused(ErrorCode.HOST_REFUSED, f"host `{host[:200]}` is not a name of this gateway")
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            raise Refused(ErrorCode.ORIGIN_REFUSED, f"origin `{origin[:200]}` may not use this endpoint")
