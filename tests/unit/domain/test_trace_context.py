"""W3C Trace Context to the letter: what is not exact is nobody's trace."""

import pytest

from gateway.domain.trace_context import read_traceparent, read_tracestate, trace_id_of

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
GOOD = f"00-{TRACE}-{SPAN}-01"


def test_a_good_one_is_read_and_written_alike() -> None:
    found = read_traceparent(GOOD)
    assert found is not None
    assert (found.trace_id, found.span_id, found.flags, found.text) == (TRACE, SPAN, 1, GOOD)
    assert trace_id_of(found.text) == TRACE


@pytest.mark.parametrize(
    "given",
    [
        None,
        7,
        {"traceparent": GOOD},
        "",
        GOOD.upper(),
        f" {GOOD}",
        f"{GOOD}\n",
        f"{GOOD}-",
        f"{GOOD}-00",
        GOOD.replace("-", "_"),
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f"00-{TRACE}0-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-1",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"ff-{TRACE}-{SPAN}-01",
        f"01-{TRACE}-{SPAN}-01more",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE[:-1]}g-{SPAN}-01",
        f"00-{TRACE[:-1]}\u0661-{SPAN}-01",
    ],
)
def test_anything_else_is_ignored(given: object) -> None:
    assert read_traceparent(given) is None


@pytest.mark.parametrize("rest", ["", "-", "-what comes later"])
def test_a_later_version_is_read_by_its_first_four_fields(rest: str) -> None:
    found = read_traceparent(f"01-{TRACE}-{SPAN}-ff{rest}")
    assert found is not None
    assert found.text == GOOD


def test_unknown_flags_are_not_passed_on() -> None:
    found = read_traceparent(f"00-{TRACE}-{SPAN}-fd")
    assert found is not None
    assert found.text.endswith("-01")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
        ("a=1 ,\tb=2,,", "a=1,b=2"),
        ("fw529a3039@dt=FfAAAA", "fw529a3039@dt=FfAAAA"),
        ("0tenant@sys=x", "0tenant@sys=x"),
        ("", None),
        (",", None),
        (None, None),
        ("A=1", None),
        ("0a=1", None),
        ("a=", None),
        ("a=1=2", None),
        ("a=1,a=2", None),
        ("a=ümlaut", None),
        ("a=1\n", None),
        (",".join(f"k{n}=v" for n in range(33)), None),
        (f"a={'v' * 511}", None),
    ],
)
def test_tracestate(given: object, kept: str | None) -> None:
    assert read_tracestate(given) == kept
