"""Decision: choose one of several keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

from interlock.domain.errors import FieldError
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.kinds.fields import Faults, Fields
from interlock.domain.kinds.kind import AnswerValue, RequestBody, RequestKind, wrong

DANGEROUS_STYLES = ("danger", "destructive", "critical", "warning")
"""Words for an option that who asks warns of; what they call harmless is not believed."""


@dataclass(frozen=True, slots=True)
class Choice:
    key: str
    label: str
    style: str = "default"

    @classmethod
    def read(cls, faults: Faults, where: str, option: JsonValue) -> "Choice":
        if isinstance(option, str):
            faults.text(where, option)
            return cls(option, option)
        if not isinstance(option, Mapping):
            faults.add(where, "not_an_option", f"{where} must be a string or an object with a key")
            return cls(where, "")
        given = cast("Mapping[str, JsonValue]", option)
        key = faults.text(f"{where}.key", given.get("key"))
        return cls(key, faults.text(f"{where}.label", given.get("label", key)), str(given.get("style", "default")))

    def to_json(self) -> JsonObject:
        return {"key": self.key, "label": self.label, "style": self.style}

    @property
    def is_dangerous(self) -> bool:
        return self.style.lower() in DANGEROUS_STYLES


@dataclass(frozen=True, slots=True)
class DecisionAnswer(AnswerValue):
    kind: ClassVar[RequestKind] = RequestKind.DECISION

    decision: str
    """The key of an option."""
    reason: str = ""

    def to_json(self) -> JsonObject:
        return {"decision": self.decision, **({"reason": self.reason} if self.reason else {})}

    @classmethod
    def from_json(cls, data: Mapping[str, JsonValue]) -> Self:
        return cls(data["decision"], data.get("reason") or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionBody(RequestBody):
    kind: ClassVar[RequestKind] = RequestKind.DECISION
    id_prefix: ClassVar[str] = "deci"

    title: str
    description: str
    options: tuple[Choice, ...]
    risks: tuple[str, ...]
    decision_type: str
    default_key: str | None

    @classmethod
    def ask(
        cls,
        title: str,
        options: Sequence[str | Mapping[str, JsonValue]],
        *,
        description: str = "",
        risks: Sequence[str] = (),
        decision_type: str = "custom",
        default: str | None = None,
    ) -> Self:
        faults = Faults()
        faults.text("title", title)
        choices = tuple(Choice.read(faults, f"options[{index}]", option) for index, option in enumerate(options))
        keys = [choice.key for choice in choices]
        if not choices:
            faults.add("options", "empty", "options must not be empty")
        if len(set(keys)) != len(keys):
            faults.add("options", "repeated", "two options have the same key")
        if default is not None and default not in keys:
            faults.add("default", "not_offered", "default is not the key of an option")
        faults.raise_any("a decision")
        return cls(
            title=title,
            description=description,
            options=choices,
            risks=tuple(risks),
            decision_type=decision_type,
            default_key=default,
        )

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls.ask(
            fields.text("title"),
            fields.items("options"),
            description=fields.text("description"),
            risks=fields.texts("risks"),
            decision_type=fields.text("decision_type", "custom"),
            default=fields.optional_text("default"),
        )

    @classmethod
    def own_from_json(cls, data: Mapping[str, JsonValue]) -> Self:
        return cls(
            title=data["title"],
            description=data.get("description") or "",
            options=tuple(Choice(one["key"], one["label"], one.get("style", "default")) for one in data["options"]),
            risks=tuple(data.get("risks") or ()),
            decision_type=data.get("decision_type") or "custom",
            default_key=data.get("default"),
        )

    def own_json(self) -> JsonObject:
        return {
            "decision_type": self.decision_type,
            "title": self.title,
            "description": self.description,
            "options": [option.to_json() for option in self.options],
            "risks": list(self.risks),
            "default": self.default_key,
        }

    @property
    def keys(self) -> list[str]:
        return [option.key for option in self.options]

    @property
    def text(self) -> str:
        return "\n".join(part for part in (self.title, self.description) if part)

    @property
    def headline(self) -> str:
        return self.title

    @property
    def takes_code(self) -> bool:
        return any(option.is_dangerous for option in self.options)

    def needs_code(self, given: Mapping[str, JsonValue]) -> bool:
        return any(option.key == given.get("decision") and option.is_dangerous for option in self.options)

    def default(self) -> DecisionAnswer | None:
        return None if self.default_key is None else DecisionAnswer(self.default_key)

    def check(self, given: Mapping[str, JsonValue]) -> DecisionAnswer:
        key = given.get("decision")
        if key not in self.keys:
            raise wrong(FieldError("decision", "not_offered", f"decision must be one of {', '.join(self.keys)}"))
        reason = given.get("reason")
        if reason is not None and not isinstance(reason, str):
            raise wrong(FieldError("reason", "not_text", "reason must be a string"))
        return DecisionAnswer(key, reason or "")

    def split(self, text: str) -> JsonObject:
        """From one text: the key of an option, and after a colon the reason for it, if there is one."""
        key, _, reason = text.partition(":")
        if text not in self.keys and key.strip() in self.keys:
            return {"decision": key.strip(), "reason": reason.strip()}
        return {"decision": text}
