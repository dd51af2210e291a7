"""Answers about what `ostiary.yaml` declares."""

from typing import Annotated

from pydantic import Field

from gateway.protocol.admin.base import Answer, Undeclared
from policy.vocabulary import Confirm, Effect, Risk, Verdict


class Exposed(Answer):
    """An entry of a site's `expose`."""

    id: str
    effect: Effect | None = None
    risk: Risk | None = None
    confirm: Confirm | None = None


class Site(Answer):
    """A site as the configuration declares it."""

    site: str
    label: str
    address: str
    origins: list[str]
    users: list[str]
    expose: list[Exposed]
    undeclared: Undeclared
    record_limit: int
    in_page_scope: list[str] | None
    allow_automated_approval: bool


class Sites(Answer):
    """Every declared site."""

    items: list[Site]


class Agent(Answer):
    """An agent as the configuration declares it."""

    agent: str
    label: str


class Agents(Answer):
    """Every declared agent."""

    items: list[Agent]


class Rule(Answer):
    """A rule as the configuration declares it."""

    id: str
    agents: list[str]
    users: list[str] | None
    capabilities: list[str]
    undeclared: Undeclared
    verdict: Verdict
    tier: Risk | None


class Rules(Answer):
    """Every rule, in the order of the file."""

    items: list[Rule]


class Settings(Answer):
    """Addresses and limits in force."""

    configuration: str
    server: dict[str, str | int | list[str]]
    limits: dict[str, int]


class Configuration(Answer):
    """The configuration in force, or one that was judged."""

    configuration: Annotated[str, Field(description="Its revision: `policy-` and 12 hex digits of the file's hash.")]
    sites: int
    agents: int
    rules: int
    notice: Annotated[str | None, Field(description="What counts from the next start on only.")] = None
