import hashlib
from dataclasses import fields
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.adapters.configuration.keys import BOUNDS
from gateway.adapters.configuration_file import ConfigurationError, Problem, load, load_file
from gateway.domain.bundles import BundlePolicy, BundleTerms
from gateway.domain.configuration import Configuration
from gateway.domain.sites import AgentProfile, Site
from gateway.settings import Limits, Server
from policy.model import Floor, Rule
from policy.vocabulary import Confirm, Effect, Risk, Verdict

WHOLE = """\
version: 1
server: {listen: "0.0.0.0:9000", public_url: https://gate.example.com, hosts: [gate.internal:9000],
         origins: [https://inspector.example.com], builtins: [runtime.echo]}
limits: {approval_ms: 60000, calls_burst: 5}
sites:
  demo:
    address: http://localhost:3000/board?view=all
    label: To-do
    origins: [http://localhost:3000, "http://[::1]:3000"]
    users: [ada, "team-*"]
    expose:
      - todo.overview
      - {id: todo.add, confirm: always, effect: write, risk: user_confirmation}
    record_limit: 50
    limits: {approval_ms: 60000}
    surfaces:
      bundles: signed
      hashes: [sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=]
      agents:
        claude: {profile: compat, hashes: [sha256-BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB=]}
    in_page_agent: {scope: [todo.*]}
    allow_automated_approval: true
agents:
  claude: {label: "Claude Code"}
  no: {}
rules:
  - {id: r.1, agents: [claude, "in-page:*"], users: [ada], capabilities: [todo.*], verdict: ask, tier: restricted}
  - {id: r.2, agents: ["*"], capabilities: [todo.clear], verdict: forbid}
"""

HASHES = [f"sha256-{letter * 43}=" for letter in "AB"]
SITE = "address: http://a.test/, origins: [http://a.test], users: any, expose: []"


def problems(text: str) -> list[str]:
    """What is wrong, without the file's name."""
    with pytest.raises(ConfigurationError) as caught:
        load(dedent(text), "o.yaml")
    return [str(problem).removeprefix("o.yaml:") for problem in caught.value.problems]


def place_and_message(text: str) -> tuple[str, str]:
    """The one problem of `text`: `line:column`, and the rest."""
    (problem,) = problems(text)
    line, column, message = problem.split(":", 2)
    return f"{line}:{column}", message.strip()


def site(more: str) -> str:
    """A file whose site has `more` on line 7."""
    return (
        "version: 1\nsites:\n  demo:\n    address: http://a.test/\n"
        f"    origins: [http://a.test]\n    users: any\n    {more}\n"
    )


def origins(one: str) -> str:
    return f"version: 1\nserver: {{origins: [{one}]}}\n"


def test_a_whole_file_becomes_the_configuration() -> None:
    assert load(WHOLE, "ostiary.yaml") == Configuration(
        revision=f"policy-{hashlib.sha256(WHOLE.encode()).hexdigest()[:12]}",
        server=Server(
            listen_host="0.0.0.0",  # noqa: S104 - what the file says
            listen_port=9000,
            public_url="https://gate.example.com",
            hosts=("gate.internal:9000",),
            origins=("https://inspector.example.com",),
            builtins=("runtime.echo",),
        ),
        limits=Limits(approval_ms=60_000, calls_burst=5),
        sites={
            "demo": Site(
                name="demo",
                address="http://localhost:3000/board?view=all",
                label="To-do",
                origins=("http://localhost:3000", "http://[::1]:3000"),
                users=("ada", "team-*"),
                expose=(
                    Floor(pattern="todo.overview"),
                    Floor(
                        pattern="todo.add", effect=Effect.WRITE, risk=Risk.USER_CONFIRMATION, confirm=Confirm.ALWAYS
                    ),
                ),
                record_limit=50,
                limits={"approval_ms": 60000},
                bundles=BundleTerms(policy=BundlePolicy.SIGNED, hashes=frozenset({HASHES[0]})),
                bundles_from={
                    "claude": BundleTerms(policy=BundlePolicy.SIGNED, profile="compat", hashes=frozenset(HASHES))
                },
                in_page_scope=("todo.*",),
                allow_automated_approval=True,
            )
        },
        agents={
            "claude": AgentProfile(name="claude", label="Claude Code"),
            "no": AgentProfile(name="no", label="no"),
        },
        rules=(
            Rule(
                id="r.1",
                agents=("claude", "in-page:*"),
                users=("ada",),
                capabilities=("todo.*",),
                verdict=Verdict.ASK,
                tier=Risk.RESTRICTED,
            ),
            Rule(id="r.2", agents=("*",), capabilities=("todo.clear",), verdict=Verdict.FORBID),
        ),
    )


def test_the_shortest_file_opens_nothing() -> None:
    assert load("version: 1\n", "o.yaml") == Configuration(revision=load("version: 1\n", "x.yaml").revision)


def test_any_means_every_user_and_a_site_needs_no_label() -> None:
    demo = load(site("expose: []"), "o.yaml").sites["demo"]
    assert (demo.users, demo.label, demo.expose, demo.in_page_scope) == (("*",), "demo", (), None)


def test_the_public_address_follows_the_listening_one() -> None:
    assert load('version: 1\nserver: {listen: "[::1]:9"}', "o.yaml").server.public_url == "http://[::1]:9"


@pytest.mark.parametrize(
    "text", ["no", "on", "yes", "off", "0123", "1e3", "1_000", "2026-01-01", "True", "12:30:00", "0x1f"]
)
def test_what_only_looks_like_something_else_stays_the_text_it_is(text: str) -> None:
    loaded = load(f"version: 1\nagents: {{a: {{label: {text}}}}}\n", "o.yaml")
    assert loaded.agents["a"].label == text


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        # -- no YAML we take
        ("", "1:1", "the file is empty"),
        ("# only a comment\n", "1:1", "the file is empty"),
        ("- version\n", "1:1", "the file is not a mapping"),
        ("version: 1\nagents: [\n", "3:1", "this is not YAML"),
        ("version: 1\n\tagents: {}\n", "2:1", "this is not YAML"),
        ("version: 1\n---\nversion: 1\n", "2:1", "a second document begins here"),
        ("version: 1\nagents: \x01\n", "2:9", "character `U+0001` is not allowed"),
        ("version: 1\n# note\u2028agents: {}\n", "2:7", "invisible character `U+2028`"),
        ("version: 1  # \u202eevil\n", "1:15", "invisible character `U+202E`"),
        ("version: 1\nagents: {a: {label: !!str x}}\n", "2:21", "tag `tag:yaml.org,2002:str` is not allowed"),
        ("version: 1\nagents: &all {}\n", "2:9", "anchor `&all` is not allowed"),
        ("%TAG ! tag:x,2026:\n---\nversion: 1\n", "1:1", "a `%TAG` directive is not allowed"),
        ("version: 1\nagents: {a: {}, <<: {}}\n", "2:17", "merge keys are not allowed"),
        ("version: 1\n? [a]\n: {}\n", "2:3", "a key is one word"),
        ("version: 1\nagents: {null: {}}\n", "2:10", "a key is missing before the colon"),
        ("version: 1\nagents:\n  " + "[" * 40, "3:19", "nested deeper than 16 levels"),
        # -- keys
        ("{}", "1:1", "the file lacks `version`"),
        ("version: 2\n", "1:10", "`version: 2` is not 1"),
        ('version: "1"\n', "1:10", "`version` is the text `1`, not a whole number"),
        ("version: 1\nversion: 1\n", "2:1", "`version` stands here a second time; the first is on line 1"),
        ("version: 1\nsite: {}\n", "2:1", "unknown key `site`; did you mean `sites`?"),
        ("version: 1\nwhatever: {}\n", "2:1", "unknown key `whatever`; the keys here are `version`,"),
        ("version: 1\nlisten: x\n", "2:1", "`listen` has no meaning in the top level; it belongs in `server`"),
        ("version: 1\nlimits: {scope: 1}\n", "2:10", "`scope` has no meaning in `limits`; it belongs in `sites.<name>.in_page"),
        ("version: 1\nagents:\n", "2:8", "`agents` is nothing, not a mapping of names; write `{}`"),
        ("version: 1\nsites: []\n", "2:8", "`sites` is a list, not a mapping of names"),
        ("version: 1\nserver: on\n", "2:9", "`server` is the text `on`, not a mapping"),
        ("version: 1\nagents: {a: ~}\n", "2:13", "`agents.a` is nothing, not a mapping"),
        ("version: 1\nagents: {Bob: {}}\n", "2:10", "`agents.Bob`: `Bob` is not a name"),
        ("version: 1\nagents: {" + "a" * 64 + ": {}}\n", "2:10", "`agents."),
        # -- scalars
        ("version: 1\nagents: {a: {label: 12}}\n", "2:21", '`agents.a.label` is `12`, not a text; as a text it is written "12"'),
        ("version: 1\nagents: {a: {label: true}}\n", "2:21", "`agents.a.label` is `true`, not a text"),
        ("version: 1\nagents: {a: {label: null}}\n", "2:21", "`agents.a.label` has no value"),
        ('version: 1\nagents: {a: {label: " "}}\n', "2:21", "`agents.a.label` is blank"),
        ('version: 1\nagents: {a: {label: "x "}}\n', "2:21", "`agents.a.label` begins or ends with white space"),
        ('version: 1\nagents: {a: {label: "x\\ny"}}\n', "2:21", "`agents.a.label`: control and reordering characters"),
        ("version: 1\nagents: {a: {label: " + "x" * 81 + "}}\n", "2:21", "`agents.a.label`: longer than 80"),
        # -- outbox
        ("version: 1\noutbox: {webhook: https://a.test/}\n", "2:19", "`outbox.webhook` is the text"),
        ("version: 1\noutbox: {webhook: {url: 'http://a.test/', secret_env: S}}\n", "2:25", "`outbox.webhook.url`: `http://a.test/` is not https"),
        ("version: 1\noutbox: {webhook: {url: 'https://u@a.test/', secret_env: S}}\n", "2:25", "`outbox.webhook.url`: `u@a.test` holds a user name"),
        ("version: 1\noutbox: {webhook: {url: 'https://a.test/#x', secret_env: S}}\n", "2:25", "`outbox.webhook.url`: `https://a.test/#x` has a `#`"),
        ("version: 1\noutbox: {webhook: {url: 'ftp://a.test/', secret_env: S}}\n", "2:25", "`outbox.webhook.url`: `ftp://a.test/` is not an http or https"),
        ("version: 1\noutbox: {webhook: {url: 'https://a.test/', secret_env: hunter-2}}\n", "2:56", "`outbox.webhook.secret_env`: this is not the name of a variable of the environment"),
        ("version: 1\noutbox: {pause_ms: 5000, pause_cap_ms: 4999}\n", "2:20", "`pause_ms` is greater than `pause_cap_ms`"),
        ("version: 1\noutbox: {attempts: 0}\n", "2:20", "`outbox.attempts: 0` is not between 1 and 100"),
        # -- server and limits
        ("version: 1\nserver: {listen: 8460}\n", "2:18", "`server.listen` is `8460`, not a text"),
        ('version: 1\nserver: {listen: ":8460"}\n', "2:18", "`server.listen`: `:8460` is not a host"),
        ("version: 1\nserver: {listen: localhost}\n", "2:18", "`server.listen`: `localhost` names no port"),
        ('version: 1\nserver: {listen: "a:65536"}\n', "2:18", "`server.listen`: port `65536` is not between"),
        ('version: 1\nserver: {listen: "0.0.0.0:1"}\n', "2:18", "`server` lacks `public_url`"),
        ("version: 1\nserver: {builtins: [runtime.ehco]}\n", "2:21", "`server.builtins[0]`: there is no built-in `runtime.ehco`"),
        ("version: 1\nserver: {hosts: [http://a]}\n", "2:18", "`server.hosts[0]`: port `//a` is not between"),
        ("version: 1\nlimits: {body_bytes: 0}\n", "2:22", "`limits.body_bytes: 0` is not between 16384 and 16777216"),
        ("version: 1\nlimits: {approval_ms: -1}\n", "2:23", "`limits.approval_ms: -1` is not between"),
        ("version: 1\nlimits: {call_ms: 1e3}\n", "2:19", "`limits.call_ms` is the text `1e3`, not a whole number"),
        ("version: 1\nlimits: {call_ms: 1000}\n", "2:19", "`approval_ms` is greater than `call_ms`"),
        # -- sites
        (site("label: x"), "3:3", "`sites.demo` lacks `expose`"),
        (site("expose:"), "7:12", "`sites.demo.expose` has no value; write `[]`"),
        (site("expose: todo.add"), "7:13", "`sites.demo.expose` is the text `todo.add`, not a list; write `expose: [todo.add]`"),
        (site("expose: {id: todo.add}"), "7:13", "`sites.demo.expose` is a mapping, not a list"),
        (site('expose: [""]'), "7:14", "`sites.demo.expose[0]` is blank"),
        (site("expose: [~]"), "7:14", "`sites.demo.expose[0]` has no value"),
        (site("expose: [todo]"), "7:14", "`sites.demo.expose[0]`: `todo` is neither a capability id nor a pattern"),
        (site("expose: ['*']"), "7:14", "`sites.demo.expose[0]`: `*` is neither"),
        (site("expose: [a.b, {id: a.b}]"), "7:24", "`a.b` stands here a second time"),
        (site("expose: [{effect: read}]"), "7:14", "`sites.demo.expose[0]` lacks `id`"),
        (site("expose: [{id: a.b, effect: wirte}]"), "7:32", "`sites.demo.expose[0].effect: wirte` is not one of"),
        (site("expose: [{id: a.b, confrim: always}]"), "7:24", "unknown key `sites.demo.expose[0].confrim`; did you mean"),
        (f"version: 1\nsites:\n  a: {{{SITE},\n    limits: {{approval_ms: 120001}}}}\n", "4:27", "`sites.a.limits.approval_ms: 120001` is not between 500 and 120000"),
        (f"version: 1\nlimits: {{approval_ms: 9000}}\nsites:\n  a: {{{SITE},\n    limits: {{approval_ms: 9001}}}}\n", "5:27", "`sites.a.limits.approval_ms: 9001` is not between 500 and 9000"),
        (f"version: 1\nsites:\n  a: {{{SITE},\n    limits: {{ledger_rows: 5}}}}\n", "4:14", "`ledger_rows` has no meaning in `sites.a.limits`; it belongs in `limits`"),
        (f"version: 1\nsites: {{a: {{{SITE}, record_limit: 0}}}}\n", "2:102", "`sites.a.record_limit: 0` is not between 1 and 200"),
        (f"version: 1\nsites: {{a: {{{SITE}, allow_automated_approval: yes}}}}\n", "2:114", "`sites.a.allow_automated_approval` is the text `yes`"),
        (f"version: 1\nsites: {{a: {{{SITE}, in_page_agent: {{}}}}}}\n", "2:88", "`sites.a.in_page_agent` lacks `scope`"),
        (f"version: 1\nsites: {{a: {{{SITE}, surfaces: {{bundles: all}}}}}}\n", "2:108", "`sites.a.surfaces.bundles: all` is not one of `any`, `hash-allowlist`, `signed`"),
        (f"version: 1\nsites: {{a: {{{SITE}, surfaces: {{profile: lax}}}}}}\n", "2:108", "`sites.a.surfaces.profile: lax` is not one of `strict`, `compat`"),
        (f"version: 1\nsites: {{a: {{{SITE}, surfaces: {{hashes: [sha1-x]}}}}}}\n", "2:108", "`sites.a.surfaces.hashes[0]`: `sha1-x` is not the integrity of a bundle"),
        (f"version: 1\nsites: {{a: {{{SITE}, surfaces: {{agents: {{bob: {{}}}}}}}}}}\n", "2:108", "`sites.a.surfaces.agents.bob`: there is no agent `bob`"),
        # -- rules
        ("version: 1\nrules: {}\n", "2:8", "`rules` is a mapping, not a list"),
        ("version: 1\nrules: [x]\n", "2:9", "`rules[0]` is the text `x`, not a mapping"),
        ('version: 1\nrules: [{id: a b, agents: ["*"], capabilities: [a.b], verdict: ask}]', "2:14", "`rules[0].id`: `a b` is not"),
        ("version: 1\nrules: [{id: a, agents: [bob], capabilities: [a.b], verdict: ask}]", "2:26", "`rules[0].agents[0]`: there is no agent `bob`"),
        ('version: 1\nrules: [{id: a, agents: ["*"], capabilities: [], verdict: ask}]', "2:46", "`rules[0].capabilities` is empty"),
        ('version: 1\nrules: [{id: a, agents: ["*"], capabilities: [a.b], verdict: allow}]', "2:62", "`rules[0].verdict: allow` is not one of `permit`"),
        ('version: 1\nrules: [{id: a, agents: ["*"], users: ["a*b"], capabilities: [a.b], verdict: ask}]', "2:40", "`rules[0].users[0]`: `a*b` has a `*`"),
    ],
)  # fmt: skip
def test_a_file_is_refused_at_its_line_and_column(text: str, place: str, message: str) -> None:
    found, said = place_and_message(text)
    assert found == place
    assert said.startswith(message)


@pytest.mark.parametrize(
    ("origin", "hint"),
    [
        ("https://a.test/", "write `https://a.test`"),
        ("https://a.test/x", "write `https://a.test`"),
        ("https://a.test:443", "write `https://a.test`"),
        ("http://a.test:80", "write `http://a.test`"),
        ("https://A.test", "browsers send `a.test`"),
        ('"https://*.a.test"', "as a browser sends it"),
        ('"*"', "as a browser sends it"),
        ('"null"', "as a browser sends it"),
        ("a.test", "as a browser sends it"),
        ("ws://a.test", "as a browser sends it"),
        ("HTTPS://a.test", "as a browser sends it"),
        ("https://u@a.test", "before the `@`"),
        ("https://bücher.test", "`xn--` form"),
        ('"http://[0:0::1]:81"', "as a browser sends it"),
        ("http://127.1", "as a browser sends it"),
        ("http://a.test:080", "as a browser sends it"),
    ],
)
def test_an_origin_no_browser_sends_is_refused_with_what_to_write(origin: str, hint: str) -> None:
    place, said = place_and_message(origins(origin))
    assert place == "2:20"
    assert hint in said


def test_two_rules_of_one_id_are_refused_with_the_line_of_the_first() -> None:
    rule = '  - {id: a, agents: ["*"], capabilities: [a.b], verdict: ask}\n'
    place, said = place_and_message("version: 1\nrules:\n" + rule * 2)
    assert (place, said) == ("4:10", "`a` stands here a second time; the first is on line 3")


def test_an_alias_is_one_problem_not_two() -> None:
    assert problems("version: 1\nagents: {a: &x {}, b: *x}\n") == [
        "2:13: anchor `&x` is not allowed; write the value where it is used",
        "2:23: alias `*x` is not allowed; write the value out",
    ]


def test_every_problem_is_told_at_once_in_the_order_of_lines() -> None:
    found = problems("version: 3\nsrever: {}\nagents: {A: {}}\nlimits: {body_bytes: 1}\n")
    assert [problem.split(":")[0] for problem in found] == ["1", "2", "3", "4"]


def test_more_than_twenty_problems_are_cut() -> None:
    assert len(problems("version: 1\nagents:\n" + "".join(f"  A{n}: {{}}\n" for n in range(30)))) == 20


def test_a_file_over_the_cap_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "ostiary.yaml"
    file.write_text("version: 1\n#" + "x" * 1024 * 1024)
    with pytest.raises(ConfigurationError, match="larger than 1048576 bytes"):
        load_file(file)


def test_a_file_that_is_not_there_or_not_text_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "ostiary.yaml"
    with pytest.raises(ConfigurationError, match=r"ostiary\.yaml:1:1: cannot read the file: No such file"):
        load_file(file)
    file.write_bytes(b"version: 1\nagents: {a: {label: \xff}}\n")
    with pytest.raises(ConfigurationError, match=r"ostiary\.yaml:2:1: the file is not UTF-8"):
        load_file(file)


def test_places_hold_nothing_of_the_file() -> None:
    with pytest.raises(ConfigurationError) as caught:
        load("version: secret\n", "ostiary.yaml")
    assert caught.value.places == ["ostiary.yaml:1:10"]


def test_the_revision_is_that_of_the_bytes(tmp_path: Path) -> None:
    file = tmp_path / "ostiary.yaml"
    file.write_bytes(b"\xef\xbb\xbfversion: 1\r\n")
    assert load_file(file).revision == f"policy-{hashlib.sha256(file.read_bytes()).hexdigest()[:12]}"


def test_every_limit_has_bounds_around_its_default() -> None:
    defaults = {field.name: getattr(Limits(), field.name) for field in fields(Limits)}
    assert defaults.keys() == BOUNDS.keys()
    assert all(1 <= low <= defaults[name] <= high for name, (low, high) in BOUNDS.items())


@pytest.mark.parametrize("name", BOUNDS)
def test_each_limit_is_taken_at_its_edges_and_refused_beyond(name: str) -> None:
    low, high = BOUNDS[name]
    for value, is_good in ((low - 1, False), (low, True), (high, True), (high + 1, False)):
        try:
            load(f"version: 1\nlimits: {{{name}: {value}}}\n", "o.yaml")
            said = ""
        except ConfigurationError as error:
            said = str(error)
        # Within its bounds a limit may still be out of step with another one.
        assert ("is not between" not in said) is is_good


@given(st.text(max_size=200) | st.text("{}[]:,-&*!|>'\"%@`#? \nab01", max_size=80))
@example("version: 1\n? - a\n  - b\n")
@example("? : ")
def test_whatever_the_text_the_answer_is_a_configuration_or_a_place(text: str) -> None:
    found: tuple[Problem, ...] = ()
    try:
        load(text, "o.yaml")
    except ConfigurationError as error:
        found = error.problems
    assert all(problem.line >= 1 and problem.column >= 1 for problem in found)
