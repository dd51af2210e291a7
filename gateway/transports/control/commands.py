"""The commands of the control socket as one table: name, the shape of its parameters, what runs it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, ValidationError

from gateway.domain.audit import Stream
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.outbox import OutboxState
from gateway.protocol.audit_export import checkpoints_of_text, text_of_checkpoints
from gateway.runtime.admin import KEY_DAYS, SESSION_DAYS, TOKEN_HOURS, Meant
from gateway.transports.control import mini_apps, views
from gateway.transports.control.desk import Command, Count, Desk, Named, Nothing, Parameters, Text, Texts


class Request(Parameters):
    """A line on the socket."""

    command: Text
    parameters: dict[str, Any]


class AddSession(Parameters):
    """`session.add`."""

    agent: Text
    user: Text
    sites: Texts
    scope: Texts
    days: int = SESSION_DAYS
    conversation: Text | None = None


class AddKey(Parameters):
    """`site.key.add`."""

    site: Text
    capabilities: Texts | None = None
    days: int = KEY_DAYS


class ListKeys(Parameters):
    """`site.key.list`."""

    site: Text | None = None


class AddAdminToken(Parameters):
    """`admin_token.add`."""

    name: Text
    scopes: Texts
    hours: int = TOKEN_HOURS


class ListCalls(Parameters):
    """`calls.list`."""

    limit: Count = 50
    session: Text | None = None


class Reconcile(Parameters):
    """`calls.reconcile`: one call by `name`, or those of a page and time (ms)."""

    succeeded: bool
    reason: Text | None = None
    name: Text | None = None
    page: Text | None = None
    since: int | None = None
    until: int | None = None
    is_rehearsal: bool = False


class ListOutbox(Parameters):
    """`outbox.list`."""

    state: Annotated[OutboxState, Field(strict=False)] = OutboxState.DEAD
    limit: Count = 50


class Requeue(Parameters):
    """`outbox.requeue`: one entry by `name`, or every dead one."""

    name: Text | None = None


class Explain(Parameters):
    """`explain`."""

    session: Text
    capability: Text


class Tail(Parameters):
    """`audit.tail`."""

    limit: Count = 50
    # A stream is a word on the wire, which strict mode would refuse.
    stream: Annotated[Stream | None, Field(strict=False)] = None


class After(Parameters):
    """`audit.after`."""

    seen: Annotated[dict[Annotated[Stream, Field(strict=False)], int], Field(max_length=len(Stream))]


class BackUp(Parameters):
    """`backup`, into a new file named by its whole path."""

    target: Annotated[str, Field(max_length=4096, pattern=r"^/")]


class Export(Parameters):
    """`audit.export`: one page of one stream."""

    stream: Annotated[Stream, Field(strict=False)]
    after: Annotated[int, Field(ge=0)] = 0
    limit: Count = 500


class Verify(Parameters):
    """`audit.verify`, against checkpoints kept elsewhere if any are given."""

    checkpoints: Annotated[str | None, Field(max_length=16 * 1024)] = None


async def _add_session(desk: Desk, p: AddSession) -> Any:
    grant = await desk.admin.add_session(
        p.agent, user=p.user, sites=p.sites, scope=p.scope, days=p.days, conversation=p.conversation, by=desk.by
    )
    return {**views.of_session(grant.session, desk.admin.standing_of(grant.session)), "token": grant.token}


async def _list_sessions(desk: Desk, _: Nothing) -> Any:
    return [views.of_session(s, desk.admin.standing_of(s)) for s in await desk.admin.sessions()]


async def _revoke_session(desk: Desk, p: Named) -> Any:
    session = await desk.admin.revoke_session(p.name, by=desk.by)
    return views.of_session(session, desk.admin.standing_of(session))


async def _add_key(desk: Desk, p: AddKey) -> Any:
    new = await desk.admin.add_key(p.site, capabilities=p.capabilities, days=p.days, by=desk.by)
    return {**views.of_key(new.key, desk.admin.standing_of_key(new.key)), "secret": new.secret}


async def _list_keys(desk: Desk, p: ListKeys) -> Any:
    return [views.of_key(key, desk.admin.standing_of_key(key)) for key in await desk.admin.keys(p.site)]


async def _revoke_key(desk: Desk, p: Named) -> Any:
    key = await desk.admin.revoke_key(p.name, by=desk.by)
    return views.of_key(key, desk.admin.standing_of_key(key))


async def _add_admin_token(desk: Desk, p: AddAdminToken) -> Any:
    tokens = desk.admin.tokens
    new = await tokens.add(p.name, scopes=p.scopes, hours=p.hours, by=desk.by)
    return {**views.of_admin_token(new.token, tokens.standing_of(new.token)), "token": new.secret}


async def _list_admin_tokens(desk: Desk, _: Nothing) -> Any:
    tokens = desk.admin.tokens
    return [views.of_admin_token(token, tokens.standing_of(token)) for token in await tokens.list()]


async def _revoke_admin_token(desk: Desk, p: Named) -> Any:
    token = await desk.admin.tokens.revoke(p.name, by=desk.by)
    return views.of_admin_token(token, desk.admin.tokens.standing_of(token))


async def _list_agents(desk: Desk, _: Nothing) -> Any:
    return [views.of_agent(agent) for agent in desk.admin.agents()]


async def _list_sites(desk: Desk, _: Nothing) -> Any:
    return [views.of_site(site) for site in desk.admin.sites()]


async def _list_calls(desk: Desk, p: ListCalls) -> Any:
    return [views.of_call(call) for call in await desk.admin.calls(limit=p.limit, session=p.session)]


async def _show_call(desk: Desk, p: Named) -> Any:
    call, receipts = await desk.admin.call(p.name)
    return {**views.of_call(call), "receipts": [views.of_receipt(receipt) for receipt in receipts]}


async def _reconcile(desk: Desk, p: Reconcile) -> Any:
    if p.name is not None:
        settled = [await desk.admin.reconcile(p.name, succeeded=p.succeeded, reason=p.reason, by=desk.by)]
    else:
        meant = Meant(page=p.page, since=p.since, until=p.until)
        settled = await desk.admin.reconcile_many(
            meant, succeeded=p.succeeded, reason=p.reason, by=desk.by, is_rehearsal=p.is_rehearsal
        )
    return [views.of_call(call) for call in settled]


async def _purge(desk: Desk, _: Nothing) -> Any:
    return dict(await desk.admin.purge(by=desk.by))


async def _list_outbox(desk: Desk, p: ListOutbox) -> Any:
    return [views.of_outbox_entry(entry) for entry in await desk.admin.dead_letters.list(p.state, limit=p.limit)]


async def _requeue(desk: Desk, p: Requeue) -> Any:
    if p.name is None:
        return {"requeued": await desk.admin.dead_letters.requeue_all(by=desk.by)}
    await desk.admin.dead_letters.requeue(p.name, by=desk.by)
    return {"requeued": 1}


async def _explain(desk: Desk, p: Explain) -> Any:
    return views.of_explanation(await desk.admin.explain(p.session, p.capability))


async def _tail(desk: Desk, p: Tail) -> Any:
    return [views.of_record(record) for record in await desk.admin.audit_tail(limit=p.limit, stream=p.stream)]


async def _after(desk: Desk, p: After) -> Any:
    return [views.of_record(record) for record in await desk.admin.audit_after(p.seen)]


async def _back_up(desk: Desk, p: BackUp) -> Any:
    await desk.admin.back_up(Path(p.target), by=desk.by)
    return {"target": p.target}


async def _export(desk: Desk, p: Export) -> Any:
    records = await desk.admin.audit_read(p.stream, after=p.after, limit=p.limit)
    return {"source": desk.admin.public_url, "records": [views.of_exported(record) for record in records]}


async def _checkpoint(desk: Desk, _: Nothing) -> Any:
    return text_of_checkpoints(await desk.admin.audit_checkpoint())


async def _verify(desk: Desk, p: Verify) -> Any:
    try:
        given = [] if p.checkpoints is None else checkpoints_of_text(p.checkpoints)
    except ValueError as error:
        raise GatewayError(ErrorCode.BAD_REQUEST, str(error)) from error
    return views.of_verification(await desk.admin.audit_verify(given))


async def _status(desk: Desk, _: Nothing) -> Any:
    return views.of_status(await desk.admin.status())


async def _reload(desk: Desk, _: Nothing) -> Any:
    if desk.reloader is None:
        raise GatewayError(ErrorCode.BAD_REQUEST, "no gateway runs, so there is nothing to reload")
    return views.of_reload(await desk.reloader.reload(by=desk.by))


COMMANDS: Final[Mapping[str, Command[Any]]] = {
    "session.add": Command(AddSession, _add_session),
    "session.list": Command(Nothing, _list_sessions),
    "session.revoke": Command(Named, _revoke_session),
    "site.key.add": Command(AddKey, _add_key),
    "site.key.list": Command(ListKeys, _list_keys),
    "site.key.revoke": Command(Named, _revoke_key),
    "admin_token.add": Command(AddAdminToken, _add_admin_token),
    "admin_token.list": Command(Nothing, _list_admin_tokens),
    "admin_token.revoke": Command(Named, _revoke_admin_token),
    "agent.list": Command(Nothing, _list_agents),
    "site.list": Command(Nothing, _list_sites),
    "calls.list": Command(ListCalls, _list_calls),
    "calls.show": Command(Named, _show_call),
    "calls.reconcile": Command(Reconcile, _reconcile),
    "outbox.list": Command(ListOutbox, _list_outbox),
    "outbox.requeue": Command(Requeue, _requeue),
    "purge": Command(Nothing, _purge),
    "explain": Command(Explain, _explain),
    "audit.tail": Command(Tail, _tail),
    "audit.after": Command(After, _after),
    "backup": Command(BackUp, _back_up),
    "audit.export": Command(Export, _export),
    "audit.checkpoint": Command(Nothing, _checkpoint),
    "audit.verify": Command(Verify, _verify),
    **mini_apps.COMMANDS,
    "status": Command(Nothing, _status),
    "reload": Command(Nothing, _reload),
}


async def perform(desk: Desk, command: str, parameters: Mapping[str, Any]) -> Any:
    """Run one command and return its value as JSON.

    Raises:
        GatewayError: the command is not known, its parameters are not right, or it was refused.
    """
    row = COMMANDS.get(command)
    if row is None:
        raise GatewayError(ErrorCode.BAD_REQUEST, f"there is no command `{command[:80]}`")
    try:
        judged = row.parameters.model_validate(dict(parameters))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise GatewayError(ErrorCode.BAD_REQUEST, f"`{where}` of `{command}`: {first['msg'].lower()}") from error
    return await row.run(desk, judged)
