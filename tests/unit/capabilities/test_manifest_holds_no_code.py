"""No handler, no private name and nothing that runs gets into a manifest (seed 002 §4.1).

The app below hides marked words wherever Python lets an author put them. None of the marks may be found in what is
written, and of the words that were meant for agents every one must be.
"""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from capabilities.building import BuildRefused, build
from capabilities.project import Project
from tests.support.mini_apps import NOTES

APP: Final = '''\
"""SECRET module docstring."""

import enum
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, computed_field, field_validator

from capabilities.contract import (
    CallModel, Effect, HandlerContext, Leave, Leaving, Readiness, Surface, agent_tools, python_tool,
)

SECRET_constant = "SECRET value"


def SECRET_check(value: str) -> str:
    """SECRET validator docstring."""
    return value.removesuffix("SECRET suffix")


class SECRET_Kind(enum.Enum):
    """SECRET enum docstring."""

    SECRET_MEMBER = "meant kind"


@dataclass
class SECRET_Point:
    """SECRET dataclass docstring."""

    x: int = 0


class SECRET_Base(BaseModel):
    """SECRET base docstring."""

    model_config = ConfigDict(extra="forbid")


class SECRET_Input(SECRET_Base):
    """SECRET model docstring."""

    text: Annotated[str, Field(description="meant description"), AfterValidator(SECRET_check)]
    made: list[str] = Field(default_factory=lambda: ["SECRET default"])
    kind: SECRET_Kind = SECRET_Kind.SECRET_MEMBER
    point: SECRET_Point = Field(default_factory=SECRET_Point)
    inner: "SECRET_Inner | None" = None
    hidden: Annotated[str, Field(exclude=True)] = "meant default"
    _SECRET_private: str = "SECRET private"

    @field_validator("text")
    @classmethod
    def SECRET_validator(cls, text: str) -> str:
        """SECRET method docstring."""
        return text


class SECRET_Inner(SECRET_Base):
    """SECRET inner docstring."""

    word: Literal["meant word"]


class SECRET_Output(SECRET_Base):
    done: bool

    @computed_field(description="meant computed")
    @property
    def twice(self) -> int:
        """SECRET property docstring."""
        return len("SECRET computed")


async def SECRET_handler(given: SECRET_Input, context: HandlerContext) -> SECRET_Output:
    """SECRET handler docstring."""
    SECRET_local = await context.secret("meant_secret")
    return SECRET_Output(done=bool(SECRET_local))


class SECRET_Callable:
    """SECRET callable docstring."""

    def __init__(self, SECRET_argument):
        self.SECRET_attribute = SECRET_argument

    async def __call__(self, arguments, context):
        return {}


async def SECRET_hook(context) -> None:
    """SECRET hook docstring."""


EMPTY = {"type": "object"}

TOOLS = agent_tools(
    app="com.example.meant",
    name="meant name",
    version="1.0.0",
    description="meant app",
    tools=[
        python_tool(
            "meant.first",
            SECRET_handler,
            title="meant title",
            description="meant tool",
            input=SECRET_Input,
            output=SECRET_Output,
            readiness=Readiness.APP_READY,
            permissions=["secret:meant_secret"],
        ),
        python_tool(
            "meant.second",
            SECRET_Callable("SECRET argument"),
            title="meant other title",
            description="meant other tool",
            input=EMPTY,
            output=EMPTY,
            effect=Effect.READ,
            call_model=CallModel.QUERY,
        ),
    ],
    leaving=Leaving(closed=Leave.INTERRUPT),
    on_activate=SECRET_hook,
    on_deactivate=lambda context: SECRET_hook(context),
)
'''

MEANT: Final = (
    "meant description", "meant kind", "meant default", "meant word", "meant computed", "com.example.meant",
    "meant name", "meant app", "meant.first", "meant.second", "meant title", "meant tool", "meant_secret",
    "meant other title", "meant other tool",
)  # fmt: skip


def built(folder: Path, source: str) -> bytes:
    (folder / "marked.py").write_text(source)
    return build(Project(folder=folder, module="marked")).manifest.text


def test_nothing_an_author_hides_in_code_is_written(tmp_path: Path) -> None:
    text = built(tmp_path, APP).decode()
    assert "SECRET" not in text
    assert [words for words in MEANT if words not in text] == []
    for word in ("lambda", "def ", "class ", "import", "0x", "object at", "function", "__"):
        assert word not in text, word


def test_what_an_app_runs_can_change_without_its_descriptors_changing(tmp_path: Path) -> None:
    """The manifest names the files by digest and nothing of what is in them."""
    before, after = built(tmp_path, APP), built(tmp_path, APP.replace("SECRET", "OTHER"))
    first, second = json.loads(before), json.loads(after)
    assert first.pop("files") != second.pop("files")
    assert first == second


SMUGGLED: Final = {
    "a handler as a default": ('"type": "object"}', '"type": "object", "default": SMUGGLED}'),
    "a handler under a word of its own": ('"type": "object"}', '"type": "object", "x-run": "SMUGGLED()"}'),
    "a handler as a title": ('title="Echo"', "title=SMUGGLED"),
    "code instead of words": ('version="1.0.0"', "version=SMUGGLED"),
    "a handler as an answer": ("call_model=", "not_started={'text': SMUGGLED}, call_model="),
    "a module as a permission": ("call_model=", "permissions=[__import__('os')], call_model="),
    "an effect of its own making": ("effect=Effect.READ", "effect=SMUGGLED"),
}


@pytest.mark.parametrize("how", SMUGGLED)
def test_what_runs_cannot_be_written_in_the_place_of_words(how: str, tmp_path: Path) -> None:
    old, new = SMUGGLED[how]
    source = NOTES.decode().replace('"type": "object", "properties"', '"type": "object"} | {"properties"')
    assert source.count(old) >= 1
    smuggler = "async def SMUGGLED(arguments, context):\n    return {}\n\n\n"
    with pytest.raises(BuildRefused):
        built(tmp_path, smuggler + source.replace(old, new, 1))


def test_a_declaration_takes_no_field_of_its_own(tmp_path: Path) -> None:
    source = NOTES.decode().replace("            effect=Effect.READ,", "            effect=Effect.READ, source=echo,")
    with pytest.raises(BuildRefused, match="unexpected keyword argument 'source'"):
        built(tmp_path, source)


def test_a_tool_made_by_hand_is_judged_all_the_same(tmp_path: Path) -> None:
    """The judge looks at what is written, whoever wrote it."""
    forged = NOTES.decode() + "\n\nclass Forged(type(TOOLS)):\n" + FORGED
    with pytest.raises(BuildRefused) as refused:
        built(tmp_path, forged)
    pointers: list[Any] = [fault.pointer for fault in refused.value.faults]
    assert pointers == ["/tools/0/handler/source", "/source"]


FORGED: Final = """\
    def declaration(self):
        told = super().declaration()
        told["source"] = "import os"
        told["tools"][0]["handler"]["source"] = "import os"
        return told


TOOLS = Forged(**{name: getattr(TOOLS, name) for name in TOOLS.__dataclass_fields__})
"""
