"""Runs what only computes, and tells what came of a handler as the answer its call ends with."""

import orjson
import structlog

from capabilities.contract import Computation, Descriptor, HandlerFailed
from gateway.domain.canonical import canonical
from gateway.domain.errors import ErrorCode
from gateway.runtime.settlement import Answer, judged
from gateway.runtime.validators import DescriptorValidator

_log = structlog.get_logger("ostiary.execution")


def computed(
    computation: Computation, descriptor: Descriptor, validator: DescriptorValidator, arguments: str, ref: str
) -> Answer:
    """The judged answer to the canonical text `arguments`; runs wherever it is called and never waits."""
    try:
        output = computation.compute(orjson.loads(arguments))
        answer, violation = Answer(output=canonical(output).decode()), validator.output_violation(output)
    except Exception as error:  # noqa: BLE001 - whatever a handler raises is a failed result, not ours
        return failed(error, descriptor.id, ref)
    return judged(answer, violation, descriptor.id)


def failed(error: Exception, capability: str, ref: str) -> Answer:
    """The answer for what a handler raised; only what it meant for its caller is told."""
    if isinstance(error, HandlerFailed):
        return Answer(code=ErrorCode.HANDLER_ERROR, message=str(error)[:500])
    _log.error("handler_failed", capability=capability, ref=ref, error=type(error).__name__)
    return Answer(code=ErrorCode.HANDLER_ERROR, message=f"`{capability}` failed; see the gateway's log")
