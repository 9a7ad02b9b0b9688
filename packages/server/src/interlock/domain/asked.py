"""Asks as they come over the wire: each kind is read field by field, and every wrong field is named at once."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from interlock.domain import asks
from interlock.domain.errors import FieldError, InvalidInput
from interlock.domain.request import RequestKind

Data = Mapping[str, Any]


class _Reader:
    """Reads fields of their types, and remembers what was wrong."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self.errors: list[FieldError] = []

    def text(self, name: str, default: str = "") -> str:
        return cast("str", self._read(name, str, default, "a text"))

    def optional_text(self, name: str) -> str | None:
        return cast("str | None", self._read(name, str, None, "a text"))

    def flag(self, name: str, *, default: bool) -> bool:
        return cast("bool", self._read(name, bool, default, "true or false"))

    def items(self, name: str) -> list[Any]:
        return cast("list[Any]", self._read(name, list, [], "a list"))

    def texts(self, name: str) -> list[str]:
        items = self.items(name)
        for index, item in enumerate(items):
            if not isinstance(item, str):
                self._add(f"{name}[{index}]", "a text")
        return [item for item in items if isinstance(item, str)]

    def mapping(self, name: str) -> dict[str, Any]:
        return cast("dict[str, Any]", self._read(name, dict, {}, "an object"))

    def _read(self, name: str, kind: type, default: Any, what: str) -> Any:
        value = self._data.get(name)
        if value is None:
            return default
        if not isinstance(value, kind):
            self._add(name, what)
            return default
        return value

    def _add(self, name: str, what: str) -> None:
        self.errors.append(FieldError(name, "type", f"{name} must be {what}"))


def checked(kind: RequestKind, data: Data) -> dict[str, Any]:
    """The body that people are shown; `InvalidInput` with every wrong field."""
    reader = _Reader(data)
    body: dict[str, Any] = {}
    try:
        body = _READERS[kind](reader)
    except InvalidInput as error:
        known = {one.field for one in reader.errors}
        reader.errors += [one for one in error.errors if one.field not in known]
    if not reader.flag("extendable", default=True):
        body["extendable"] = False
    if reader.errors:
        listed = "; ".join(error.message for error in reader.errors)
        raise InvalidInput(f"this cannot be asked: {listed}", reader.errors)
    return body


def _approval(reader: _Reader) -> dict[str, Any]:
    body = asks.approval(
        reader.text("tool_name"),
        reader.mapping("args"),
        description=reader.text("description"),
        risk_level=reader.optional_text("risk_level"),
        display_name=reader.optional_text("tool_display_name"),
        allow_remember=reader.flag("allow_remember", default=True),
        allowed=reader.texts("allowed") or asks.APPROVAL_DECISIONS,
    )
    more = {
        "action": reader.text("action"),
        "tool_schema": reader.mapping("tool_schema"),
        "fixed": reader.texts("fixed"),
    }
    return body | {name: value for name, value in more.items() if value}


def _clarification(reader: _Reader) -> dict[str, Any]:
    return asks.clarification(
        reader.text("question"),
        reader.texts("options"),
        allow_custom=reader.flag("allow_custom", default=True),
        default=reader.optional_text("default_answer"),
    )


def _decision(reader: _Reader) -> dict[str, Any]:
    return asks.decision(
        reader.text("title"),
        reader.items("options"),
        description=reader.text("description"),
        risks=reader.texts("risks"),
        decision_type=reader.text("decision_type", "custom"),
        default=reader.optional_text("default"),
    )


def _env_var(reader: _Reader) -> dict[str, Any]:
    return asks.env_vars(reader.items("fields"), allow_save=reader.flag("allow_save", default=True))


def _questions(reader: _Reader) -> dict[str, Any]:
    return asks.questions(reader.items("questions"))


_READERS: Mapping[RequestKind, Callable[[_Reader], dict[str, Any]]] = {
    RequestKind.APPROVAL: _approval,
    RequestKind.CLARIFICATION: _clarification,
    RequestKind.DECISION: _decision,
    RequestKind.ENV_VAR: _env_var,
    RequestKind.QUESTIONS: _questions,
}
