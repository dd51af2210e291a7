"""docs/reference/lineup-v1.md, written from the types, tables and limits of the door it tells of."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args

from gateway.domain.calls import OPEN, CallState
from gateway.domain.errors import ErrorCode
from gateway.protocol.lineup import schema
from gateway.protocol.lineup.agent import REASON_MAX, AgentMessage
from gateway.protocol.lineup.base import CLIENT, PREFIX
from gateway.protocol.lineup.client import EVENT_DATA_BYTES, ClientMessage, ReceiptStatus
from gateway.protocol.lineup.words import ENDS, REASONS, REFUSALS, Status
from gateway.transports.errors import STATUSES
from gateway.transports.lineup.door import MESSAGES, STREAM
from gateway.transports.lineup.streams import PING_SECONDS, STREAMS
from surface_host.bundles import BUNDLE_BYTES

Json = dict[str, Any]

AGENTS: Final[Mapping[str, str]] = {
    "tool.call": "Call what the inventory named by `inventory_revision` holds.",
    "app.call": "Call a capability, with a reason for the person and a time after which it must not begin any more.",
    "ui.open": "Open a surface under `instance_id`, in the place of one that is open there. It names a surface of an installed app, or brings a bundle, never both.",
    "ui.patch": "Replace the state of an open surface, whole. Its code cannot be changed.",
    "ui.close": "Close a surface.",
}
CLIENTS: Final[Mapping[str, str]] = {
    "client.inventory": "All this session may use now. Sent at every connect and after every change of this session's own.",
    "app.list": "The capabilities of the inventory alone, with the schemas of their arguments. Follows every `client.inventory`.",
    "tool.receipt": "A fact about an accepted call, never its result. There is one kind for both kinds of call.",
    "tool.result": "The end of a `tool.call`. Sent once for each `call_id` that was accepted.",
    "app.result": "The end of an `app.call`. Sent once for each `call_id` that was accepted.",
    "ui.event": "What the person did in a surface; the event `close` says that they closed it.",
}
"""What each type is for, in the order of the page."""

RECEIPTS: Final[Mapping[str, str]] = {
    "accepted": "The call has its row. Every accepted call has this receipt first.",
    "starting": "Its mini app is being started, or waits to come to the foreground.",
    "activation_ready": "Its mini app is ready, and the call goes on.",
    "activation_failed": "Its mini app could not be started; `reason` says why. The end follows.",
    "activation_cancelled": "The start was cancelled. The end follows.",
    "started": "The work has really begun. It stands for `activation_ready` too, where both came together.",
    "progress": "The work is under way.",
}

FIELDS: Final[Mapping[str, str]] = {
    "call_id": "the caller's key of the call; it names the same call on every door",
    "app_scope": "the mini app whose tool it is; `null` where no app is involved",
    "seq": "counts the receipts of this call from 1",
    "at": "milliseconds since 1970",
    "inventory_revision": "the inventory the agent decided by",
    "reason": "why, as far as a status alone does not say it",
    "late": "`true` where the call was `unknown` first; only in an answer to a repeated `call_id`",
    "error": "why there is no result",
    "evidence": "what changed, seen in business state",
    "instance_id": "the agent's own name of the surface, in this conversation",
    "AppCall.reason": "the agent's own words for the person",
    "AppCall.expires_at": "a time of RFC 3339, with a zone; after it the call must not begin any more",
    "CallError.data": "what helps to go on, such as a JSON pointer",
    "ToolDescriptor.app_scope": "the mini app whose tool it is",
    "UiClose.reason": "",
    "UiEvent.data": "what the surface says",
}
"""Words for fields whose type does not tell enough, by name, or by part and name where they differ."""


def page() -> str:
    """The page as it should be."""
    lines = [*_head(), *_envelope(), *_types(), *_receipts(), *_ends(), *_codes(), *_stream(), *_parts()]
    return "\n".join(lines).rstrip() + "\n"


def _head() -> Iterator[str]:
    yield from (
        "<!-- Written by scripts/docs.py; do not edit. -->",
        "",
        "# `lineup.v1`",
        "",
        "What an agent that speaks LineUp posts, and what it reads on its stream.",
        "[Connect a LineUp agent](../how-to/connect-a-lineup-agent.md) leads there step by step; [a JSON Schema](../spec/lineup-v1.schema.json) has the messages and [an OpenAPI description](../spec/lineup-v1.openapi.json) the addresses, for programs.",
        "",
        "| address | does |",
        "|---|---|",
        f"| `POST {_path(MESSAGES)}` | takes one message of the agent, and answers what there is to say at once |",
        f"| `GET {_path(STREAM)}` | sends the messages of the gateway, as server-sent events |",
        "",
        "- Both take `Authorization: Bearer ost_agent_…`. The token names the agent session, and `{id}` is the conversation of that session: any other is `unknown_conversation`, whether or not there is one.",
        "- A conversation belongs to one agent and one user. To others the same name is another conversation. A grant that is renewed under its name goes on with it, and is told of earlier calls as far as its own scope covers them.",
        "- Calls enter where all calls enter: scope, policy, approval, replay and audit are those of every door, and a `call_id` is one name space over all of them.",
        "- There is no message that cancels. `gateway_call_cancel` over MCP and `cancel` of the surface protocol take the same `call_id`.",
        "",
    )


def _envelope() -> Iterator[str]:
    yield from (
        "## The envelope",
        "",
        "`{v: 1, id, type, conversation_id, sender: {kind, id}, target?: {kind, id}, payload}`, and no other field anywhere.",
        "",
        "| field | of an agent | of the gateway |",
        "|---|---|---|",
        "| `id` | the agent's own, `[A-Za-z0-9._:-]{1,64}`; only correlates | stays the same however often a message of the log is sent |",
        f"| `type` | `{PREFIX}` and a type below | the same |",
        "| `conversation_id` | that of the address | that of the address |",
        f'| `sender` | `{{"kind": "agent", "id": …}}` with the agent\'s name in `ostiary.yaml`; anything else is `sender_refused` | `{{"kind": "client", "id": "{CLIENT}"}}` |',
        f'| `target` | optional: `{{"kind": "client", "id": …}}` with a page, or `site:` and a site, where several pages offer the same; `{CLIENT}` names none | `{{"kind": "agent", "id": …}}` |',
        "",
        "A message is judged in this order, and nothing of it counts before all of it was judged: token, conversation, size and text, envelope, sender, type, payload.",
        "A type that is not an agent's to send is `unsupported` and runs nothing, whatever is in it. Where it begins with `app.` and its payload names a `call_id`, the answer is an `app.result` that says so.",
        "",
    )


def _types() -> Iterator[str]:
    for title, words, union in (
        ("An agent may send", AGENTS, AgentMessage),
        ("The gateway sends", CLIENTS, ClientMessage),
    ):
        kinds = {_type_of(kind): kind for kind in get_args(union)}
        if set(kinds) != set(words):
            raise SystemExit(f"scripts/lineup_page.py has no words for {set(kinds) ^ set(words)}")
        yield from (f"## {title}", "")
        for kind, told in words.items():
            name = kinds[kind].model_fields["payload"].annotation.__name__
            yield from (f"### `{kind}`", "", told, "", *_table(name))
            yield from _notes(kind)


def _notes(kind: str) -> Iterator[str]:
    notes = {
        "tool.call": (
            "- An older revision passes while this capability is still what that revision showed; otherwise `stale_inventory`, with the new description in `error.data.changed`. A revision that was never given is `stale_inventory` too.",
            "- `method` is any capability or tool of the inventory. Standard components are called as `ui.choice`, `ui.confirm` and `ui.input`.",
        ),
        "app.call": (
            f"- `reason` is at most {REASON_MAX} characters, and is shown in the dialog as the agent's own words. It is no part of the request: a repeated `call_id` may give another.",
            "- `capability` is any capability or tool of the inventory.",
        ),
        "ui.open": (
            f"- html, css and js of a bundle are at most {BUNDLE_BYTES} bytes together.",
            "- A `ui.` message is the call of `ui.surface_open`, `ui.surface_patch` or `ui.surface_close`, by the same rules. What was done is answered 204; a refusal is told by HTTP, with the status [its code](codes.md) has there. Whoever may not show surfaces gets `unsupported`.",
            "- It has one answer, now: where a person would have to agree first it is refused, and is asked for by `tool.call`.",
            "- Which bundles are taken is for the site to say; [surfaces](surfaces.md#bundles) tells what one may hold.",
        ),
        "client.inventory": (
            "- `standard_components` are those that can be called now.",
            "- `applications` are the enabled apps of which the session may use something. Never in it: bundles, where a package came from, who is signed in, paths, or anything a person wrote.",
        ),
        "ui.event": (f"- `data` is smaller than {EVENT_DATA_BYTES} bytes.",),
    }
    if kind in notes:
        yield from (*notes[kind], "")


def _receipts() -> Iterator[str]:
    if set(RECEIPTS) != set(get_args(ReceiptStatus)):
        raise SystemExit("scripts/lineup_page.py has no words for every receipt")
    yield from ("## Receipts", "", "| `status` | means |", "|---|---|")
    yield from (f"| `{status}` | {words} |" for status, words in RECEIPTS.items())
    yield ""


def _ends() -> Iterator[str]:
    yield from (
        "## Ends",
        "",
        "| state of the call | `status` |",
        "|---|---|",
        *(f"| `{state.value}` | `{status.value}`{_remark(state)} |" for state, status in ENDS.items()),
        "",
        f"The other states ({', '.join(f'`{state.value}`' for state in CallState if state in OPEN)}) are not ends: what is known then is the newest receipt.",
        "A call is ended once on the stream. What settles an `unknown` call later answers a repeated `call_id`, and is not sent by itself.",
        "",
        "A message that asks for a call is answered",
        "",
        "- 202 and the newest `tool.receipt`, while the call has not ended;",
        "- 200 and its `tool.result` or `app.result`, when it has, or when it was refused;",
        "- with the same again for the same `call_id`: nothing runs twice, and nothing is added to the stream. A refused request left no call, and its `call_id` is free.",
        "",
    )


def _remark(state: CallState) -> str:
    if state is CallState.UNKNOWN:
        return ' with `error {code: "outcome_unknown", retryable: false}`'
    return (
        " with `result`, or with `error` `result_erased` once it is not kept any more"
        if state is CallState.SUCCEEDED
        else ""
    )


def _codes() -> Iterator[str]:
    yield from (
        "## Refusals",
        "",
        "`error` is `{code, message, retryable, data?}`; [the codes](codes.md) say what each means.",
        "A refused call is answered by a message with this `status`:",
        "",
        "| `status` | codes |",
        "|---|---|",
    )
    for status in Status:
        codes = [code for code, told in REFUSALS.items() if told is status]
        yield f"| `{status.value}` | {', '.join(f'`{code.wire}`{_reason(code)}' for code in codes)} |"
    yield from (
        "",
        "`reason: revoked` is told only to a session whose earlier inventory held the capability; to every other it is as unknown as one that never was.",
        "",
        "What is no answer of a call is told by HTTP, with `{error}` as the body:",
        "",
        "| status | codes |",
        "|---|---|",
    )
    told: dict[int, list[ErrorCode]] = {}
    for code, status in REFUSALS.items():
        if (status is None or code is ErrorCode.UNSUPPORTED) and not code.value.startswith("admin."):
            told.setdefault(STATUSES[code], []).append(code)
    for number in sorted(told):
        yield f"| {number} | {', '.join(f'`{code.wire}`' for code in told[number])} |"
    yield ""


def _reason(code: ErrorCode) -> str:
    return f" (with `reason: {REASONS[code]}`)" if code in REASONS else ""


def _stream() -> Iterator[str]:
    yield from (
        "## The stream",
        "",
        "- An event is `id:` and `data:`, one message each. The id is a place in the log of the conversation; `Last-Event-ID` names the place to go on after.",
        "- Without `Last-Event-ID` the stream begins with what comes from now on. With `0` it begins with all that is kept. A place that was never given is refused (`bad_request`), so that nothing is passed over in silence.",
        "- `client.inventory` and `app.list` come first at every connect. They take no place of their own: their id is the place the stream stands at.",
        "- Receipts, ends and events of surfaces are in the log from the moment they are true: they are written with what they tell, in one transaction. Over breaks, restarts and crashes each is there once, and a place is never given twice.",
        "- Places grow. A step of more than one means that messages in between are no longer kept, or are not for this session.",
        "- The log is kept for `limits.result_ms`. The text of a result goes when the result is erased: `limits.taken_result_ms` after it was sent, or after `limits.result_ms`.",
        f"- A stream that has nothing to say sends a comment every {PING_SECONDS:g} s. A session has at most {STREAMS} streams; one more is `busy`.",
        "- It ends when the session is revoked or expires, when its agent is no longer configured, when the gateway stops or its store fails. The client comes back with its last id.",
        "",
    )


# -- tables of fields ---------------------------------------------------------------------------------------------


def _parts() -> Iterator[str]:
    """What payloads are made of, each once."""
    yield from ("## Parts", "")
    for name in sorted(_named_in_payloads()):
        yield from (f"### `{name}`", "", *_table(name))


def _named_in_payloads() -> set[str]:
    defined = schema()["$defs"]
    payloads = {
        kind.model_fields["payload"].annotation.__name__
        for kind in (*get_args(AgentMessage), *get_args(ClientMessage))
    }
    found: set[str] = set()
    pending = set(payloads)
    while pending:
        name = pending.pop()
        used = set(re.findall(r"#/\$defs/(\w+)", str(defined[name])))
        pending |= used - found - payloads
        found |= used
    return {name for name in found - payloads if "properties" in defined[name]}


def _table(name: str) -> Iterator[str]:
    definition: Json = schema()["$defs"][name]
    required = set(definition.get("required", ()))
    yield from ("| field | type | |", "|---|---|---|")
    for field, shape in definition["properties"].items():
        mark = "" if field in required else "?"
        yield f"| `{field}{mark}` | {_shape(shape)} | {_meaning(name, field)} |"
    yield ""


def _meaning(part: str, field: str) -> str:
    return FIELDS.get(f"{part}.{field}", FIELDS.get(field, ""))


def _shape(shape: Json) -> str:
    options = shape.get("anyOf") or shape.get("oneOf")
    if options:
        return " or ".join(_shape(option) for option in options)
    if "$ref" in shape:
        return _reference(shape["$ref"])
    if "const" in shape:
        return f"`{_json(shape['const'])}`"
    if "enum" in shape:
        return " · ".join(f"`{word}`" for word in shape["enum"])
    words = {
        "array": lambda: f"list of {_shape(shape['items'])}",
        "object": lambda: "object",
        "string": lambda: f"text{_bounds(shape)}",
        "integer": lambda: f"integer from {shape['minimum']}" if "minimum" in shape else "integer",
        "boolean": lambda: "true or false",
        "null": lambda: "`null`",
    }
    return words[shape["type"]]() if "type" in shape else "any JSON"


def _json(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _bounds(shape: Json) -> str:
    if "pattern" in shape and len(shape["pattern"]) < 60:
        return f" `{shape['pattern'].removeprefix('^').removesuffix('$').replace('|', chr(92) + '|')}`"
    if "maxLength" in shape:
        return f" of {shape.get('minLength', 0)} to {shape['maxLength']} characters"
    return ""


def _reference(reference: str) -> str:
    name = reference.rpartition("/")[2]
    definition: Json = schema()["$defs"][name]
    if "properties" in definition:
        return f"[`{name}`](#{name.lower()})"
    return _shape(definition)


def _type_of(kind: Any) -> str:
    return str(get_args(kind.model_fields["type"].annotation)[0]).removeprefix(PREFIX)


def _path(route: str) -> str:
    return route.replace("{conversation}", "{id}")
