"""The compiled checks of one declaration, by fingerprint: compiled once per capability version."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

import orjson

from capabilities.contract import Descriptor
from capabilities.validator import VALUE_DEPTH, Validator, compile_validator
from gateway.domain.errors import ErrorCode

_CODES: Final = {
    "invalid": ErrorCode.ARGUMENTS_INVALID,
    "not_json": ErrorCode.ARGUMENTS_INVALID,
    "too_deep": ErrorCode.TOO_DEEP,
}

UI: Final = "ui."
"""Begins the capabilities whose arguments hold a document or a surface."""

UI_ARGUMENT_DEPTH: Final = VALUE_DEPTH + 4
"""How deep the arguments of a `ui.` call may be: a document is judged alone, from its own root on (rules A1)."""

_KEPT: Final = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class InputProblem:
    """Why arguments are refused; never holds a value of theirs (rules A4)."""

    code: ErrorCode
    pointer: str
    reason: str


class DescriptorValidator:
    """Checks arguments and results of one capability version."""

    def __init__(self, descriptor: Descriptor) -> None:
        deepest = UI_ARGUMENT_DEPTH if descriptor.id.startswith(UI) else VALUE_DEPTH
        self._input = compile_validator(descriptor.input_schema, max_depth=deepest)
        schema = descriptor.output_schema
        self._output: Validator | None = None if schema is None else compile_validator(schema)
        self.holds_secrets = _mentions_secret(dict(descriptor.input_schema))
        """Whether any part of the input is declared `writeOnly` or `format: password`."""

    def first_input_error(self, arguments: dict[str, Any]) -> InputProblem | None:
        """The first thing wrong with `arguments`."""
        problem = self._input.first_error(arguments)
        if problem is None:
            return None
        return InputProblem(code=_CODES[problem.kind], pointer=problem.pointer, reason=problem.reason)

    def output_violation(self, output: Any) -> str | None:
        """Where and why `output` breaks the declared schema; None when it does not, or none is declared."""
        return None if self._output is None else _violation(self._output, output)


def broken_promise(promise: str, output: Any) -> str | None:
    """Where and why `output` breaks the output schema whose JSON text was kept with its call."""
    return _violation(_promised(promise), output)


def _violation(schema: Validator, output: Any) -> str | None:
    problem = schema.first_error(output)
    return None if problem is None else f"`{problem.pointer or '/'}` {problem.reason}"


@lru_cache(maxsize=256)
def _promised(promise: str) -> Validator:
    return compile_validator(orjson.loads(promise))


_compiled: dict[str, DescriptorValidator] = {}


def validator_of(descriptor: Descriptor) -> DescriptorValidator:
    """The compiled checks of `descriptor`: compiled once per fingerprint, the oldest go first."""
    known = _compiled.get(descriptor.fingerprint)
    if known is None:
        if len(_compiled) >= _KEPT:
            _compiled.pop(next(iter(_compiled)))
        known = _compiled[descriptor.fingerprint] = DescriptorValidator(descriptor)
    return known


def _mentions_secret(schema: Any) -> bool:
    pending: list[Any] = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            members = cast("dict[str, Any]", node)
            if members.get("writeOnly") is True or members.get("format") == "password":
                return True
            pending.extend(members.values())
        elif isinstance(node, list):
            pending.extend(cast("list[Any]", node))
    return False
