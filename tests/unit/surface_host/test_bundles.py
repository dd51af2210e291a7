"""What a surface bundle may be: every way to bring in what the frame must not have, and what must stay possible."""

import base64
import hashlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surface_host.bundles import BUNDLE_BYTES, Parts, Profile, integrity_of, judge_bundle


def code_of(html: str = "", css: str = "", js: str = "", profile: Profile = "strict") -> str | None:
    fault = judge_bundle(Parts(html=html, css=css, js=js), profile)
    return None if fault is None else fault.code


@pytest.mark.parametrize(
    "html",
    [
        "<main><button id='go'>Go</button></main>",
        "<svg xmlns='http://www.w3.org/2000/svg'><path d='M0 0h10' fill='url(#g)'/></svg>",
        "<svg><animate attributeName='r' values='1;2'/></svg>",
        "<img src='data:image/png;base64,AAAA//BB' alt='see https://example.test'>",
        "<p>2 < 3, a<1 and https://example.test</p>",
        "<a href='#part'>down</a><form><input></form>",
        "<template><p>later</p></template>",
        "<p title=\"<b>bold</b>\" data-on='x'>text</p>",
    ],
)
def test_what_a_surface_needs_is_taken(html: str) -> None:
    assert code_of(html) is None


@pytest.mark.parametrize(
    "html",
    [
        "<iframe>",
        "<IFRAME srcdoc='x'>",
        "</iframe>",
        "<iframe/src=x>",
        "<iframe\nsrc=x>",
        "<iframe",
        "<frame>",
        "<object>",
        "<embed>",
        "<base href='/'>",
        "<meta http-equiv='refresh'>",
        "<link rel='preconnect'>",
        "<script>1</script>",
        "<portal>",
        "<fencedframe>",
        "<!-- <iframe> -->",
        "<svg><style><iframe></style></svg>",
        "<title><iframe></title>",
        "<p title='<iframe srcdoc=x>'>",
        "<a<iframe>",
        "<noscript><link></noscript>",
        "<template><meta></template>",
    ],
)
@pytest.mark.parametrize("profile", ["strict", "compat"])
def test_no_element_that_loads_navigates_or_runs_is_taken(html: str, profile: Profile) -> None:
    assert code_of(html, profile=profile) == "surface.element"


@pytest.mark.parametrize(
    "html",
    [
        "<form action='/x'>",
        "<button formaction=x>",
        "<a target=_blank>",
        "<a ping=x>",
        "<p srcdoc=x>",
        "<svg><animate attributeName=href></svg>",
        "<svg><set/attributename=' x' attributeName=XLINK:HREF></svg>",
        "<a href='java\nscript:1'>",
        "<a href='&#106;avascript:1'>",
        "<a href=' \x01javascript:1'>",
        "<p title='a'target=_blank>",
        "<p title=a/b target=x>",
        "<p =x target=y>",
    ],
)
@pytest.mark.parametrize("profile", ["strict", "compat"])
def test_no_attribute_that_navigates_is_taken(html: str, profile: Profile) -> None:
    assert code_of(html, profile=profile) == "surface.attribute"


@pytest.mark.parametrize(
    "html", ["<p onclick='1'>", "<p/onclick=1>", "<svg ONLOAD=1>", "<p title='>' onclick=1>", "<p\fonx>"]
)
def test_attributes_that_hold_script_are_for_the_compat_profile_alone(html: str) -> None:
    assert code_of(html) == "surface.attribute"
    assert code_of(html, profile="compat") is None


@pytest.mark.parametrize(
    ("html", "css"),
    [
        ("<img src='https://example.test/a.png'>", ""),
        ("<img src=//example.test/a.png>", ""),
        ("<img srcset='data:, 1x, http://example.test/b 2x'>", ""),
        ("<a href='HTTPS://example.test'>", ""),
        ("<a href='&#104;ttps://example.test'>", ""),
        ('<p style="background:url(https://example.test)">', ""),
        ("<svg><use href='http://example.test#a'/></svg>", ""),
        ("<style>p{background:url(https://example.test)}</style>", ""),
        ("<svg><style>@import 'data:,'", ""),
        ("", "p{background:url(https://example.test)}"),
        ("", r"p{background:url(\68ttps://example.test)}"),
        ("", r"p{background:\75\72\6c(\000068 ttp:\//example.test)}"),
        ("", r"@\69mport 'data:,'"),
        ("", "p{background:url( //example.test/a)}"),
        ("", "p{background:url('//example.test/a')}"),
        ("", "@IMPORT 'data:text/css,'"),
    ],
)
def test_nothing_from_elsewhere_is_taken(html: str, css: str) -> None:
    assert code_of(html, css) == "surface.remote"


@pytest.mark.parametrize(
    ("css", "js"), [("p{} </STYLE ", ""), ("", "x = '</script>'"), ("", "x = '</SCRIPT'"), ("", "<!-- x")]
)
def test_css_and_js_cannot_end_where_they_stand(css: str, js: str) -> None:
    assert code_of("", css, js) == "surface.ends_early"


def test_css_may_name_what_it_never_loads() -> None:
    icon = "url(\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>\")"
    assert code_of("", f"p{{background:{icon}}} q{{content:'a//b'}}") is None


def test_a_bundle_is_taken_up_to_its_last_byte() -> None:
    rest = BUNDLE_BYTES - 10
    assert code_of("é" * 3, "ab", "c" * (rest + 2)) is None
    assert code_of("é" * 3, "ab", "c" * (rest + 3)) == "surface.too_large"


def test_half_a_surrogate_pair_is_no_text() -> None:
    assert code_of("", "", "'\ud800'") == "surface.not_text"


@pytest.mark.parametrize("unit", ["<a ", "<p a='<p b=\"", "<a x='", "<", "<a<a", "<p a=1 "])
def test_a_bundle_made_to_be_read_slowly_is_not(unit: str) -> None:
    html = (unit * BUNDLE_BYTES)[:BUNDLE_BYTES]
    began = time.process_time()
    code_of(html)
    assert time.process_time() - began < 2


@given(st.text(alphabet="<>/ ='\"abiframe\t\n!-", max_size=80))
def test_wherever_a_frame_could_begin_it_is_found(text: str) -> None:
    assert code_of(f"{text}<iframe {text}") == "surface.element"


def test_the_integrity_covers_names_lengths_and_bytes() -> None:
    parts = Parts(html="<p>é</p>", css="p{}", js="1")
    told = b"html\n9\n<p>\xc3\xa9</p>css\n3\np{}js\n1\n1"
    assert integrity_of(parts) == "sha256-" + base64.b64encode(hashlib.sha256(told).digest()).decode()
    # The browser half's test holds the same value.
    assert integrity_of(parts) == "sha256-nUUSVJW/L1mQ5bPkiEHdIl2I8BommY20h2wiYiP5A9o="
    assert integrity_of(Parts(html="a", css="b")) != integrity_of(Parts(html="ab"))
    assert integrity_of(Parts(html="", css="a")) != integrity_of(Parts(html="", js="a"))


def test_a_fault_never_quotes_the_bundle() -> None:
    fault = judge_bundle(Parts(html="<p onsecret='hunter2'>"))
    assert fault is not None
    assert "hunter2" not in fault.reason
    assert "secret" not in fault.reason
