"""What a page says of a failure is told without what it quotes of the arguments (rules A4)."""

import json

import pytest

from gateway.runtime.quotations import WITHHELD, WORD, discreet


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("there is no room", "there is no room"),
        ("`oat milk` is there", f"`{WORD}` is there"),
        ('{"title":"oat milk","pem":"a\\nbcd"}', f'{{"title":"{WORD}","pem":"{WORD}"}}'),
        ("token s3cret-key refused", f"token {WORD} refused"),
        ("1234567 is taken", f"{WORD} is taken"),
        ("cut inside oat m", f"cut inside {WORD}"),
        ("yes", "yes"),
        ("", ""),
    ],
)
def test_values_are_taken_out_however_they_are_written(said: str, told: str) -> None:
    arguments = {
        "title": "oat milk",
        "pem": "a\nbcd",
        "more": [{"auth": "Bearer s3cret-key", "n": 1234567, "ok": "yes"}],
    }
    assert discreet(said, json.dumps(arguments)) == told


def test_where_the_arguments_are_not_known_or_too_many_nothing_is_told() -> None:
    assert discreet("no room", None) == WITHHELD
    assert discreet("no room", json.dumps([f"value {n}" for n in range(501)])) == WITHHELD
