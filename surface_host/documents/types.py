"""The static types of expressions, and whether derived values depend on themselves (`table`, phase 4)."""

from typing import Any, Final

from surface_host.documents.codes import DocumentCode, refused
from surface_host.documents.declarations import Declarations, Json, type_of
from surface_host.documents.pointers import cut
from surface_host.documents.table import OPERATORS, Operator, ValueType


class _Needs(Exception):
    """A derived value must be done first. Not a call, because a chain of them may be too long for one."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name: Final = name


class Types:
    """Finds types; those found are kept."""

    def __init__(self, declarations: Declarations) -> None:
        """Prepare; nothing is judged yet."""
        self._domains = declarations.domains
        self._expressions = declarations.derived
        self._derived: dict[str, ValueType] = {}
        self._pending: list[str] = []
        self._operations: dict[int, ValueType] = {}

    def order(self) -> tuple[str, ...]:
        """Judges all derived values and returns their ids, each behind those it needs.

        Raises:
            Refused: the first fault in one of them.
        """
        for name in self._expressions:
            if name not in self._derived:
                self._pending.append(name)
            while self._pending:
                self._next_pending()
        return tuple(self._derived)

    def _next_pending(self) -> None:
        name = self._pending[-1]
        try:
            self._derived[name] = self.of(self._expressions[name], f"/derived/{name}")
        except _Needs as needed:
            # It is begun again afterwards; what was done already is kept, by the identity of the expression.
            self._pending.append(needed.name)
        else:
            self._pending.pop()

    def expect(self, expression: Any, at: str, wanted: ValueType | str | None) -> None:
        """Hold an expression to a type; `scalar` is any.

        Raises:
            Refused: the first fault in it, or that it has another type.
        """
        found = self.of(expression, at)
        if wanted not in ("scalar", found):
            raise refused(DocumentCode.TYPE_MISMATCH, cut(at))

    def of(self, expression: Any, at: str) -> ValueType:
        """The type of an expression.

        Raises:
            Refused: the first fault in it.
        """
        literal = type_of(expression)
        if literal is not None:
            return literal
        if "ref" in expression:
            return self._referred(expression["ref"], f"{at}/ref")
        done = self._operations.get(id(expression))
        if done is None:
            done = self._operations[id(expression)] = self._operation(expression, at, OPERATORS[expression["op"]])
        return done

    def _referred(self, name: str, at: str) -> ValueType:
        if name in self._domains:
            return self._domains[name].type
        if name not in self._expressions:
            raise refused(DocumentCode.UNKNOWN_REF, cut(at))
        if name in self._pending:
            raise refused(DocumentCode.CYCLE, cut(at))
        if name not in self._derived:
            raise _Needs(name)
        return self._derived[name]

    def _operation(self, expression: Json, at: str, operator: Operator) -> ValueType:
        bound: ValueType | None = None
        for index, argument in enumerate(expression["args"]):
            here = f"{at}/args/{index}"
            takes = operator.takes[min(index, len(operator.takes) - 1)]
            found = self.of(argument, here)
            if takes == "any":
                bound = found
            wanted = {"any": found, "scalar": found, "same": bound, "decimals": "number"}.get(takes, takes)
            if found != wanted:
                raise refused(DocumentCode.TYPE_MISMATCH, cut(here))
        if operator.gives != "same":
            return operator.gives
        assert bound is not None
        return bound
