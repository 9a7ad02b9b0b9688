"""What may be asked. Each function checks an ask and gives the body that people are shown.

An ask that cannot be taken raises `InvalidInput`, which names every wrong field at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from interlock.domain.canonical import plain
from interlock.domain.errors import FieldError, InvalidInput
from interlock.domain.interrupt_value import options_of, parts_of, whole_text
from interlock.domain.risk import RISK_LEVELS
from interlock.domain.translation import Texts, in_all

CUSTOM = "__custom__"
"""The value of the option that stands for an answer in one's own words."""


def is_blank(text: str) -> bool:
    return not text.strip() or text.strip() == CUSTOM


APPROVAL_DECISIONS = ("accept", "edit", "reject", "response")
DEFAULT_TIMEOUT = 300.0


class _Faults:
    def __init__(self) -> None:
        self.errors: list[FieldError] = []

    def add(self, field: str, code: str, message: str) -> None:
        self.errors.append(FieldError(field, code, message))

    def text(self, field: str, value: Any, *, required: bool = True) -> str:
        if not isinstance(value, str):
            self.add(field, "not_text", f"{field} must be a string")
            return ""
        if required and not value.strip():
            self.add(field, "empty", f"{field} must not be empty")
        return value

    def flag(self, field: str, value: Any, *, default: bool) -> bool:
        """Not the truth of whatever was given: a variable must not become one that everybody may see by a typo."""
        if value is None:
            return default
        if not isinstance(value, bool):
            self.add(field, "not_a_boolean", f"{field} must be true or false")
            return default
        return value

    def raise_any(self, what: str) -> None:
        if self.errors:
            listed = "; ".join(error.message for error in self.errors)
            raise InvalidInput(f"{what} cannot be asked: {listed}", self.errors)


def approval(
    tool_name: str,
    args: Mapping[str, Any],
    *,
    description: str = "",
    risk_level: str | None = None,
    display_name: Texts | None = None,
    allow_remember: bool = True,
    allowed: Iterable[str] = APPROVAL_DECISIONS,
) -> dict[str, Any]:
    faults = _Faults()
    faults.text("tool_name", tool_name)
    if risk_level is not None and risk_level not in RISK_LEVELS:
        faults.add("risk_level", "unknown", f"risk_level must be one of {', '.join(RISK_LEVELS)}")
    decisions = list(dict.fromkeys(allowed))
    if not decisions or any(decision not in APPROVAL_DECISIONS for decision in decisions):
        faults.add("allowed", "unknown", f"allowed must name some of {', '.join(APPROVAL_DECISIONS)}")
    faults.raise_any("an approval")
    names = display_name if isinstance(display_name, Mapping) else {"": display_name or tool_name}
    named = {language: {"tool_display_name": name} for language, name in names.items()}
    return {
        "tool_name": tool_name,
        **(in_all(named, next(iter(named))) if isinstance(display_name, Mapping) else named[""]),
        "action": _action_text(tool_name, args),
        "args": plain(dict(args)),
        "risk_level": risk_level,
        "description": description,
        "allow_remember": allow_remember,
        "allowed": decisions,
    }


def clarification(
    question: str,
    options: Sequence[str] = (),
    *,
    allow_custom: bool = True,
    default: str | None = None,
) -> dict[str, Any]:
    faults = _Faults()
    faults.text("question", question)
    for index, option in enumerate(options):
        faults.text(f"options[{index}]", option)
    if not options and not allow_custom:
        faults.add("options", "empty", "options must not be empty when allow_custom is false")
    if default is not None and options and not allow_custom and default not in options:
        faults.add("default_answer", "not_offered", "default_answer is not one of the options")
    faults.raise_any("a clarification")
    return {"question": question, "options": list(options), "allow_custom": allow_custom, "default_answer": default}


def free(value: Any) -> dict[str, Any]:
    """What an interrupt asks that does not say what it takes: `free_answers` has the rules of its answers."""
    parts = parts_of(value, offers=True)
    return clarification(whole_text(parts), options_of(parts["value"])) | parts | {"free": True}


def decision(
    title: str,
    options: Sequence[str | Mapping[str, Any]],
    *,
    description: str = "",
    risks: Sequence[str] = (),
    decision_type: str = "custom",
    default: str | None = None,
) -> dict[str, Any]:
    faults = _Faults()
    faults.text("title", title)
    choices = [_choice(faults, index, option) for index, option in enumerate(options)]
    keys = [choice["key"] for choice in choices]
    if not choices:
        faults.add("options", "empty", "options must not be empty")
    if len(set(keys)) != len(keys):
        faults.add("options", "repeated", "two options have the same key")
    if default is not None and default not in keys:
        faults.add("default", "not_offered", "default is not the key of an option")
    faults.raise_any("a decision")
    return {
        "decision_type": decision_type,
        "title": title,
        "description": description,
        "options": choices,
        "risks": list(risks),
        "default": default,
    }


def env_vars(fields: Sequence[str | Mapping[str, Any]], *, allow_save: bool = True) -> dict[str, Any]:
    faults = _Faults()
    wanted = [_field(faults, index, field) for index, field in enumerate(fields)]
    names = [field["name"] for field in wanted]
    if not wanted:
        faults.add("fields", "empty", "fields must not be empty")
    if len(set(names)) != len(names):
        faults.add("fields", "repeated", "two fields have the same name")
    faults.raise_any("environment variables")
    return {"fields": wanted, "allow_save": allow_save}


def questions(items: Sequence[str | Mapping[str, Any]]) -> dict[str, Any]:
    faults = _Faults()
    asked = [_question(faults, index, item) for index, item in enumerate(items)]
    if not asked:
        faults.add("questions", "empty", "questions must not be empty")
    faults.raise_any("questions")
    return {"questions": asked}


def _action_text(tool_name: str, args: Mapping[str, Any]) -> str:
    shown = " ".join(str(value) for value in args.values())
    return f"{tool_name} {shown}".strip()


def _choice(faults: _Faults, index: int, option: Any) -> dict[str, Any]:
    where = f"options[{index}]"
    if isinstance(option, str):
        faults.text(where, option)
        return {"key": option, "label": option, "style": "default"}
    if not isinstance(option, Mapping):
        faults.add(where, "not_an_option", f"{where} must be a string or an object with a key")
        return {"key": where, "label": "", "style": "default"}
    given = cast("Mapping[str, Any]", option)
    key = faults.text(f"{where}.key", given.get("key"))
    label = faults.text(f"{where}.label", given.get("label", key))
    return {"key": key, "label": label, "style": str(given.get("style", "default"))}


def _field(faults: _Faults, index: int, field: Any) -> dict[str, Any]:
    where = f"fields[{index}]"
    if isinstance(field, str):
        field = {"name": field}
    if not isinstance(field, Mapping):
        faults.add(where, "not_a_field", f"{where} must be a string or an object with a name")
        return {"name": where}
    given = cast("Mapping[str, Any]", field)
    name = faults.text(f"{where}.name", given.get("name"))
    return {
        "name": name,
        "label": faults.text(f"{where}.label", given.get("label", name), required=False),
        "required": faults.flag(f"{where}.required", given.get("required"), default=True),
        "sensitive": faults.flag(f"{where}.sensitive", given.get("sensitive"), default=True),
        "description": faults.text(f"{where}.description", given.get("description", ""), required=False),
    }


def _question(faults: _Faults, index: int, item: Any) -> dict[str, Any]:
    where = f"questions[{index}]"
    if isinstance(item, str):
        item = {"question": item}
    if not isinstance(item, Mapping):
        faults.add(where, "not_a_question", f"{where} must be a string or an object with a question")
        return {"question": "", "options": []}
    given = cast("Mapping[str, Any]", item)
    text = faults.text(f"{where}.question", given.get("question"))
    options = given.get("options") or ()
    if not isinstance(options, list | tuple):
        faults.add(f"{where}.options", "not_a_list", f"{where}.options must be a list")
        options = ()
    options = cast("Sequence[Any]", options)
    return {"question": text, "options": [_option(faults, f"{where}.options[{n}]", o) for n, o in enumerate(options)]}


def _option(faults: _Faults, where: str, option: Any) -> dict[str, Any]:
    if isinstance(option, str):
        option = {"label": option, "value": option}
    if not isinstance(option, Mapping):
        faults.add(where, "not_an_option", f"{where} must be a string or an object with a value")
        return {"label": "", "value": ""}
    given = cast("Mapping[str, Any]", option)
    label = faults.text(f"{where}.label", given.get("label", given.get("value")))
    shown: dict[str, Any] = {"label": label, "value": faults.text(f"{where}.value", given.get("value", label))}
    if faults.flag(f"{where}.allow_custom", given.get("allow_custom"), default=False):
        shown["allow_custom"] = True
    return shown
