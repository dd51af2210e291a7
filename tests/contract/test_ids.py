"""Contract of `Ids`."""

import re

import pytest

from gateway.adapters.ids import RandomIds
from gateway.runtime.ports import Ids
from gateway.testing import SequentialIds


@pytest.fixture(params=[RandomIds, SequentialIds])
def ids(request: pytest.FixtureRequest) -> Ids:
    return request.param()


def test_a_ref_is_call_and_26_characters(ids: Ids) -> None:
    assert re.fullmatch(r"call_[a-z2-7]{26}", ids.ref())


def test_a_name_is_its_prefix_and_26_characters(ids: Ids) -> None:
    assert re.fullmatch(r"page_[a-z2-7]{26}", ids.name("page"))


def test_a_secret_is_43_characters_of_base64url(ids: Ids) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", ids.secret())


def test_nothing_comes_twice(ids: Ids) -> None:
    made = [
        *(ids.ref() for _ in range(500)),
        *(ids.name("page") for _ in range(500)),
        *(ids.secret() for _ in range(500)),
    ]
    tails = [name.partition("_")[2] if name.startswith(("call_", "page_")) else name for name in made]
    assert len(set(tails)) == 1_500


def test_names_in_sequence_are_the_same_in_every_test() -> None:
    assert [SequentialIds().ref() for _ in range(2)] == ["call_" + "a" * 25 + "b"] * 2
