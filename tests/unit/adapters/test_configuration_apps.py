"""`apps:` of the file: which keys are trusted, and that a signature may be demanded."""

from typing import Final

import pytest

from gateway.adapters.configuration.problems import ConfigurationError
from gateway.adapters.configuration_file import load
from gateway.domain.configuration import AppTrust

KEY: Final = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
OTHER: Final = "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="


def apps(text: str) -> AppTrust:
    return load(f"version: 1\napps: {text}\n", "o.yaml").app_trust


def test_without_a_word_nobody_is_trusted_and_nothing_demanded() -> None:
    assert load("version: 1\n", "o.yaml").app_trust == AppTrust() == apps("{}")


def test_keys_are_kept_by_their_names() -> None:
    found = apps(f"{{trusted_keys: [{{name: release, key: {KEY}}}, {{name: spare, key: {OTHER}}}]}}")
    assert {name: len(key) for name, key in found.trusted_keys.items()} == {"release": 32, "spare": 32}
    assert not found.require_signature


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{{trusted_keys: [{{name: a, key: {KEY}}}, {{name: a, key: {OTHER}}}]}}", "`a` stands here a second time"),
        (f"{{trusted_keys: [{{name: a, key: {KEY}}}, {{name: b, key: {KEY}}}]}}", "stands here a second time"),
        ("{trusted_keys: [{name: a, key: QUJD}]}", "`QUJD` is no key"),
        (f"{{trusted_keys: [{{name: A, key: {KEY}}}]}}", "`A` is not a name"),
        (f"{{trusted_keys: [{KEY}]}}", "not a mapping"),
        ("{require_signature: true}", "no key is trusted"),
        ("{require_signature: yes}", "not `true` or `false`"),
        ("{trusted_key: []}", "unknown key `apps.trusted_key`"),
    ],
)
def test_what_could_trust_somebody_else_is_refused(text: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        apps(text)
