"""The kinds of request, and what the body and the answer of every kind have in common."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar, Self

from interlock.domain.errors import FieldError, InvalidAnswer
from interlock.domain.json_value import ABSENT, JsonObject, JsonValue
from interlock.domain.kinds.fields import Fields

Texts = str | Mapping[str, str]
"""A text, or one for each language, the one for readers of no language first."""


class RequestKind(StrEnum):
    APPROVAL = "approval"
    CLARIFICATION = "clarification"
    DECISION = "decision"
    ENV_VAR = "env_var"
    QUESTIONS = "questions"

    @property
    def public_type(self) -> str:
        """Its name on the hitl face and in what webhooks are told: several questions are one clarification there."""
        return {"approval": "permission", "questions": "clarification"}.get(self, self.value)


@dataclass(frozen=True, slots=True)
class AnswerValue(ABC):
    """What was answered. Values of secrets are handles, never in clear."""

    kind: ClassVar[RequestKind]

    @abstractmethod
    def to_json(self) -> JsonObject: ...

    @classmethod
    @abstractmethod
    def from_json(cls, data: Mapping[str, JsonValue]) -> Self: ...

    def readable(self) -> Self:
        """As readers may see it: without the values of secrets."""
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestBody(ABC):
    """What a person is shown of a request. In JSON, what has its usual value is left out."""

    kind: ClassVar[RequestKind]
    id_prefix: ClassVar[str]

    details: JsonValue = ABSENT
    """What else a graph handed over with its interrupt."""
    extendable: bool = True
    """Whether somebody may give it more time."""
    translated: Mapping[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    """By language, the fields that are said otherwise in it. It is not shown."""

    @classmethod
    @abstractmethod
    def read(cls, fields: Fields) -> Self:
        """An ask as it comes over the wire; what is wrong with it is added to the faults of `fields`."""

    @classmethod
    @abstractmethod
    def own_from_json(cls, data: Mapping[str, JsonValue]) -> Self: ...

    @abstractmethod
    def own_json(self) -> JsonObject:
        """The fields of its kind."""

    @abstractmethod
    def check(self, given: Mapping[str, JsonValue]) -> AnswerValue:
        """The answer; `InvalidAnswer` with every wrong field, and the request stays open and untouched."""

    @abstractmethod
    def default(self) -> AnswerValue | None:
        """What the ask itself named for the case that nobody answers."""

    @property
    @abstractmethod
    def headline(self) -> str:
        """A text that tells requests apart in a list."""

    @property
    def takes_code(self) -> bool:
        """Whether there is an answer to it that has to repeat the code."""
        return False

    def needs_code(self, given: Mapping[str, JsonValue]) -> bool:
        """Whether this answer takes a deliberate second act."""
        return False

    @classmethod
    def from_json(cls, data: Mapping[str, JsonValue]) -> Self:
        return replace(
            cls.own_from_json(data),
            details=data.get("details", ABSENT),
            extendable=data.get("extendable") is not False,
            translated=data.get("translated") or {},
        )

    def to_json(self) -> JsonObject:
        data = self.own_json()
        if self.details is not ABSENT:
            data["details"] = self.details
        if not self.extendable:
            data["extendable"] = False
        if self.translated:
            data["translated"] = dict(self.translated)
        return data

    def in_language(self, language: str | None) -> Self:
        """As a reader of this language sees it."""
        if not self.translated:
            return self
        fields = {name: value for name, value in self.to_json().items() if name != "translated"}
        return self.from_json(fields | self.translated.get(language or "", {}))

    def with_translations(self, bodies: Mapping[str, "RequestBody"]) -> Self:
        """The same, with how it is said in each language."""
        return replace(self, translated={language: body.own_json() for language, body in bodies.items()})

    def with_details(self, text: str) -> str:
        """The text and all else that was handed over, for who shows one text."""
        return with_details(text, self.details)


def with_details(text: str, details: JsonValue) -> str:
    details_text = "" if details is ABSENT else json.dumps(details, ensure_ascii=False, indent=2)
    return "\n\n".join(part for part in (text, details_text) if part)


def wrong(*errors: FieldError) -> InvalidAnswer:
    return InvalidAnswer("; ".join(error.message for error in errors), errors)
