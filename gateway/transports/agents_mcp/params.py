"""Whether the params of a newer `tools/list` or `tools/call` are what the SDK's models take, found out cheaply.

The models are slow, and a client sends the same capabilities and the same name with every request. So what is
plain is judged here, the envelope once for each client, and everything else by the model.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import orjson
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    LOG_LEVEL_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    methods,
)
from pydantic import ValidationError

_PLAIN: Final = frozenset({"_meta", "name", "arguments"})
_ENVELOPE: Final = (
    PROTOCOL_VERSION_META_KEY,
    CLIENT_INFO_META_KEY,
    CLIENT_CAPABILITIES_META_KEY,
    LOG_LEVEL_META_KEY,
)
"""What the models judge of `_meta` beside the progress token; they let any other member pass."""

_REST: Final[Mapping[str, Mapping[str, str]]] = {"tools/list": {}, "tools/call": {"name": ""}}
"""What the models demand beside `_meta`."""

_TOKEN: Final = "progressToken"  # noqa: S105 - a name on the wire

_REMEMBERED_BYTES: Final = 4_096
_REMEMBERED: Final = 512


def are_valid(method: str, version: str, params: Mapping[str, Any]) -> bool:
    """Whether the model of `method` in `version` takes `params`; its `_meta` is known to be an object."""
    meta = params["_meta"]
    token = meta.get(_TOKEN)
    if _is_plain(method, params) and (token is None or token.__class__ is str or token.__class__ is int):
        envelope = orjson.dumps({key: meta[key] for key in _ENVELOPE if key in meta})
        if len(envelope) <= _REMEMBERED_BYTES:
            return _is_envelope(method, version, envelope)
    return _is_taken(method, version, params)


def _is_plain(method: str, params: Mapping[str, Any]) -> bool:
    if method == "tools/list":
        return len(params) == 1
    arguments = params.get("arguments")
    return (
        params.keys() <= _PLAIN
        and params.get("name").__class__ is str
        and (arguments is None or arguments.__class__ is dict)
    )


@lru_cache(maxsize=_REMEMBERED)
def _is_envelope(method: str, version: str, envelope: bytes) -> bool:
    return _is_taken(method, version, {"_meta": orjson.loads(envelope), **_REST[method]})


def _is_taken(method: str, version: str, params: Mapping[str, Any]) -> bool:
    try:
        methods.validate_client_request(method, version, params)
    except ValidationError:
        return False
    return True
