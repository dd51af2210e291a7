"""The reference page and the starter say what the loader does."""

from pathlib import Path

from gateway.adapters.configuration.keys import BOUNDS, KEYS
from gateway.adapters.configuration_file import load_file
from gateway.settings import Limits

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "configuration.md").read_text()


def test_the_reference_names_every_key() -> None:
    missing = {key for keys in KEYS.values() for key in keys if f"`{key}" not in PAGE and f"{{{key}" not in PAGE}
    assert missing - {"effect", "risk", "confirm", "scope"} == set()


def test_the_reference_gives_every_limit_its_default_and_bounds() -> None:
    for name, (low, high) in BOUNDS.items():
        assert f"| `{name}` | {getattr(Limits(), name)} | {low} … {high} |" in PAGE


def test_the_starter_is_a_good_file() -> None:
    found = load_file(ROOT / "gateway" / "cli" / "starter.yaml")
    assert (list(found.sites), list(found.agents)) == (["todo"], ["claude"])
