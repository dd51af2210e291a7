"""`tools/list` as cached wire text, by what is shown and by protocol version (design §11).

A list is checked once by the SDK's own serialiser for its version; afterwards it is only written.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

import orjson
import structlog
from mcp_types import SERVER_INFO_META_KEY, methods
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.inventory import Snapshot
from gateway.runtime.inventories import Inventories
from gateway.transports.agents_mcp.extensions import Extensions
from gateway.transports.agents_mcp.static_tools import STATIC_TOOLS
from gateway.transports.agents_mcp.tools import ToolShapes

_log = structlog.get_logger("ostiary.agents_mcp")

_KEPT: Final = 256


@dataclass(frozen=True, slots=True)
class WireList:
    """One list: the result object, and its JSON."""

    result: dict[str, Any]
    text: bytes


class ToolLists:
    """What each session is listed, made when it changed."""

    def __init__(self, inventories: Inventories, server_info: dict[str, Any], extensions: Extensions | None) -> None:
        self._inventories = inventories
        self._server_info = server_info
        self._extensions = extensions
        self._shapes = ToolShapes()
        self._lists: OrderedDict[tuple[str, str, str], WireList] = OrderedDict()

    async def of(self, session: AgentSession, version: str) -> WireList:
        """The list as it is served now; serving it makes it what later calls are compared with."""
        served = await self._inventories.serve(session)
        key = (session.id, served.snapshot.hash, version)
        known = self._lists.get(key)
        if known is None:
            known = self._lists[key] = self._made(session, served.snapshot, version)
            while len(self._lists) > _KEPT:
                self._lists.popitem(last=False)
        else:
            self._lists.move_to_end(key)
        return known

    def _made(self, session: AgentSession, snapshot: Snapshot, version: str) -> WireList:
        tools = [self._shapes.of(session, entry) for entry in snapshot.entries.values()]
        if self._extensions is not None:
            tools += self._extensions.tools()
        tools.sort(key=lambda tool: tool["name"])
        result = self._checked([*STATIC_TOOLS, *tools], version)
        return WireList(result, orjson.dumps(result))

    def _checked(self, tools: list[dict[str, Any]], version: str) -> dict[str, Any]:
        try:
            return self._serialised(tools, version)
        except ValidationError:
            # One tool the SDK cannot write would take all others with it.
            return self._serialised([tool for tool in tools if self._is_writable(tool, version)], version)

    def _is_writable(self, tool: dict[str, Any], version: str) -> bool:
        try:
            self._serialised([tool], version)
        except ValidationError:
            _log.error("tool_not_listed", tool=tool["name"], protocol=version)
            return False
        return True

    def _serialised(self, tools: list[dict[str, Any]], version: str) -> dict[str, Any]:
        result: dict[str, Any] = {"tools": tools}
        if version in MODERN_PROTOCOL_VERSIONS:
            result |= {
                "resultType": "complete",
                "ttlMs": 0,
                "cacheScope": "private",
                "_meta": {SERVER_INFO_META_KEY: self._server_info},
            }
        return methods.serialize_server_result("tools/list", version, result)
