"""One matcher for all: exact ids and one-segment prefixes (case C39)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.patterns import PatternSet, is_capability_id, is_pattern

SEGMENT = st.from_regex(r"[a-z][A-Za-z0-9_]{0,6}", fullmatch=True)
IDS = st.lists(SEGMENT, min_size=2, max_size=4).map(".".join)


@pytest.mark.parametrize(
    ("pattern", "capability", "matches"),
    [
        ("notes.read", "notes.read", True),
        ("notes.*", "notes.read", True),
        ("notes.*", "notes.admin.purge", False),
        ("notes.admin.*", "notes.admin.purge", True),
        ("notes.*", "notesx.read", False),
        ("notes.read", "notes.reader", False),
        ("notes.read", "Notes.read", False),
    ],
)
def test_a_prefix_is_exactly_one_further_segment_and_case_counts(
    pattern: str, capability: str, matches: bool
) -> None:
    """C39 f and g."""
    assert PatternSet.of([pattern]).matches(capability) is matches


@pytest.mark.parametrize(
    "text", ["*", "**", "notes.**", "notes", "*.read", "NOTES.READ", "", " ", "a.b.c.d.e", "a..b", "a.*.b"]
)
def test_what_is_neither_an_id_nor_a_prefix_is_refused(text: str) -> None:
    """A pattern that cannot match must not load."""
    assert not is_pattern(text)
    with pytest.raises(ValueError, match="neither"):
        PatternSet.of([text])


@given(IDS)
def test_the_empty_set_matches_nothing(capability: str) -> None:
    """C39 b: nothing listed, nothing allowed."""
    assert is_capability_id(capability)
    assert not PatternSet.of([]).matches(capability)


@given(st.lists(IDS | IDS.map(lambda i: f"{i.rpartition('.')[0]}.*").filter(is_pattern), max_size=6), IDS)
def test_the_compiled_set_agrees_with_reading_the_patterns_one_by_one(patterns: list[str], capability: str) -> None:
    """The index is only an index."""

    def reads(pattern: str) -> bool:
        if pattern.endswith(".*"):
            head = pattern[:-1]
            return capability.startswith(head) and "." not in capability[len(head) :]
        return pattern == capability

    assert PatternSet.of(patterns).matches(capability) == any(map(reads, patterns))
