"""Refs tell when they were made, so that the ledger grows at one end."""

import re

from gateway.adapters.ids import RandomIds

NOW = 1_800_000_000_000


def test_a_later_ref_is_a_greater_text_and_keeps_the_grammar_of_names() -> None:
    moments = [NOW, NOW + 1, NOW + 31, NOW + 32, NOW + 1_024, NOW + 86_400_000, 2**50 - 1]
    now = iter(moments)
    ids = RandomIds(lambda: next(now))
    refs = [ids.ref() for _ in moments]
    assert refs == sorted(refs)
    assert all(re.fullmatch("call_[a-z2-7]{26}", ref) for ref in refs)


def test_refs_of_one_moment_differ_by_eighty_random_bits() -> None:
    ids = RandomIds(lambda: NOW)
    refs = {ids.ref() for _ in range(10_000)}
    assert len(refs) == 10_000
    assert len({ref[:15] for ref in refs}) == 1
    # Every one of the 16 random places takes every letter.
    assert all(len({ref[place] for ref in refs}) == 32 for place in range(15, 31))
