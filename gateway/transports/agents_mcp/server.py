"""The SDK server behind the endpoint: what it serves in both eras, and what its middleware adds."""

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import ServerEvent
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    DiscoverResult,
    ListToolsResult,
    PaginatedRequestParams,
    RequestParams,
    SubscriptionsListenRequestParams,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from gateway.transports.agents_mcp import sdk_private
from gateway.transports.agents_mcp.calling import InFlight, ToolCalls, ToolRequest
from gateway.transports.agents_mcp.exchange import Exchange, current_exchange
from gateway.transports.agents_mcp.extensions import Extensions
from gateway.transports.agents_mcp.json_objects import members_of
from gateway.transports.agents_mcp.listening import Listening
from gateway.transports.agents_mcp.operations import failed_with
from gateway.transports.agents_mcp.results import ToolAnswer
from gateway.transports.agents_mcp.scrubbing import Handler, contained, internal
from gateway.transports.agents_mcp.tasks import (
    TASKS,
    Context,
    TaskParams,
    Tasks,
    TaskUpdateParams,
    declares_tasks,
)
from gateway.transports.agents_mcp.tool_lists import ToolLists

NAME: Final = "ostiary"
SERVED: Final = (*reversed(MODERN_PROTOCOL_VERSIONS), *reversed(HANDSHAKE_PROTOCOL_VERSIONS))
"""Protocol versions of both eras, newest first."""

INSTRUCTIONS: Final = (
    "These tools act in the web page a person has open, and only as the site and the person allow. "
    "What is offered changes with the pages that are open: gateway_describe lists it with full schemas, "
    "gateway_invoke calls any of it by id, also when your tool list is older.\n"
    "A call that changes something may wait until the person approves it on the page. If an answer says that it "
    "waits, keep its `ref` and ask gateway_call_status (it waits up to 25 s) instead of calling again; "
    "gateway_call_cancel withdraws it. `denied` is the person's answer: do not repeat the request.\n"
    "status `unknown` means that nobody can say whether it happened: look before you act again."
)


class GatewayServer(Server[Any]):
    """Tells older clients that the tool list changes; some ignore the notices otherwise."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """As the SDK makes them, with `tools.listChanged`."""
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


def new_server() -> GatewayServer:
    """A server with a name and no methods yet; `Methods` adds them."""
    return GatewayServer(
        NAME,
        version=_version(),
        instructions=INSTRUCTIONS,
        get_tool_input_schema=lambda _: None,
    )


def _version() -> str:
    try:
        return version(NAME)
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "0+source"


class SdkLine:
    """The open answer of a request the SDK serves; it pings by itself."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.takes_progress = (context.meta or {}).get("progress_token") is not None

    def watch(self) -> None:
        """Nothing: the SDK reads the connection."""

    async def progress(self, n: int, message: str) -> None:
        """Tell how far it is."""
        await self._context.session.report_progress(n, None, message)

    async def ping(self) -> None:
        """Nothing: the SDK does it."""


class Methods:
    """The handlers of the product, put on an SDK server."""

    def __init__(
        self,
        server: GatewayServer,
        *,
        lists: ToolLists,
        calls: ToolCalls,
        tasks: Tasks,
        listening: Listening,
        extensions: Extensions | None,
        begin: Callable[[Exchange, Any], InFlight],
        end: Callable[[Exchange, Any, InFlight], None],
    ) -> None:
        self._server = server
        self._lists = lists
        self._calls = calls
        self._listening = listening
        self._extensions = extensions
        self._begin = begin
        self._end = end
        server.extensions[TASKS] = {}
        # The SDK's own span, which holds what an exception says, gives way to `operations`.
        server.middleware[:] = [self._scrub, self._cached_list, self._kept_session]
        handlers: tuple[tuple[str, type[RequestParams], Handler], ...] = (
            ("server/discover", RequestParams, self._discover),
            ("tools/list", PaginatedRequestParams, self._list),
            ("tools/call", CallToolRequestParams, self._call),
            ("subscriptions/listen", SubscriptionsListenRequestParams, listening.listen),
            ("tasks/get", TaskParams, tasks.get),
            ("tasks/update", TaskUpdateParams, tasks.update),
            ("tasks/cancel", TaskParams, tasks.cancel),
        )
        for method, params, handler in handlers:
            server.add_request_handler(method, params, contained(handler))
        if extensions is not None:
            extensions.install(server, self._publish)

    def _publish(self, event: ServerEvent) -> None:
        self._listening.publish(current_exchange.get().session.id, event)

    async def _discover(self, context: Context, _: RequestParams) -> DiscoverResult:
        return DiscoverResult(
            supported_versions=list(SERVED),
            capabilities=self._server.get_capabilities(protocol_version=context.protocol_version),
            instructions=self._server.instructions,
            ttl_ms=60_000,
            cache_scope="private",
        )

    async def _list(self, context: Context, params: PaginatedRequestParams) -> ListToolsResult | dict[str, Any]:
        if params.cursor is not None:
            raise MCPError(INVALID_PARAMS, "the list of tools has one page and no cursor")
        return (await self._lists.of(current_exchange.get().session, context.protocol_version)).result

    async def _call(self, context: Context, params: CallToolRequestParams) -> Any:
        arguments = dict(params.arguments or {})
        if self._extensions is not None and self._extensions.offers(params.name):
            return await self._extensions.call(
                context, params.name, arguments, lambda name: self._product(context, name, arguments)
            )
        return await self._product(context, params.name, arguments)

    async def _product(self, context: Context, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        exchange = current_exchange.get()
        meta = members_of(members_of(context.params).get("_meta"))
        is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        in_flight = self._begin(exchange, context.request_id)
        asked = ToolRequest(
            exchange=exchange,
            name=name,
            arguments=arguments,
            meta=meta,
            line=SdkLine(context),
            takes_task=is_modern and declares_tasks(meta.get(CLIENT_CAPABILITIES_META_KEY)),
            in_flight=in_flight,
        )
        try:
            answer = await self._calls.answer(asked)
        finally:
            self._end(exchange, context.request_id, in_flight)
        if not isinstance(answer, ToolAnswer):
            return answer
        return answer.result(context.protocol_version, self._server.server_info_stamp)

    # -- middleware ---------------------------------------------------------------------------------------

    async def _scrub(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """No exception text reaches the wire, in either era."""
        try:
            return await call_next(ctx)
        except MCPError as error:
            failed_with(str(error.error.code))
            raise
        except ValidationError:
            # The SDK's own about the parameters; handlers' are caught below.
            failed_with(str(INVALID_PARAMS))
            raise
        except Exception as error:  # noqa: BLE001 - the boundary to the wire
            failed_with(str(INTERNAL_ERROR))
            raise internal(error, ctx.method) from None

    async def _cached_list(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Older clients' `tools/list` without the SDK's three passes over it."""
        is_plain = ctx.method == "tools/list" and set(ctx.params or ()) <= {"_meta"}
        if is_plain and sdk_private.is_ready(ctx.session):
            return (await self._lists.of(current_exchange.get().session, ctx.protocol_version)).result
        return await call_next(ctx)

    async def _kept_session(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method == "notifications/initialized" and ctx.request_id is None:
            self._listening.keep(current_exchange.get().session, ctx.session)
        return await call_next(ctx)
