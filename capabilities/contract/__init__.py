"""What an author of capabilities imports: descriptors and the handler's contract. Pure."""

from capabilities.contract.descriptor import CallModel, Descriptor, HandlerKind, Readiness
from capabilities.contract.handler import Computation, Handler, HandlerContext, HandlerFailed

__all__ = [
    "CallModel",
    "Computation",
    "Descriptor",
    "Handler",
    "HandlerContext",
    "HandlerFailed",
    "HandlerKind",
    "Readiness",
]
