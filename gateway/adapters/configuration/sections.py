"""The sections of the file, each read into its value. What is wrong is noted; the values then count for nothing."""

from collections.abc import Collection
from dataclasses import fields
from typing import Final

from capabilities.signatures import read_public_key
from gateway.adapters.configuration import keys, values
from gateway.adapters.configuration.fields import Fields
from gateway.adapters.configuration.nodes import Entries, Node
from gateway.adapters.configuration.problems import Mark
from gateway.adapters.configuration.surfaces import bundles_of
from gateway.domain.configuration import IN_PAGE, AppGrant, AppTrust
from gateway.domain.sites import AgentProfile, Site
from gateway.settings import Limits, Outbox, Server, Webhook
from policy.model import Floor, Rule, name_matches
from policy.vocabulary import Confirm, Effect, Risk, Verdict

_EVERY_INTERFACE: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not bound to


def server_of(top: Fields, builtins: Collection[str]) -> Server:
    """`server:`, where it listens and which names it answers to."""
    section, default = top.within("server", keys.SERVER), Server()
    if section is None:
        return default
    listen_host, listen_port = _listen(section, (default.listen_host, default.listen_port))
    shown = f"[{listen_host}]" if ":" in listen_host else listen_host
    if not section.has("public_url") and listen_host in _EVERY_INTERFACE:
        section.refuse(
            section.where("listen"),
            "server.public_url",
            "`server` lacks `public_url`, and `listen` names every interface",
            "write the address agents and pages use, like `https://gateway.example.com`",
        )

    def builtin(text: str) -> str:
        if text not in builtins:
            raise values.Refused(f"there is no built-in `{text}`", f"there are {', '.join(sorted(builtins))}")
        return text

    metrics_listen = section.text("metrics_listen", values.metrics_listen, default.metrics_listen)
    if metrics_listen and _overlap((listen_host, listen_port), values.listen(metrics_listen)):
        section.refuse(
            section.where("metrics_listen"),
            "server.metrics_listen",
            "`server.metrics_listen` is where `server.listen` listens",
            "give it another port; `/metrics` asks for no credential and never shares one with the doors",
        )
    return Server(
        listen_host=listen_host,
        listen_port=listen_port,
        public_url=section.text("public_url", values.origin, f"http://{shown}:{listen_port}"),
        hosts=section.texts("hosts", values.host),
        trusted_proxies=section.texts("trusted_proxies", values.network),
        origins=section.texts("origins", values.origin),
        builtins=section.texts("builtins", builtin),
        database=section.text("database", values.database),
        metrics_listen=metrics_listen,
        otlp_endpoint=section.text("otlp_endpoint", values.address, default.otlp_endpoint),
        log_level=section.text("log_level", values.log_level, default.log_level),
    )


def _overlap(one: tuple[str, int], other: tuple[str, int]) -> bool:
    """Whether a machine can listen on one of the two addresses only."""
    hosts = {one[0], other[0]}
    return one[1] == other[1] and (len(hosts) == 1 or not hosts.isdisjoint(_EVERY_INTERFACE))


def _listen(section: Fields, default: tuple[str, int]) -> tuple[str, int]:
    found = [default]

    def judge(text: str) -> str:
        found.append(values.listen(text))
        return text

    section.text("listen", judge)
    return found[-1]


def limits_of(top: Fields) -> Limits:
    """`limits:`, each within its bounds and in step with the others."""
    section, default = top.within("limits", keys.LIMITS), Limits()
    if section is None:
        return default
    names = [field.name for field in fields(Limits)]
    limits = Limits(**{name: section.number(name, getattr(default, name), *keys.BOUNDS[name]) for name in names})
    for low, high, why in _IN_STEP:
        if getattr(limits, low) > getattr(limits, high):
            at = low if section.has(low) else high
            section.refuse(section.where(at), f"limits.{at}", f"`{low}` is greater than `{high}`: {why}")
    return limits


_IN_STEP: Final = (
    ("approval_ms", "call_ms", "a call would end while its person is still being asked"),
    ("taken_result_ms", "result_ms", "taking a result may only shorten its life"),
    ("minted_call_keep_ms", "call_keep_ms", "a call_id somebody chose has to outlive one nobody knows"),
    ("ledger_open", "ledger_rows", "open calls are rows of the ledger"),
    ("argument_bytes", "body_bytes", "arguments arrive inside a body"),
    ("declaration_bytes", "capabilities_bytes", "one declaration is part of all"),
    ("page_connections", "connections", "a page's socket is a connection"),
    ("page_arrivals", "page_connections", "a socket that has not said hello is one of all"),
)


def outbox_of(top: Fields) -> Outbox:
    """`outbox:`, who is told what becomes of calls."""
    section, default = top.within("outbox", keys.OUTBOX), Outbox()
    if section is None:
        return default
    bounded = {
        name: section.number(name, getattr(default, name), *bounds) for name, bounds in keys.OUTBOX_BOUNDS.items()
    }
    outbox = Outbox(
        webhook=_webhook(section),
        include_results=section.flag("include_results", default.include_results),
        **bounded,
    )
    if outbox.pause_ms > outbox.pause_cap_ms:
        at = "pause_ms" if section.has("pause_ms") else "pause_cap_ms"
        section.refuse(
            section.where(at),
            f"outbox.{at}",
            "`pause_ms` is greater than `pause_cap_ms`: the first rest would be longer than the longest",
        )
    return outbox


def _webhook(outbox: Fields) -> Webhook | None:
    section = outbox.within("webhook", keys.WEBHOOK)
    if section is None:
        return None
    return Webhook(
        url=section.text("url", values.webhook, required=True),
        secret_env=section.text("secret_env", values.variable, required=True),
        timeout_ms=section.number("timeout_ms", 10_000, *keys.WEBHOOK_MS),
    )


def agents_of(top: Fields) -> dict[str, AgentProfile]:
    """`agents:`, who may be given a session and what people call them."""
    return {
        name: AgentProfile(name=name, label=section.text("label", values.label, name))
        for name, section in top.named("agents", keys.AGENT, values.name)
    }


def sites_of(top: Fields, limits: Limits, agents: Collection[str]) -> dict[str, Site]:
    """`sites:`, the web applications that embed the surface host; none gets more than `limits`."""
    return {
        name: _site(name, section, limits, agents) for name, section in top.named("sites", keys.SITE, values.name)
    }


def _site(name: str, section: Fields, limits: Limits, agents: Collection[str]) -> Site:
    bundles, bundles_from = bundles_of(section, agents)
    in_page = section.within("in_page_agent", keys.IN_PAGE_AGENT)
    return Site(
        name=name,
        address=section.text("address", values.address, required=True),
        label=section.text("label", values.label, name),
        origins=section.texts("origins", values.origin, required=True),
        users=_users(section),
        expose=_expose(section),
        record_limit=section.number("record_limit", 20, 1, 200),
        in_page_scope=None if in_page is None else in_page.texts("scope", values.pattern, required=True),
        allow_automated_approval=section.flag("allow_automated_approval", False),
        limits=_lowered(section, limits),
        bundles=bundles,
        bundles_from=bundles_from,
    )


def _lowered(site: Fields, general: Limits) -> dict[str, int]:
    section = site.within("limits", keys.SITE_LIMITS)
    if section is None:
        return {}
    lowest = {name: keys.BOUNDS[name][0] for name in keys.LOWERED if section.has(name)}
    return {name: section.number(name, low, low, getattr(general, name)) for name, low in lowest.items()}


def _users(section: Fields) -> tuple[str, ...]:
    if section.is_word("users", "any"):
        return ("*",)
    return section.texts("users", values.user_pattern, required=True)


def _expose(section: Fields) -> tuple[Floor, ...]:
    seen: dict[str, Mark] = {}
    floors = [_floor(section, node, at) for at, node in section.items("expose", required=True)]
    return tuple(floor for floor, mark, at in floors if floor.pattern and section.once(seen, floor.pattern, mark, at))


def _floor(section: Fields, node: Node, at: str) -> tuple[Floor, Mark, str]:
    if not isinstance(node, Entries):
        return Floor(pattern=section.text_of(node, at, values.pattern)), node.mark, at
    entry = section.entry(node, at, keys.EXPOSED)
    floor = Floor(
        pattern=entry.text("id", values.pattern, required=True),
        effect=entry.word("effect", Effect),
        risk=entry.word("risk", Risk),
        confirm=entry.word("confirm", Confirm),
    )
    return floor, entry.where("id"), at


def apps_of(top: Fields) -> tuple[AppTrust, dict[str, AppGrant]]:
    """`apps:`, whose packages of mini apps are taken, and what installed ones get of this installation."""
    section = top.within("apps", keys.APPS)
    return (AppTrust(), {}) if section is None else (_trust(section), _grants(section))


def _grants(apps: Fields) -> dict[str, AppGrant]:
    return {
        name: AppGrant(
            secrets={
                secret: own.text("env", values.variable, required=True)
                for secret, own in section.named("secrets", keys.APP_SECRET, values.secret_name)
            },
            internal_hosts=section.texts("internal_hosts", values.host),
        )
        for name, section in apps.named("grants", keys.APP, values.app_id)
    }


def _trust(section: Fields) -> AppTrust:
    trusted: dict[str, bytes] = {}
    names: dict[str, Mark] = {}
    seen: dict[str, Mark] = {}
    for at, node in section.items("trusted_keys"):
        entry = section.entry(node, at, keys.TRUSTED_KEY)
        name = entry.text("name", values.name, required=True)
        key = entry.text("key", values.public_key, required=True)
        is_new = all(
            [
                bool(name) and section.once(names, name, entry.where("name"), f"{at}.name"),
                bool(key) and section.once(seen, key, entry.where("key"), f"{at}.key"),
            ]
        )
        if is_new:
            trusted[name] = read_public_key(key)
    require = section.flag("require_signature", False)
    if require and not trusted:
        section.refuse(
            section.where("require_signature"),
            "apps.require_signature",
            "`apps.require_signature` holds and no key is trusted, so no app could be installed",
            "list keys under `trusted_keys`",
        )
    return AppTrust(trusted_keys=trusted, require_signature=require)


def rules_of(top: Fields, agents: Collection[str], sites: Collection[str]) -> tuple[Rule, ...]:
    """`rules:`, each with an id of its own and about agents there are."""
    known = [*agents, *(IN_PAGE + site for site in sites)]

    def agent(text: str) -> str:
        pattern = values.agent_pattern(text)
        if pattern != "*" and not any(name_matches(pattern, name) for name in known):
            raise values.Refused(
                f"there is no agent `{text}`", "declare it under `agents:`, or write `*` for every one"
            )
        return pattern

    seen: dict[str, Mark] = {}
    rules: list[Rule] = []
    for at, node in top.items("rules"):
        section = top.entry(node, at, keys.RULE)
        rule = Rule(
            id=section.text("id", values.rule_id, required=True),
            agents=section.texts("agents", agent, required=True, some=True),
            users=section.texts("users", values.user_pattern, some=True) if section.has("users") else None,
            capabilities=section.texts("capabilities", values.pattern, required=True, some=True),
            # A verdict that cannot be read closes the door; the file is refused anyway.
            verdict=section.word("verdict", Verdict, required=True) or Verdict.FORBID,
            tier=section.word("tier", Risk),
        )
        if rule.id:
            section.once(seen, rule.id, section.where("id"), f"{at}.id")
        rules.append(rule)
    return tuple(rules)
