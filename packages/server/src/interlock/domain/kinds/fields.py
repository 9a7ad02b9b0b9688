"""Fields of an ask: each is read as its type, and every wrong one is named at once."""

from collections.abc import Mapping
from typing import Any, cast

from interlock.domain.errors import FieldError, InvalidInput
from interlock.domain.json_value import JsonObject, JsonValue

CUSTOM = "__custom__"
"""The value of the option that stands for an answer in one's own words."""


def is_blank(text: str) -> bool:
    return not text.strip() or text.strip() == CUSTOM


class Faults:
    """What is wrong with an ask."""

    def __init__(self) -> None:
        self.errors: list[FieldError] = []

    def add(self, field: str, code: str, message: str) -> None:
        self.errors.append(FieldError(field, code, message))

    def text(self, field: str, value: JsonValue, *, required: bool = True) -> str:
        if not isinstance(value, str):
            self.add(field, "not_text", f"{field} must be a string")
            return ""
        if required and not value.strip():
            self.add(field, "empty", f"{field} must not be empty")
        return value

    def flag(self, field: str, value: JsonValue, *, default: bool) -> bool:
        """Not the truth of whatever was given: a variable must not become one that everybody may see by a typo."""
        if value is None:
            return default
        if not isinstance(value, bool):
            self.add(field, "not_a_boolean", f"{field} must be true or false")
            return default
        return value

    def raise_any(self, what: str) -> None:
        if self.errors:
            messages = "; ".join(error.message for error in self.errors)
            raise InvalidInput(f"{what} cannot be asked: {messages}", self.errors)


class Fields:
    """The fields of an ask as it comes over the wire."""

    def __init__(self, data: Mapping[str, JsonValue]) -> None:
        self._data = data
        self.errors: list[FieldError] = []

    def text(self, name: str, default: str = "") -> str:
        return cast("str", self._read(name, str, default, "a text"))

    def optional_text(self, name: str) -> str | None:
        return cast("str | None", self._read(name, str, None, "a text"))

    def flag(self, name: str, *, default: bool) -> bool:
        return cast("bool", self._read(name, bool, default, "true or false"))

    def items(self, name: str) -> list[JsonValue]:
        return cast("list[Any]", self._read(name, list, [], "a list"))

    def texts(self, name: str) -> list[str]:
        items = self.items(name)
        for index, item in enumerate(items):
            if not isinstance(item, str):
                self._add(f"{name}[{index}]", "a text")
        return [item for item in items if isinstance(item, str)]

    def mapping(self, name: str) -> JsonObject:
        return cast("JsonObject", self._read(name, dict, {}, "an object"))

    def _read(self, name: str, kind: type, default: JsonValue, what: str) -> JsonValue:
        value = self._data.get(name)
        if value is None:
            return default
        if not isinstance(value, kind):
            self._add(name, what)
            return default
        return value

    def _add(self, name: str, what: str) -> None:
        self.errors.append(FieldError(name, "type", f"{name} must be {what}"))
