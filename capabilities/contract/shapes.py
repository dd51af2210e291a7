"""What a tool takes or gives: a pydantic model or a JSON Schema, behind one face.

INVARIANT: a published schema holds what its author wrote for callers and nothing else: no name of a class, no
docstring, no default that is made by code.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, cast

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticSerializationError, core_schema

from capabilities.contract.handler import HandlerFailed
from capabilities.json_values import find_unsafe_number, is_deeper_than, pointer_to
from capabilities.schemas.keywords import subschemas
from capabilities.validator import VALUE_DEPTH, Validator, compile_validator

Shape = type[BaseModel] | Mapping[str, Any]
"""How an author writes it."""

UI_KEY: Final = "ui"
"""The key of an output that is for the person's page and not part of the promise (rules I1)."""

_INTRODUCTIONS: Final = ("Value error, ", "Assertion failed, ")
"""What pydantic says before the words of an author's own validator."""


class DeclarationError(ValueError):
    """A declaration that cannot be written down; the message names the place and the reason."""


class ArgumentsRefused(HandlerFailed):
    """The arguments do not fit; the message holds a pointer and a reason, never a value."""


class OutputRefused(TypeError):
    """A handler gave back something else than it declared: its own mistake."""


class DeclaredShape:
    """One side of a tool."""

    def __init__(self, shape: Shape) -> None:
        """Take a model or a schema; neither is looked at before it is needed."""
        self._shape: Final = shape

    def schema(self, *, output: bool) -> dict[str, Any]:
        """The JSON Schema callers see.

        Raises:
            DeclarationError: the model has something JSON Schema has no word for.
        """
        if isinstance(self._shape, Mapping):
            return dict(self._shape)
        mode = "serialization" if output else "validation"
        try:
            made = self._shape.model_json_schema(schema_generator=_Nameless, mode=mode)
        except PydanticInvalidForJsonSchema as error:
            raise DeclarationError(f"its model cannot be a JSON Schema: {error.message}") from None
        # A model within itself is one reference, and a root must say that it is an object.
        return _without_names({"type": "object", **made})

    def read(self, arguments: Mapping[str, Any]) -> Any:
        """The arguments as the handler wants them.

        Raises:
            ArgumentsRefused: they do not fit.
        """
        if isinstance(self._shape, Mapping):
            plain = dict(arguments)
            problem = self._validator.first_error(plain)
            if problem is not None:
                raise ArgumentsRefused(_refusal(problem.pointer, problem.reason))
            return plain
        try:
            return self._shape.model_validate(arguments)
        except ValidationError as error:
            raise ArgumentsRefused(_first(error)) from None

    def write(self, output: Any) -> dict[str, Any]:
        """What a handler gave back, as a plain JSON object.

        Raises:
            OutputRefused: it does not fit.
        """
        if isinstance(self._shape, Mapping):
            if not isinstance(output, Mapping):
                raise OutputRefused(f"the handler gave back `{type(output).__name__}`, not an object")
            return _checked(dict(cast("Mapping[str, Any]", output)))
        beside: dict[str, Any] = {}
        if isinstance(output, Mapping):
            given = dict(cast("Mapping[str, Any]", output))
            beside = {key: given.pop(key) for key in (UI_KEY,) if key in given}
            output = given
        try:
            made = self._shape.model_validate(output)
            # Written as the declared model: an instance of a subclass may hold what was never promised.
            told = self._writer.dump_python(made, mode="json", by_alias=True, warnings="error")
            return _checked(told | beside)
        except ValidationError as error:
            raise OutputRefused(f"the handler's output: {_first(error)}") from None
        except PydanticSerializationError:
            raise OutputRefused("the handler's output cannot be written as JSON") from None

    @cached_property
    def _writer(self) -> TypeAdapter[BaseModel]:
        return TypeAdapter(cast("type[BaseModel]", self._shape))

    @cached_property
    def _validator(self) -> Validator:
        return compile_validator(cast("Mapping[str, Any]", self._shape))


def plain_object(value: BaseModel | Mapping[str, Any]) -> dict[str, Any]:
    """A declared answer as the JSON object it is."""
    return value.model_dump(mode="json", by_alias=True) if isinstance(value, BaseModel) else dict(value)


def _checked(output: dict[str, Any]) -> dict[str, Any]:
    if is_deeper_than(output, VALUE_DEPTH):
        raise OutputRefused(f"the handler's output is nested deeper than {VALUE_DEPTH} levels")
    number = find_unsafe_number(output)
    if number is not None:
        raise OutputRefused(f"the handler's output: `{number.pointer}` is an {number.reason.replace('_', ' ')}")
    return output


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    words = first["msg"]
    for introduction in _INTRODUCTIONS:
        words = words.removeprefix(introduction)
    return _refusal(pointer_to(first["loc"]), words)


def _refusal(pointer: str, reason: str) -> str:
    return f"`{pointer or '/'}` {reason[:1].lower()}{reason[1:]}"


class _Nameless(GenerateJsonSchema):
    """Writes a model without the names and docstrings of classes."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic asks per field
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        config = schema["cls"].model_config
        return _only_said(super().model_schema(schema), config.get("title"))

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        return _only_said(super().dataclass_schema(schema), None)

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        return _only_said(super().typed_dict_schema(schema), None)

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        # The name and docstring of an Enum are laid over its schema only after `enum_schema` made it.
        made = super().generate_inner(schema)
        if schema["type"] == "enum":
            reference = made.get("$ref")
            _only_said(made if reference is None else self.get_schema_from_definitions(reference) or {}, None)
        return made

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        # `discriminator` is OpenAPI's; it names definitions, and JSON Schema does not know it.
        made = super().tagged_union_schema(schema)
        made.pop("discriminator", None)
        return made


def _only_said(made: JsonSchemaValue, title: str | None) -> JsonSchemaValue:
    made.pop("description", None)
    made.pop("title", None)
    return made if title is None else {"title": title, **made}


def _without_names(schema: dict[str, Any]) -> dict[str, Any]:
    """Definitions get numbers for names."""
    held = cast("dict[str, Any]", schema.get("$defs", {}))
    names = {name: f"d{number}" for number, name in enumerate(held, start=1)}
    if not names:
        return schema
    pending: list[Any] = [schema]
    while pending:
        node = pending.pop()
        if not isinstance(node, dict):
            continue
        inner = cast("dict[str, Any]", node)
        reference = inner.get("$ref")
        if isinstance(reference, str):
            inner["$ref"] = f"#/$defs/{names[reference.removeprefix('#/$defs/')]}"
        pending.extend(found.schema for found in subschemas(inner))
    schema["$defs"] = {names[name]: definition for name, definition in held.items()}
    return schema
