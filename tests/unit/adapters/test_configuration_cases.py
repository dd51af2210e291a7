"""C39 and C41: allow lists that are empty, missing or mistyped; files that say something else than they seem to."""

from pathlib import Path

import pytest

from gateway.adapters.configuration_file import ConfigurationError, load, load_file
from gateway.domain.configuration import Configuration
from policy.engine import decide
from policy.model import Declared, Question
from policy.patterns import PatternSet
from policy.vocabulary import Verdict

CASES = Path(__file__).parents[2] / "cases"
REGISTERED = ("notes.read", "notes.delete", "notes.admin.purge", "mail.send")

A, B, C, D, E, F, G, H, I = (CASES / "C39" / "input.yaml").read_text().split("\n---\n")  # noqa: E741 - the case's letters


def callable_under(configuration: Configuration) -> list[str]:
    """What an agent in scope of everything may call on the site's page."""
    site = configuration.sites["notes"]
    return [
        capability
        for capability in REGISTERED
        if decide(
            Question(
                agent="bob",
                user="ada",
                capability=Declared(id=capability),
                page=True,
                scope=PatternSet.of(REGISTERED),
                site="notes",
                session_sites=frozenset({"notes"}),
                expose=site.expose,
            ),
            configuration.rules,
        ).verdict
        is not Verdict.FORBID
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [(A, "lacks `expose`"), (C, "has no value"), (D, "is blank"), (E, "not a list"), (G, "neither a capability id")],
    ids=["missing", "null", "blank", "bare string", "other letter case"],
)
def test_c39_a_list_that_does_not_say_what_it_allows_is_refused(text: str, said: str) -> None:
    """C39 lets a missing list mean its documented default; design §4 makes it an error, which opens as little."""
    with pytest.raises(ConfigurationError, match=said):
        load(text, "ostiary.yaml")


@pytest.mark.parametrize(
    ("text", "open_to_calls"),
    [(B, []), (F, ["notes.read", "notes.delete"]), (H, ["notes.read"]), (I, [])],
    ids=["empty list", "one segment", "forbid beats permit", "unknown id"],
)
def test_c39_what_a_good_list_opens(text: str, open_to_calls: list[str]) -> None:
    assert callable_under(load(text, "ostiary.yaml")) == open_to_calls


def test_c41_a_file_that_says_something_else_is_refused_with_line_and_key() -> None:
    """`no` and `1e3` are taken as the texts they are; `0123` is no name."""
    with pytest.raises(ConfigurationError) as caught:
        load_file(CASES / "C41" / "input.yaml")
    assert [(problem.line, problem.key) for problem in caught.value.problems] == [
        (2, "enforcment"),
        (6, "agents.bob.limits"),
        (8, "bob"),
        (12, "agents.0123"),
        (22, "sites.notes.in_page_agent.expose"),
    ]
    assert "the first is on line 4" in caught.value.problems[2].message
    assert "`sites.<name>`" in caught.value.problems[4].hint
