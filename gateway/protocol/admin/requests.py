"""Bodies and queries of the admin API. Unknown fields are refused; nothing is taken for what it is not."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from gateway.domain.calls import CallState

PAGE: Final = 50
PAGE_MAX: Final = 200

Name = Annotated[str, Field(max_length=256, pattern=r"^[^\x00-\x1f\x7f]+$")]
"""No control characters: nothing here has one in its name, and one of the stores cannot hold a NUL."""

Names = Annotated[list[Name], Field(max_length=256)]
Days = Annotated[int, Field(ge=1, le=366)]


class Body(BaseModel):
    """A JSON body."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Query(BaseModel):
    """What follows the question mark; each name at most once."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Nothing(Body):
    """No body, or an empty object."""


class NoQuery(Query):
    """No query."""


class AgentSessionWanted(Body):
    """Let an agent act for a user."""

    agent: Annotated[Name, Field(description="An agent the configuration declares.")]
    user: Annotated[Name, Field(description="Whom it acts for, as the site's backend names them.")]
    sites: Annotated[Names, Field(description="Sites it reaches; none is for what needs no page.")] = []
    scope: Annotated[Names, Field(description="Capability ids, or patterns like `todo.*`.")]
    days: Annotated[Days, Field(description="How long it lasts.")] = 30
    conversation: Annotated[
        str | None,
        Field(pattern=r"^[A-Za-z0-9._:-]{1,128}$", description="Its conversation, if not its own."),
    ] = None


class SiteKeyWanted(Body):
    """Give a site's backend a service key."""

    site: Annotated[Name, Field(description="A site the configuration declares.")]
    capabilities: Annotated[
        Names | None, Field(description="What it covers; all the site exposes now if left out.")
    ] = None
    days: Annotated[Days, Field(description="How long it lasts.")] = 90


class Reconciliation(Body):
    """What was found out about a call that is `unknown`."""

    outcome: Annotated[Literal["succeeded", "failed"], Field(description="Whether it happened.")]
    reason: Annotated[
        str | None, Field(min_length=1, max_length=200, description="How that is known; kept in the audit trail.")
    ] = None


class PageQuery(Query):
    """Which part of a list."""

    limit: Annotated[int, Field(ge=1, le=PAGE_MAX, description="How many at most.")] = PAGE
    cursor: Annotated[
        str | None, Field(min_length=1, max_length=512, description="Where to go on: `next` of the page before.")
    ] = None


class SiteKeyQuery(PageQuery):
    """Which service keys."""

    site: Annotated[Name | None, Field(description="Only those of this site.")] = None


class CallQuery(PageQuery):
    """Which calls."""

    agent: Name | None = None
    user: Name | None = None
    session: Name | None = None
    capability: Name | None = None
    site: Name | None = None
    state: CallState | None = None


class DenialQuery(Query):
    """Whose denials."""

    user: Annotated[Name, Field(description="Who said no.")]


class ExplainQuery(Query):
    """What to explain."""

    capability: Annotated[Name, Field(description="A capability id like `todo.add`.")]
