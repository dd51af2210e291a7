"""What `ostiary.yaml` declares, to be read; and the file itself, to be judged and taken over."""

from dataclasses import asdict
from typing import Any, Final

from gateway.domain.admin_tokens import AdminScope
from gateway.domain.configuration import Configuration
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.sites import Site
from gateway.protocol.admin import declared as answers
from gateway.runtime.admin import FileProblem, undeclared
from gateway.runtime.admin.checks import absent
from gateway.transports.admin_http.operations import Asked, Desk, Operation, Told
from gateway.transports.control import views
from policy.model import Rule

_CONFIGURATION: Final = frozenset({AdminScope.READ, AdminScope.CONFIGURATION})

SERVER_SHOWN: Final = ("listen_host", "listen_port", "public_url", "hosts", "origins", "builtins")
"""What is told of `server`; whatever is added to it stays private until it is named here."""


def _present(asked: Asked[Any, Any]) -> Configuration:
    return asked.services.live.world.configuration


def _site(desk: Desk, site: Site) -> dict[str, Any]:
    patterns = [floor.pattern for floor in site.expose]
    return {**views.of_site(site), "undeclared": undeclared(desk.services.live.world, patterns, site=site.name)}


async def _list_sites(asked: Asked[Any, Any]) -> Told:
    return Told(value={"items": [_site(asked.desk, site) for site in _present(asked).sites.values()]})


async def _get_site(asked: Asked[Any, Any]) -> Told:
    site = _present(asked).sites.get(asked.names["site"])
    if site is None:
        raise absent("site", asked.names["site"])
    return Told(value=_site(asked.desk, site))


async def _list_agents(asked: Asked[Any, Any]) -> Told:
    return Told(value={"items": [views.of_agent(agent) for agent in _present(asked).agents.values()]})


async def _get_agent(asked: Asked[Any, Any]) -> Told:
    agent = _present(asked).agents.get(asked.names["agent"])
    if agent is None:
        raise absent("agent", asked.names["agent"])
    return Told(value=views.of_agent(agent))


def _rule(desk: Desk, rule: Rule) -> dict[str, Any]:
    return {**asdict(rule), "undeclared": undeclared(desk.services.live.world, rule.capabilities)}


async def _list_rules(asked: Asked[Any, Any]) -> Told:
    return Told(value={"items": [_rule(asked.desk, rule) for rule in _present(asked).rules]})


async def _settings(asked: Asked[Any, Any]) -> Told:
    configuration = _present(asked)
    server = {name: getattr(configuration.server, name) for name in SERVER_SHOWN}
    return Told(
        value={"configuration": configuration.revision, "server": server, "limits": asdict(configuration.limits)}
    )


def _summary(configuration: Configuration, notice: str | None = None) -> dict[str, Any]:
    return {
        "configuration": configuration.revision,
        "sites": len(configuration.sites),
        "agents": len(configuration.agents),
        "rules": len(configuration.rules),
        "notice": notice,
    }


async def _get_configuration(asked: Asked[Any, Any]) -> Told:
    return Told(value=_summary(_present(asked)))


async def _reload(asked: Asked[Any, Any]) -> Told:
    reloaded = await asked.desk.reloader.reload(by=asked.by)
    if reloaded.is_accepted:
        return Told(value=_summary(_present(asked), reloaded.later))
    refusal = _refusal("the file is refused; the configuration in force stays", reloaded.problems)
    # The reload has written its own record, with the places of the problems.
    refusal.is_audited = True
    raise refusal


async def _check(asked: Asked[Any, Any]) -> Told:
    judged = await asked.desk.reloader.check(asked.text)
    if judged.configuration is None:
        raise _refusal("this configuration would be refused", judged.problems)
    return Told(value=_summary(judged.configuration))


def _refusal(message: str, problems: tuple[FileProblem, ...]) -> GatewayError:
    return GatewayError(ErrorCode.CONFIGURATION_REFUSED, message, problems=[asdict(problem) for problem in problems])


OPERATIONS: Final = (
    Operation(
        name="listSites",
        method="GET",
        path="/sites",
        told="The declared sites.",
        run=_list_sites,
        answer=answers.Sites,
    ),
    Operation(
        name="getSite",
        method="GET",
        path="/sites/{site}",
        told="One declared site.",
        run=_get_site,
        answer=answers.Site,
        refusals=(ErrorCode.NOT_FOUND,),
    ),
    Operation(
        name="listAgents",
        method="GET",
        path="/agents",
        told="The declared agents.",
        run=_list_agents,
        answer=answers.Agents,
    ),
    Operation(
        name="getAgent",
        method="GET",
        path="/agents/{agent}",
        told="One declared agent.",
        run=_get_agent,
        answer=answers.Agent,
        refusals=(ErrorCode.NOT_FOUND,),
    ),
    Operation(
        name="listRules",
        method="GET",
        path="/rules",
        told="The rules, in the order of the file.",
        run=_list_rules,
        answer=answers.Rules,
    ),
    Operation(
        name="getSettings",
        method="GET",
        path="/settings",
        told="Addresses and limits in force.",
        run=_settings,
        answer=answers.Settings,
    ),
    Operation(
        name="getConfiguration",
        method="GET",
        path="/configuration",
        told="Which configuration is in force.",
        run=_get_configuration,
        answer=answers.Configuration,
        scopes=_CONFIGURATION,
    ),
    Operation(
        name="reloadConfiguration",
        method="POST",
        path="/configuration/reload",
        told="Read the file again. One that is refused changes nothing and is answered with its problems.",
        run=_reload,
        answer=answers.Configuration,
        scopes=frozenset({AdminScope.CONFIGURATION}),
        matched_by="getConfiguration",
        refusals=(ErrorCode.CONFIGURATION_REFUSED, ErrorCode.STATE_CONFLICT),
    ),
    Operation(
        name="checkConfiguration",
        method="POST",
        path="/configuration/check",
        told="Judge the text of a file as `ostiary check`, start and reload do. Nothing changes.",
        run=_check,
        answer=answers.Configuration,
        scopes=_CONFIGURATION,
        is_text=True,
        refusals=(ErrorCode.CONFIGURATION_REFUSED,),
    ),
)
