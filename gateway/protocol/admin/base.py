"""What all answers of the admin API share, and the answer to a refused request.

What an answer does not name does not leave: instants are milliseconds since 1970; arguments, results and hashes of
secrets have no field anywhere; a token or key has one where it is made, and nowhere else.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from gateway.domain.admin_tokens import AdminScope

Instant = Annotated[int, Field(description="Milliseconds since 1970.")]
Next = Annotated[str | None, Field(description="The `cursor` of the next page; null at the end.")]
Undeclared = Annotated[
    list[str], Field(description="Patterns that match nothing a page or built-in declares now: a mistyped name?")
]


class Answer(BaseModel):
    """An object; later versions may add fields."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Problem(Answer):
    """What is wrong with a configuration file, and where."""

    line: int
    column: int
    key: str
    message: str
    hint: str


class Error(Answer):
    """Why a request was refused."""

    code: Annotated[str, Field(description="See docs/reference/codes.md.")]
    message: Annotated[str, Field(description="For people.")]
    retryable: Annotated[bool, Field(description="Whether the same request may succeed later, unchanged.")]
    pointer: Annotated[str | None, Field(description="JSON pointer to the refused part of the body.")] = None
    problems: Annotated[list[Problem] | None, Field(description="With `configuration_refused`.")] = None
    scopes: Annotated[list[AdminScope] | None, Field(description="With `scope_missing`: any of these.")] = None


class Refusal(Answer):
    """The answer to a request that was refused."""

    error: Error
