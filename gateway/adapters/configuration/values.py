"""Judges single values: names, patterns, origins, addresses. Each returns the value or says what is wrong with it."""

import ipaddress
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import SplitResult, urlsplit

from capabilities.builtin.documents import CALLBACK
from capabilities.signatures import KeyRefused, read_public_key
from gateway.settings import LOG_LEVELS
from policy.patterns import is_capability_id, is_pattern
from surface_host.documents.table import NAME_PATTERN

Judge = Callable[[str], str]
"""Takes a text as written and gives it back, or raises `Refused`."""

NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,62}")
RULE_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
INVOKE_NAME: Final = re.compile(NAME_PATTERN)
APP_ID: Final = re.compile(r"(?=.{1,128}\Z)[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*){1,9}")
SECRET_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
INTEGRITY: Final = re.compile(r"sha256-[A-Za-z0-9+/]{43}=")
RESULT_FIELD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
LABEL_MAX: Final = 80
USER_MAX: Final = 256

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_HOST_NAME: Final = re.compile(
    r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*"
)
_PORT: Final = re.compile(r"[1-9][0-9]{0,4}")
_UNPRINTABLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


class Refused(Exception):
    """A value is not acceptable: why, and what to write instead."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def printable(text: str) -> str:
    """Any text a person can see whole."""
    if _UNPRINTABLE.search(text):
        raise Refused("control and reordering characters are not allowed")
    return text


def label(text: str) -> str:
    """A name for people."""
    if len(text) > LABEL_MAX:
        raise Refused(f"longer than {LABEL_MAX} characters")
    return text


def name(text: str) -> str:
    """The name of a site or an agent."""
    if not NAME.fullmatch(text):
        raise Refused(f"`{text}` is not a name", "use a lower-case letter, then at most 62 of a-z, 0-9 and `-`")
    return text


def app_id(text: str) -> str:
    """The id of a mini app: a reverse domain name."""
    if not APP_ID.fullmatch(text):
        raise Refused(f"`{text}` is not the id of a mini app", "it is a reverse domain name like `com.example.notes`")
    return text


def secret_name(text: str) -> str:
    """What a mini app calls a secret."""
    if not SECRET_NAME.fullmatch(text):
        raise Refused(f"`{text}` is not the name of a secret", "use a lower-case letter, then a-z, 0-9 and `_`")
    return text


def variable(text: str) -> str:
    """The name of a variable of the environment. The refused text is not repeated: it may be the secret itself."""
    if not VARIABLE.fullmatch(text):
        raise Refused(
            "this is not the name of a variable of the environment",
            "write the name, like `ORDERS_API_TOKEN`; the value belongs into the gateway's environment, not here",
        )
    return text


def integrity(text: str) -> str:
    """The digest of a bundle."""
    if not INTEGRITY.fullmatch(text):
        raise Refused(f"`{text}` is not the integrity of a bundle", "it is `sha256-` and 44 characters of Base64")
    return text


def rule_id(text: str) -> str:
    """The id of a rule, shown in explanations and the audit trail."""
    if not RULE_ID.fullmatch(text):
        raise Refused(f"`{text}` is not a rule id", "use at most 63 of A-Z, a-z, 0-9, `.`, `_` and `-`")
    return text


def pattern(text: str) -> str:
    """A capability id, or `a.*`."""
    if is_pattern(text):
        return text
    hint = "use an exact id like `todo.add`, or `todo.*` for exactly one further segment"
    raise Refused(f"`{text}` is neither a capability id nor a pattern", hint)


def invoke_name(text: str) -> str:
    """What actions of documents name."""
    if not INVOKE_NAME.fullmatch(text):
        raise Refused(
            f"`{text}` is not a name documents can say",
            "a letter, then at most 127 letters, digits, `_`, `.` or `-`",
        )
    return text


def result_field(text: str) -> str:
    """A field of an output."""
    if not RESULT_FIELD.fullmatch(text):
        raise Refused(
            f"`{text}` is not a field documents can name", "a letter, then at most 63 letters, digits, `_`, `-`"
        )
    return text


def target(text: str) -> str:
    """What an action of a document asks for: one capability, and none that agents show things with."""
    if not is_capability_id(text):
        raise Refused(f"`{text}` is not a capability id like `todo.add`")
    if text.startswith("ui.") and text != CALLBACK.id:
        raise Refused(f"`{text}` is for agents", f"of `ui.` only `{CALLBACK.id}` may be asked for by a document")
    return text


def user_pattern(text: str) -> str:
    """A user name, or the beginning of one and a `*`."""
    if "*" in text[:-1]:
        raise Refused(f"`{text}` has a `*` that is not at its end", "write a user name, or its beginning and `*`")
    if len(text) > USER_MAX:
        raise Refused(f"longer than {USER_MAX} characters")
    return text


def agent_pattern(text: str) -> str:
    """An agent's name, or the beginning of one and a `*`."""
    if "*" in text[:-1]:
        raise Refused(f"`{text}` has a `*` that is not at its end", "write an agent's name, or its beginning and `*`")
    return text


def database(text: str) -> str:
    """A database over the network. Unlike elsewhere the refused text is not repeated: it may hold a password."""
    form = "write an address like `postgresql://ostiary@db.example.com/ostiary`, or leave it out for SQLite"
    if any(character.isspace() or not character.isprintable() for character in text):
        raise Refused("the address of the database has white space in it", form)
    if not text.startswith(("postgresql://", "postgres://")):
        raise Refused("the address of the database is not one of PostgreSQL", form)
    return text


def origin(text: str) -> str:
    """Exactly what a browser sends as `Origin`."""
    form = "write it as a browser sends it, like `https://app.example.com` or `http://localhost:3000`"
    if "*" in text:
        raise Refused(f"`{text}` has a wildcard; origins are exact", form)
    parts = _split(text, form)
    if parts.scheme not in _DEFAULT_PORTS or not parts.netloc:
        raise Refused(f"`{text}` is not an origin", form)
    if parts.path or parts.query or parts.fragment or text.endswith(("/", "?", "#")):
        raise Refused(
            f"`{text}` goes on after the host; an origin does not", f"write `{parts.scheme}://{parts.netloc}`"
        )
    if text != f"{parts.scheme}://{parts.netloc}":
        raise Refused(f"`{text}` is not an origin", form)
    host, port = _host_port(parts.netloc, form)
    if port == _DEFAULT_PORTS[parts.scheme]:
        raise Refused(
            f"`{text}` names the default port, which a browser leaves out", f"write `{parts.scheme}://{host}`"
        )
    return text


def address(text: str) -> str:
    """The address of a page people open."""
    form = "write an address like `https://app.example.com/board`"
    parts = _split(text, form)
    if parts.scheme not in _DEFAULT_PORTS or re.search(r"[\s\\]", text):
        raise Refused(f"`{text}` is not an http or https address", form)
    _host_port(parts.netloc.lower(), form)
    return text


def webhook(text: str) -> str:
    """Where events are posted. In clear only on the machine itself: what is signed is not hidden."""
    parts = _split(address(text), "")
    if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
        raise Refused(f"`{text}` is not https", "in clear only `localhost`, `127.0.0.1` and `[::1]` are posted to")
    if parts.fragment or text.endswith("#"):
        raise Refused(f"`{text}` has a `#`, which is not sent", "leave it and what follows out")
    return text


def host(text: str) -> str:
    """What a client sends as `Host`: a host and, unless it is the scheme's own, a port."""
    _host_port(text, "write a host like `gateway.example.com` or `gateway.example.com:8443`")
    return text


def network(text: str) -> str:
    """The addresses of proxies: one address, or a network in CIDR form."""
    form = "write an address like `10.0.0.5`, or a network like `10.0.0.0/24`"
    try:
        found = ipaddress.ip_network(text)
    except ValueError as error:
        try:
            strict = ipaddress.ip_network(text, strict=False)
        except ValueError:
            raise Refused(f"`{text}` is not a network", form) from error
        raise Refused(f"`{text}` has bits beside its prefix", f"write `{strict}`") from error
    if found.prefixlen == 0:
        raise Refused(f"`{text}` is everybody", "list your own proxies: what any client writes would be believed")
    return str(found)


def listen(text: str) -> tuple[str, int]:
    """A listening address as host and port."""
    form = "write host and port, like `127.0.0.1:8460`, or `0.0.0.0:8460` for every interface"
    found, port = _host_port(text, form)
    if port is None:
        raise Refused(f"`{text}` names no port", form)
    return found.removeprefix("[").removesuffix("]"), port


def metrics_listen(text: str) -> str:
    """Where `/metrics` listens, as written."""
    listen(text)
    return text


def log_level(text: str) -> str:
    """How much is logged."""
    if text not in LOG_LEVELS:
        raise Refused(f"there is no level `{text}`", f"there are {', '.join(LOG_LEVELS)}")
    return text


def public_key(text: str) -> str:
    """An Ed25519 public key, in Base64."""
    try:
        read_public_key(text)
    except KeyRefused as error:
        raise Refused(f"`{text}` is no key: {error}", "`ostiary app pack --help` says how a key is made") from error
    return text


def _split(text: str, form: str) -> SplitResult:
    try:
        return urlsplit(text)
    except ValueError as error:
        raise Refused(f"`{text}` is not an address", form) from error


def _host_port(text: str, form: str) -> tuple[str, int | None]:
    if "@" in text:
        raise Refused(f"`{text}` holds a user name", "leave out everything before the `@`")
    if text != text.lower():
        raise Refused(f"`{text}` has capital letters", f"browsers send `{text.lower()}`")
    if not text.isascii():
        raise Refused(f"`{text}` is not ASCII", "write the name in its `xn--` form, as browsers send it")
    found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^:\[\]]*)(?::(.*))?", text)
    if found is None or not _is_host(found[1]):
        raise Refused(f"`{text}` is not a host", form)
    port: str | None = found[2]
    if port is None:
        return found[1], None
    if not _PORT.fullmatch(port) or int(port) > 65535:
        raise Refused(f"port `{port}` is not between 1 and 65535", form)
    return found[1], int(port)


def _is_host(text: str) -> bool:
    try:
        if text.startswith("["):
            # A browser sends the shortest spelling, and only that one compares equal.
            return ipaddress.IPv6Address(text[1:-1]).compressed == text[1:-1]
        if text.rpartition(".")[2].isdigit():
            return str(ipaddress.IPv4Address(text)) == text
    except ValueError:
        return False
    return _HOST_NAME.fullmatch(text) is not None
