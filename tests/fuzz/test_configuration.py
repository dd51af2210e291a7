"""The configuration file: whatever it says, the answer is a configuration or its problems, each with a place."""

# Examples are any JSON at all: their types would say nothing.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownMemberType=false

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.configuration.keys import KEYS
from gateway.adapters.configuration.problems import PROBLEMS_MAX, SHOWN_MAX, ConfigurationError
from gateway.adapters.configuration_file import load
from gateway.domain.configuration import Configuration
from tests.fuzz.rig import examples, mutated

GOOD = """\
version: 1
server: {listen: "127.0.0.1:8460", hosts: [gateway.test], trusted_proxies: [10.0.0.0/8]}
limits: {body_bytes: 262144}
sites:
  todo:
    address: https://todo.test/board
    origins: ["https://todo.test"]
    users: [ada, "team-*"]
    expose: [todo.list, {id: todo.add, effect: write, risk: user_confirmation, confirm: always}]
    in_page_agent: {scope: [todo.list]}
    limits: {pages_per_user: 2}
agents:
  coder: {label: Coder}
rules:
  - {id: r1, agents: [coder], capabilities: ["todo.*"], verdict: ask, tier: restricted}
"""

scalars = st.one_of(
    st.sampled_from(
        [
            *[
                "yes",
                "no",
                "on",
                "0123",
                "0x1f",
                "1e3",
                ".inf",
                "~",
                "null",
                "true",
                "1_000",
                "2020-01-01",
                "-0",
                "9" * 30,
            ],
            *[
                "&a 1",
                "*a",
                "!!int 1",
                "!x y",
                "<<",
                "? a",
                "- b",
                "| x",
                "> x",
                "%TAG ! x",
                "---",
                "...",
                "@a",
                "`a`",
            ],
            *[
                "\x00",
                "\x07",
                "\x85",
                "\u2028",
                "\u202e",
                "\ufeff",
                "\ud800",
                "\U0010ffff",
                "\t",
                '"\\ud800"',
                '"\\x00"',
            ],
            *[
                "http://[",
                "https://a.test:99999",
                "[::1]:80",
                "postgresql://x",
                "*",
                "a.*",
                "ada*",
                "1.2.3.4/33",
                "::/0",
            ],
        ]
    ),
    st.text(max_size=10),
    st.integers().map(str),
)
keys = st.sampled_from(sorted({key for known in KEYS.values() for key in known} | {"todo", "<<"})) | scalars
flows = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(st.tuples(keys, inner), max_size=4).map(
            lambda entries: f"{{{', '.join(f'{key}: {value}' for key, value in entries)}}}"
        ),
    ),
    max_leaves=8,
)
sections = st.lists(st.tuples(keys, flows), max_size=5).map(
    lambda entries: "version: 1\n" + "\n".join(f"{key}: {value}" for key, value in entries)
)
settings = [found for found in re.findall(r"(?<=: )[^\s{\[][^,}\n]*", GOOD) if found]
one_changed = st.builds(lambda old, new: GOOD.replace(old, new, 1), st.sampled_from(settings), flows)
one_named = st.builds(
    lambda old, new: GOOD.replace(f"{old}:", f"{new}:", 1),
    st.sampled_from(["listen", "users", "todo", "id", "rules"]),
    keys,
)


def judged(text: str) -> Configuration | None:
    """What `ostiary check` would say; None for problems."""
    try:
        return load(text, "ostiary.yaml")
    except ConfigurationError as refused:
        assert 1 <= len(refused.problems) <= PROBLEMS_MAX  # noqa: PT017 - the refusal is one of two good ends
        for problem in refused.problems:
            assert problem.line >= 1
            assert problem.column >= 1
            # It is printed a line a problem, logged, and sent as JSON.
            for told in (str(problem), problem.key):
                assert told.isprintable()
                assert len(told) <= 3 * SHOWN_MAX
        return None


def test_the_file_the_changes_are_made_to_is_good() -> None:
    assert judged(GOOD) is not None


@examples(120)
@given(one_changed | one_named | sections)
def test_odd_scalars_and_keys_are_taken_or_refused_with_their_place(text: str) -> None:
    judged(text)


@examples(80)
@given(mutated(GOOD.encode()).map(lambda data: data.decode(errors="replace")) | st.text(max_size=40))
def test_a_damaged_file_is_taken_or_refused_with_its_place(text: str) -> None:
    judged(text)


@pytest.mark.parametrize("depth", [17, 1_000, 100_000])
@pytest.mark.parametrize(("open_", "close"), [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", ""), ("{? ", "}")])
def test_a_nesting_bomb_is_refused(depth: int, open_: str, close: str) -> None:
    for tail in (close * depth, ""):
        assert judged(f"version: 1\nrules: {open_ * depth}1{tail}") is None
        assert judged(f"{open_ * depth}1{tail}") is None


def test_an_alias_bomb_is_refused_before_it_grows() -> None:
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))]
    assert judged("version: 1\n" + "\n".join(lines)) is None


@pytest.mark.parametrize("key", ["\\ud800", "\\x1b[2J", "\\n", "\\u202e", "x" * 200_000])
def test_what_a_problem_quotes_is_fit_for_a_terminal(key: str) -> None:
    assert judged(f'version: 1\n"{key}": 1') is None
    assert judged(f'version: 1\nserver: {{hosts: ["{key}", 1]}}') is None
    assert judged(f'version: 1\nagents: {{"{key}": {{}}}}') is None


@pytest.mark.parametrize("first", ["version: 1", "sites: {}", "limits: {body_bytes: 65536}"])
def test_a_key_that_stands_twice_is_refused(first: str) -> None:
    assert judged(f"version: 1\n{first}\n{first}") is None
