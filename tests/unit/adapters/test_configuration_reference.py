"""The reference page, its example and the starter say what the loader does: every key, unit, default and bound."""

import re
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.configuration import keys
from gateway.adapters.configuration.keys import BOUNDS, KEYS, OUTBOX_BOUNDS, WEBHOOK_MS
from gateway.adapters.configuration.nodes import DEPTH_MAX, FILE_BYTES_MAX
from gateway.adapters.configuration.problems import ConfigurationError
from gateway.adapters.configuration_file import load, load_file
from gateway.domain.configuration import Configuration
from gateway.domain.sites import Site
from gateway.runtime.admin.reloader import later
from gateway.settings import READ_AT_START, Limits, Outbox, Server, Webhook

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "configuration.md").read_text()
HEADINGS = {section: f"`{section}`" if section else "Top level" for section in KEYS}

SITE = """
    address: https://todo.test/
    origins: [https://todo.test]
    users: any
    expose: []
"""


def rows(section: str) -> dict[str, list[str]]:
    """The table below the heading of `section`: key to the other cells."""
    _, found, rest = PAGE.partition(f"# {HEADINGS[section]}\n")
    assert found, f"there is no heading {HEADINGS[section]}"
    text = re.split(r"^#+ ", rest, maxsplit=1, flags=re.MULTILINE)[0]
    cells = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in text.splitlines()
        if line.startswith("| `")
    ]
    return {key.strip(" `"): others for key, *others in cells}


def refused(text: str) -> list[tuple[str, str]]:
    """Key and message of each problem of a file."""
    try:
        load(text, "ostiary.yaml")
    except ConfigurationError as error:
        return [(problem.key, problem.message) for problem in error.problems]
    return []


@pytest.mark.parametrize("section", KEYS)
def test_the_page_has_the_keys_of_each_section_and_no_others(section: str) -> None:
    assert set(rows(section)) == set(KEYS[section])


def test_the_page_has_every_section_and_no_others() -> None:
    named = re.findall(r"^#+ `(.+)`$", PAGE, re.MULTILINE)
    assert sorted(named) == sorted(section for section in KEYS if section)


def test_a_limit_has_its_default_bounds_unit_and_time() -> None:
    table = rows(keys.LIMITS)
    assert set(table) == {field.name for field in fields(Limits)}
    for name, (default, bounds, unit, counts, words) in table.items():
        low, high = BOUNDS[name]
        assert (default, bounds) == (str(getattr(Limits(), name)), f"{low} … {high}")
        assert unit == ("ms" if name.endswith("_ms") else "bytes" if "bytes" in name else "count")
        assert counts == ("start" if f"limits.{name}" in READ_AT_START else "reload")
        assert words


def test_a_server_setting_has_its_default_and_time() -> None:
    plain = Server()
    defaults = {
        "listen": f"`{plain.listen_host}:{plain.listen_port}`",
        "public_url": "`http://` and `listen`",
        "database": "none",
        "metrics_listen": "none",
        "otlp_endpoint": "none",
        "log_level": f"`{plain.log_level}`",
        **dict.fromkeys(("hosts", "trusted_proxies", "origins", "builtins"), "`[]`"),
    }
    assert all(getattr(plain, name) == () for name, told in defaults.items() if told == "`[]`")
    assert all(getattr(plain, name) == "" for name, told in defaults.items() if told == "none")
    assert load("version: 1\nserver: {listen: '127.0.0.1:9000'}", "x").server.public_url == "http://127.0.0.1:9000"
    for name, (_, default, counts, words) in rows(keys.SERVER).items():
        assert default == defaults[name]
        assert counts == ("start" if f"server.{name}" in READ_AT_START else "reload")
        assert words


def test_a_setting_of_the_outbox_has_its_default_and_bounds() -> None:
    plain, webhook = Outbox(), Webhook(url="", secret_env="")
    told = {key: (kind, default, counts) for key, (kind, default, counts, _) in rows(keys.OUTBOX).items()}
    assert told.pop("webhook") == ("mapping", "none", "start")
    assert told.pop("include_results") == ("`true`, `false`", f"`{str(plain.include_results).lower()}`", "start")
    for name, (low, high) in OUTBOX_BOUNDS.items():
        assert told.pop(name) == (f"{low} … {high}", str(getattr(plain, name)), "start")
    assert told == {}
    low, high = WEBHOOK_MS
    assert rows(keys.WEBHOOK)["timeout_ms"][:2] == [f"{low} … {high}", str(webhook.timeout_ms)]


@pytest.mark.parametrize("name", OUTBOX_BOUNDS)
def test_a_setting_of_the_outbox_beyond_its_bounds_is_refused_by_its_name(name: str) -> None:
    low, high = OUTBOX_BOUNDS[name]
    for value, is_beyond in ((low - 1, True), (low, False), (high, False), (high + 1, True)):
        told = refused(f"version: 1\noutbox: {{{name}: {value}}}")
        assert any(key == f"outbox.{name}" and "is not between" in message for key, message in told) == is_beyond


@pytest.mark.parametrize("value", [99, 100, 60_000, 60_001])
def test_the_patience_with_a_webhook_is_bounded(value: int) -> None:
    told = refused(f"version: 1\noutbox: {{webhook: {{url: 'https://h.test/', secret_env: S, timeout_ms: {value}}}}}")
    assert bool(told) == (value not in WEBHOOK_MS)


def test_what_may_be_left_out_of_a_site_has_the_default_the_page_says() -> None:
    site = load(f"version: 1\nsites:\n  todo:{SITE}", "x").sites["todo"]
    told = {key: default for key, (_, default, *_) in rows(keys.SITE).items()}
    assert (told["record_limit"], site.record_limit) == ("20", 20)
    assert (told["label"], site.label) == ("the name", "todo")
    assert (told["allow_automated_approval"], site.allow_automated_approval) == ("`false`", False)
    assert (told["in_page_agent"], site.in_page_scope) == ("none", None)
    bundles = {key: default for key, (_, default, *_) in rows(keys.SITE_SURFACES).items()}
    assert (bundles["bundles"], bundles["profile"]) == (f"`{site.bundles.policy}`", f"`{site.bundles.profile}`")
    assert isinstance(site, Site)


@pytest.mark.parametrize(
    ("section", "whole", "at"),
    [
        (keys.TOP, "{}", ""),
        (keys.SITE, "{version: 1, sites: {todo: {}}}", "sites.todo."),
        (keys.WEBHOOK, "{version: 1, outbox: {webhook: {}}}", "outbox.webhook."),
        (keys.IN_PAGE_AGENT, "{version: 1, sites: {todo: {in_page_agent: {}}}}", "sites.todo.in_page_agent."),
        (keys.EXPOSED, "{version: 1, sites: {todo: {expose: [{}]}}}", "sites.todo.expose[0]."),
        (keys.RULE, "{version: 1, rules: [{}]}", "rules[0]."),
        (keys.APP_SECRET, "{version: 1, apps: {grants: {a.b: {secrets: {x: {}}}}}}", "apps.grants.a.b.secrets.x."),
        (keys.TRUSTED_KEY, "{version: 1, apps: {trusted_keys: [{}]}}", "apps.trusted_keys[0]."),
    ],
)
def test_what_is_required_on_the_page_is_required(section: str, whole: str, at: str) -> None:
    lacking = {key.removeprefix(at) for key, message in refused(whole) if "lacks" in message and key.startswith(at)}
    assert lacking & set(KEYS[section]) == {
        key for key, (_, default, *_) in rows(section).items() if default == "required"
    }


@pytest.mark.parametrize("name", BOUNDS)
def test_a_limit_beyond_its_bounds_is_refused_by_its_name(name: str) -> None:
    low, high = BOUNDS[name]
    for value, is_beyond in ((low - 1, True), (low, False), (high, False), (high + 1, True)):
        told = refused(f"version: 1\nlimits: {{{name}: {value}}}")
        assert any(key == f"limits.{name}" and "is not between" in message for key, message in told) == is_beyond


@pytest.mark.parametrize("name", keys.LOWERED)
def test_a_site_lowers_and_never_raises(name: str) -> None:
    low, general = BOUNDS[name][0], getattr(Limits(), name)
    for value, is_beyond in ((low - 1, True), (low, False), (general, False), (general + 1, True)):
        told = refused(f"version: 1\nsites:\n  todo:{SITE}    limits: {{{name}: {value}}}")
        assert [key for key, _ in told] == [f"sites.todo.limits.{name}"] * is_beyond


BOUNDED: list[tuple[str, str, str, str]] = [
    ("version: {}", "1", "2", "version"),
    ("version: {}", "1", "0", "version"),
    (f"version: 1\nsites:\n  todo:{SITE}    record_limit: {{}}", "1", "0", "sites.todo.record_limit"),
    (f"version: 1\nsites:\n  todo:{SITE}    record_limit: {{}}", "200", "201", "sites.todo.record_limit"),
    (f"version: 1\nsites:\n  todo:{SITE}    label: {{}}", "a" * 80, "a" * 81, "sites.todo.label"),
    ("version: 1\nagents:\n  coder:\n    label: {}", "a" * 80, "a" * 81, "agents.coder.label"),
    ("version: 1\nagents:\n  {}:\n    label: x", "a" * 63, "a" * 64, f"agents.{'a' * 64}"),
    (
        "version: 1\nrules:\n  - id: {}\n    agents: ['*']\n    capabilities: [a.b]\n    verdict: ask",
        "a" * 63,
        "a" * 64,
        "rules[0].id",
    ),
    (
        "version: 1\napps:\n  grants:\n    {}: {{}}",
        "a." + "a" * 126,
        "a." + "a" * 127,
        f"apps.grants.a.{'a' * 127}",
    ),
    (
        "version: 1\napps:\n  grants:\n    a.b:\n      secrets:\n        {}: {{env: X}}",
        "a" * 64,
        "a" * 65,
        f"apps.grants.a.b.secrets.{'a' * 65}",
    ),
    (
        "version: 1\napps:\n  grants:\n    a.b:\n      secrets:\n        x: {{env: {}}}",
        "A" * 128,
        "A" * 129,
        "apps.grants.a.b.secrets.x.env",
    ),
]
"""A file with a gap, the last value that is taken, the first that is not, and the key the refusal names."""


@pytest.mark.parametrize(("text", "last", "beyond", "key"), BOUNDED)
def test_one_beyond_any_other_bound_is_refused_by_its_name(text: str, last: str, beyond: str, key: str) -> None:
    assert refused(text.format(last)) == []
    assert [told for told, _ in refused(text.format(beyond))] == [key]


def test_a_file_that_is_too_large_or_too_deep_is_refused() -> None:
    assert "At most 1 MiB of UTF-8, at most 16 levels." in PAGE
    assert (FILE_BYTES_MAX, DEPTH_MAX) == (1024 * 1024, 16)
    assert refused("version: 1\n" + "#" * (FILE_BYTES_MAX - 11)) == []
    assert refused("version: 1\n" + "#" * (FILE_BYTES_MAX - 10)) != []


# ---- reload or start --------------------------------------------------------------------------------------------


def changes() -> Iterator[tuple[str, Configuration, Configuration]]:
    """Each setting of `server` and `limits`, and `outbox`, by its key in the file, with what was before and after."""
    old = load("version: 1", "x")
    for field in fields(Limits):
        new: Any = replace(old.limits, **{field.name: getattr(old.limits, field.name) + 1})
        yield f"limits.{field.name}", old, replace(old, limits=new)
    for field in fields(Server):
        value: Any = getattr(old.server, field.name)
        other: Any = (
            value + 1 if isinstance(value, int) else (*value, "x") if isinstance(value, tuple) else f"{value}x"
        )
        key = "listen" if field.name.startswith("listen_") else field.name
        yield f"server.{key}", old, replace(old, server=replace(old.server, **{field.name: other}))
    yield "outbox", old, replace(old, outbox=Outbox(include_results=True))


def test_a_reload_names_what_counts_from_the_next_start_and_nothing_else() -> None:
    seen: set[str] = set()
    for key, old, new in changes():
        seen.add(key)
        assert later(old, new) == (f"from the next start on: `{key}`" if key in READ_AT_START else None)
    of_sections = {f"{s}.{key}" for s in (keys.SERVER, keys.LIMITS) for key in KEYS[s]}
    assert set(READ_AT_START) <= seen == of_sections | {keys.OUTBOX}


def test_the_how_to_names_what_counts_from_the_next_start() -> None:
    text = (ROOT / "docs" / "how-to" / "operate.md").read_text()
    (line,) = [line for line in text.splitlines() if line.endswith("count from the next start on.")]
    assert re.findall(r"`([^`]+)`", line) == list(READ_AT_START)


# ---- examples ---------------------------------------------------------------------------------------------------


def test_the_examples_of_the_page_are_good_files() -> None:
    examples = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert examples
    for example in examples:
        assert refused(example) == []


def test_the_starter_is_a_good_file() -> None:
    found = load_file(ROOT / "gateway" / "cli" / "starter.yaml")
    assert (list(found.sites), list(found.agents)) == (["todo"], ["claude"])
