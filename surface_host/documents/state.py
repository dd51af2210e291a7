"""The state of a document in use, and its actions. This docstring is the norm of both halves (design §12, rules H2, H9).

A state has one value for each field and nothing else. A write is judged as a whole candidate; it is taken whole or
leaves everything as it was. All pointers are into the state: `/<field>`.

`update_state`: first each key of the old state, then each key of the changes, in their order, must be a field
(`unknown_field`). Then for each field in document order: no value `missing_key`, another type `type_mismatch`, not in its
domain `out_of_domain` (options of Selects included). Then the canonical form of the whole must have at most 262,144
bytes, else `state_too_large` at the empty pointer. So an old state beyond the limit refuses each edit.

`restore_state` takes what was kept, whatever became of it: the value of each field that is there and in the field's
domain, the default for each other. Where the value as a whole is no plain JSON object, or the result is too large, the
defaults. It refuses nothing and runs nothing.

`run_action`: an id that names no `set` or `reset` is `unknown_action` (empty pointer). `set` evaluates its value on the
present state, only what that value needs; a failure is refused with its own code and its pointer in the document. Then
`update_state`. `reset` writes the defaults of its fields, or of all.

`action_arguments`: an id that names no `invoke` is `unknown_action` (empty pointer). The values sent are written over the
defaults by `update_state`; then each argument is evaluated in document order, a failure as above; then the canonical
form of all arguments must have at most 16,384 bytes, else `arguments_too_large` at the empty pointer.

`map_result`: an id that names no `invoke` is `unknown_action`. For each pair of `resultMap`, in document order: the result
has no such member `missing_key` (pointer: `/<member of the result>`). Then `update_state` with all of them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, cast

from surface_host.documents.canonical import canonical
from surface_host.documents.codes import DocumentCode, Refused, refused
from surface_host.documents.declarations import Declarations, Json, Scalar
from surface_host.documents.document import Document
from surface_host.documents.evaluation import Evaluation, Failure
from surface_host.documents.numbers import plain
from surface_host.documents.pointers import cut, segment
from surface_host.documents.scanner import assert_safe_json
from surface_host.documents.table import LIMITS

State = Mapping[str, Scalar]
"""A value for each field, read-only."""

_C: Final = DocumentCode


def initial_state(document: Document) -> State:
    """The defaults."""
    return _defaults(document.declarations)


def update_state(document: Document, state: State, changes: Mapping[str, Any]) -> State:
    """The state with some fields changed.

    Raises:
        Refused: nothing changed; pointers are into the state.
    """
    domains = document.declarations.domains
    for name in (*state, *changes):
        if name not in domains:
            raise refused(_C.UNKNOWN_FIELD, cut(segment(name)))
    candidate: dict[str, Scalar] = {}
    for name, domain in domains.items():
        if name not in changes and name not in state:
            raise refused(_C.MISSING_KEY, f"/{name}")
        value = changes[name] if name in changes else state[name]
        if code := domain.fault(value):
            raise refused(code, f"/{name}")
        candidate[name] = plain(value + 0.0) if isinstance(value, float) else value
    if len(canonical(candidate)) > LIMITS["state_bytes"]:
        raise refused(_C.STATE_TOO_LARGE, "")
    return MappingProxyType(candidate)


def restore_state(document: Document, saved: object) -> State:
    """What of a kept state is still good, and the defaults for the rest."""
    defaults = _defaults(document.declarations)
    try:
        # A kept state is never larger than a state may be, but its keys may be of another document.
        read = assert_safe_json(saved, max_bytes=2 * LIMITS["state_bytes"]).value
    except Refused:
        return defaults
    if not isinstance(read, dict):
        return defaults
    kept = {
        name: value
        for name, value in cast("dict[str, Any]", read).items()
        if name in defaults and not document.declarations.domains[name].fault(value)
    }
    try:
        return update_state(document, defaults, kept)
    except Refused:
        return defaults


def run_action(document: Document, state: State, action_id: str) -> State:
    """The state after a local action.

    Raises:
        Refused: nothing changed.
    """
    action = _action(document, action_id, "set", "reset")
    if action["type"] == "set":
        evaluation = Evaluation(document.declarations, state)
        value = _value(evaluation, action["value"], f"/actions/{action_id}/value")
        return update_state(document, state, {action["field"]: value})
    defaults = _defaults(document.declarations)
    names = action.get("fields", tuple(defaults))
    return update_state(document, state, {name: defaults[name] for name in names})


def action_arguments(document: Document, action_id: str, values: Mapping[str, Any]) -> Mapping[str, Scalar]:
    """The arguments of an `invoke`, computed anew from what the person entered.

    Args:
        document: the stored one; what a page says of it is not asked.
        action_id: of an `invoke`.
        values: by field; a field that is left out has its default.

    Raises:
        Refused: the values are not a state of this document, or an argument has no value.
    """
    action = _action(document, action_id, "invoke")
    state = update_state(document, _defaults(document.declarations), values)
    evaluation = Evaluation(document.declarations, state)
    arguments = {
        name: _value(evaluation, expression, f"/actions/{action_id}/args/{name}")
        for name, expression in action["args"].items()
    }
    if len(canonical(arguments)) > LIMITS["invoke_bytes"]:
        raise refused(_C.ARGUMENTS_TOO_LARGE, "")
    return MappingProxyType(arguments)


def map_result(document: Document, state: State, action_id: str, result: Mapping[str, Any]) -> State:
    """The state after the result of an `invoke` came back.

    Raises:
        Refused: nothing changed.
    """
    action = _action(document, action_id, "invoke")
    changes: dict[str, Any] = {}
    for field, member in action.get("resultMap", {}).items():
        if member not in result:
            raise refused(_C.MISSING_KEY, f"/{member}")
        changes[field] = result[member]
    return update_state(document, state, changes)


def _defaults(declared: Declarations) -> State:
    return MappingProxyType({name: domain.default for name, domain in declared.domains.items()})


def _action(document: Document, action_id: str, *types: str) -> Json:
    action = document.actions.get(action_id)
    if action is None or action["type"] not in types:
        raise refused(_C.UNKNOWN_ACTION, "")
    return action


def _value(evaluation: Evaluation, expression: Any, at: str) -> Scalar:
    value = evaluation.value(expression, at)
    if isinstance(value, Failure):
        raise refused(value.code, value.pointer)
    return value
