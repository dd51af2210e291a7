"""What a surface bundle may be: its size, its integrity, and what its html, css and js may not hold. Pure.

A tag starts wherever `<` meets a letter, for every parser and in every state; so each such place is read as a tag, in
comments and foreign content too. Browsers therefore find no tag that was not judged here, and an author who writes
`<iframe` in a comment is refused as well.
"""

import base64
import hashlib
import html as entities
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

BUNDLE_BYTES: Final = 163_840
"""160 KiB: html, css and js together, as UTF-8 (seed 000 §4.1)."""

Profile = Literal["strict", "compat"]
Part = Literal["html", "css", "js"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """One bundle."""

    html: str
    css: str = ""
    js: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why a bundle is not taken.

    Attributes:
        code: `surface.` and a word.
        part: where it is.
        reason: words for the author; of what the bundle holds, only names of elements and attributes that have a meaning here.
    """

    code: str
    part: Part
    reason: str


def integrity_of(parts: Parts) -> str:
    """`sha256-` and base64 of the digest over html, css and js, each with its name and length before it."""
    digest = hashlib.sha256()
    for name, text in (("html", parts.html), ("css", parts.css), ("js", parts.js)):
        body = text.encode()
        digest.update(f"{name}\n{len(body)}\n".encode() + body)
    return "sha256-" + base64.b64encode(digest.digest()).decode()


def judge_bundle(parts: Parts, profile: Profile = "strict") -> Fault | None:
    """The first thing that is wrong with a bundle; None means it may be shown in a frame of `profile`."""
    return (
        _judge_size(parts)
        or next(_faults_of_html(parts.html, profile), None)
        or _judge_css(parts.css)
        or _judge_js(parts.js)
    )


def _judge_size(parts: Parts) -> Fault | None:
    try:
        size = len((parts.html + parts.css + parts.js).encode())
    except UnicodeEncodeError:
        return Fault(code="surface.not_text", part="html", reason="it holds half of a surrogate pair")
    if size > BUNDLE_BYTES:
        return Fault(
            code="surface.too_large", part="html", reason=f"html, css and js are more than {BUNDLE_BYTES} bytes"
        )
    return None


# -- html -----------------------------------------------------------------------------------------------------

_SPACE: Final = r"\t\n\f\r "
_TAG: Final = re.compile(rf"</?([A-Za-z][^{_SPACE}/><]*)")
_ATTRIBUTE: Final = re.compile(
    rf"""[{_SPACE}/]*([^{_SPACE}/>][^{_SPACE}/>=]*)(?:[{_SPACE}]*=[{_SPACE}]*("[^"]*"|'[^']*'|[^{_SPACE}>]*))?"""
)

_READ_MAX: Final = 2 * BUNDLE_BYTES
"""Characters of attributes read in one bundle. Only one made to be read slowly has more: what stands in no closed tag
is read again for each `<` before it."""

_ELEMENTS: Final = frozenset(
    {
        *("iframe", "frame", "frameset", "object", "embed", "applet", "portal", "fencedframe"),
        *("base", "meta", "link", "script", "plaintext"),
    }
)
_ATTRIBUTES: Final = frozenset({"srcdoc", "ping", "target", "formaction", "action", "background", "manifest"})
_ADDRESSES: Final = frozenset(
    {"href", "xlink:href", "src", "srcset", "poster", "data", "cite", "style", "fill", "filter"}
)
_MOVES: Final = frozenset({"animate", "set", "animatetransform", "animatemotion", "animatecolor"})

_REMOTE: Final = re.compile(r"https?:(?!//www\.w3\.org/)|(?:^|[\s('\"])//", re.IGNORECASE)
"""An address elsewhere. The names of SVG and its like look like one and are never loaded."""

_RUNS: Final = re.compile(
    r"^[\x00-\x20]*(?:j[\s]*a[\s]*v[\s]*a[\s]*s[\s]*c[\s]*r[\s]*i[\s]*p[\s]*t|vbscript)[\s]*:", re.IGNORECASE
)


_SHEET: Final = re.compile(r"<style\b", re.IGNORECASE)


def _faults_of_html(html: str, profile: Profile) -> Iterator[Fault]:
    left = _READ_MAX
    if any(map(_loads, _sheets(html))):
        yield _remote("html")
    for tag in _TAG.finditer(html):
        name = tag[1].lower()
        if name in _ELEMENTS:
            hint = "; put it in js" if name == "script" else ""
            yield Fault(code="surface.element", part="html", reason=f"`<{name}>` is not for surfaces{hint}")
        if tag[0].startswith("</"):
            continue
        for key, value, size in _attributes(html, tag.end()):
            left -= size
            if left < 0:
                yield Fault(code="surface.too_large", part="html", reason="its tags are not closed")
                return
            yield from _faults_of_attribute(name, key, value, profile)


def _sheets(html: str) -> Iterator[str]:
    """What stands in `<style>`, up to its end or the next one."""
    for begun in _SHEET.split(html)[1:]:
        _, _, sheet = begun.partition(">")
        yield _STYLE_END.split(sheet, maxsplit=1)[0]


def _faults_of_attribute(name: str, key: str, value: str, profile: Profile) -> Iterator[Fault]:
    reason = None
    if key in _ATTRIBUTES:
        reason = f"attribute `{key}` is not for surfaces"
    elif profile == "strict" and key.startswith("on"):
        reason = "attributes that hold script are not for the strict profile; listen from js"
    elif name in _MOVES and key == "attributename" and value.lower() in ("href", "xlink:href"):
        reason = "an animation may not change an address"
    elif key in _ADDRESSES and _RUNS.search(value):
        reason = "an address may not be script"
    if reason is not None:
        yield Fault(code="surface.attribute", part="html", reason=reason)
    if key in _ADDRESSES and (_REMOTE.search(value) or (key == "style" and _loads(value))):
        yield _remote("html")


def _attributes(html: str, at: int) -> Iterator[tuple[str, str, int]]:
    """Name, value, and how many characters both took."""
    while (found := _ATTRIBUTE.match(html, at)) is not None:
        size, at = found.end() - at, found.end()
        value = found[2] or ""
        if value[:1] in ('"', "'") and value[-1:] == value[:1] and len(value) > 1:
            value = value[1:-1]
        yield found[1].lower(), entities.unescape(value), size


# -- css and js -----------------------------------------------------------------------------------------------

_STYLE_END: Final = re.compile(r"</style", re.IGNORECASE)
_SCRIPT_END: Final = re.compile(r"</script|<!--", re.IGNORECASE)
_IMPORT: Final = re.compile(r"@import", re.IGNORECASE)
_ESCAPE: Final = re.compile(r"\\(?:([0-9A-Fa-f]{1,6})(?:\r\n|[ \t\r\n\f])?|([^\r\n\f0-9A-Fa-f]))")
_LAST_POINT: Final = 0x10FFFF


def _judge_css(css: str) -> Fault | None:
    if _STYLE_END.search(css):
        return Fault(code="surface.ends_early", part="css", reason="`</style` would end it")
    return _remote("css") if _loads(css) else None


def _loads(css: str) -> bool:
    """Whether a sheet names an address elsewhere, whichever way its letters are written."""
    text = _ESCAPE.sub(_unescaped, css)
    return _IMPORT.search(text) is not None or _REMOTE.search(text) is not None


def _unescaped(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return escape[2]
    point = int(escape[1], 16)
    return chr(point) if point <= _LAST_POINT else ""


def _remote(part: Part) -> Fault:
    reason = "a surface loads nothing from elsewhere; use `data:` addresses"
    return Fault(code="surface.remote", part=part, reason=reason)


def _judge_js(js: str) -> Fault | None:
    if _SCRIPT_END.search(js):
        return Fault(
            code="surface.ends_early",
            part="js",
            reason=r"`</script` and `<!--` would end it; write `<\/script`, `<\!--`",
        )
    return None
