"""Clarification: one question. A free interrupt is one that takes any JSON; see `free_answers`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from interlock.domain.errors import FieldError
from interlock.domain.json_value import ABSENT, JsonObject, JsonValue
from interlock.domain.kinds.fields import Faults, Fields, is_blank
from interlock.domain.kinds.free_answers import resolve
from interlock.domain.kinds.interrupt_value import InterruptParts, options_of
from interlock.domain.kinds.kind import AnswerValue, RequestBody, RequestKind, wrong
from interlock.domain.summary import with_parts


@dataclass(frozen=True, slots=True)
class ClarificationAnswer(AnswerValue):
    kind: ClassVar[RequestKind] = RequestKind.CLARIFICATION

    answer: JsonValue
    """A text; of a free interrupt any JSON."""

    def to_json(self) -> JsonObject:
        return {"answer": self.answer}

    @classmethod
    def from_json(cls, data: Mapping[str, JsonValue]) -> Self:
        return cls(data["answer"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ClarificationBody(RequestBody):
    kind: ClassVar[RequestKind] = RequestKind.CLARIFICATION
    id_prefix: ClassVar[str] = "clar"

    question: str
    options: tuple[str, ...] = ()
    allow_custom: bool = True
    default_answer: str | None = None
    title: str | None = None
    """Of an interrupt: what the graph calls it; the question has all that was handed over."""
    value: JsonValue = ABSENT
    """Of an interrupt: the whole that was handed over."""
    free: bool = False
    """Whether any JSON answers it."""

    @classmethod
    def ask(
        cls, question: str, options: Sequence[str] = (), *, allow_custom: bool = True, default: str | None = None
    ) -> Self:
        faults = Faults()
        faults.text("question", question)
        for index, option in enumerate(options):
            faults.text(f"options[{index}]", option)
        if not options and not allow_custom:
            faults.add("options", "empty", "options must not be empty when allow_custom is false")
        if default is not None and options and not allow_custom and default not in options:
            faults.add("default_answer", "not_offered", "default_answer is not one of the options")
        faults.raise_any("a clarification")
        return cls(question=question, options=tuple(options), allow_custom=allow_custom, default_answer=default)

    @classmethod
    def of_interrupt(cls, parts: InterruptParts, options: Sequence[str] = (), *, allow_custom: bool = True) -> Self:
        body = cls.ask(parts.text, options, allow_custom=allow_custom)
        return replace(body, title=parts.title, value=parts.value, details=parts.details)

    @classmethod
    def of_free(cls, value: JsonValue) -> Self:
        """What an interrupt asks that does not say what it takes."""
        parts = InterruptParts.of(value, offers=True)
        return replace(cls.of_interrupt(parts, options_of(parts.value)), free=True)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls.ask(
            fields.text("question"),
            fields.texts("options"),
            allow_custom=fields.flag("allow_custom", default=True),
            default=fields.optional_text("default_answer"),
        )

    @classmethod
    def own_from_json(cls, data: Mapping[str, JsonValue]) -> Self:
        return cls(
            question=data["question"],
            options=tuple(data.get("options") or ()),
            allow_custom=data.get("allow_custom") is not False,
            default_answer=data.get("default_answer"),
            title=data.get("title"),
            value=data.get("value", ABSENT),
            free=data.get("free") is True,
        )

    def own_json(self) -> JsonObject:
        data: JsonObject = {
            "question": self.question,
            "options": list(self.options),
            "allow_custom": self.allow_custom,
            "default_answer": self.default_answer,
        }
        if self.title is not None:
            data["title"] = self.title
        if self.value is not ABSENT:
            data["value"] = self.value
        if self.free:
            data["free"] = True
        return data

    @property
    def headline(self) -> str:
        if self.details is ABSENT:
            return self.question
        return with_parts(self.title or "", self.details)

    def default(self) -> ClarificationAnswer | None:
        return None if self.default_answer is None else ClarificationAnswer(self.default_answer)

    def check(self, given: Mapping[str, JsonValue]) -> ClarificationAnswer:
        answer = given.get("answer")
        if not isinstance(answer, str) or is_blank(answer):
            raise wrong(FieldError("answer", "empty", "answer must be a text that is not empty"))
        if not self.allow_custom and answer not in self.options:
            raise wrong(FieldError("answer", "not_offered", f"{answer!r} is not one of the options"))
        return ClarificationAnswer(answer)

    def check_free(self, given: Mapping[str, JsonValue]) -> ClarificationAnswer:
        """The same for an interrupt that does not say what it takes."""
        if "answer" not in given:
            raise wrong(FieldError("answer", "missing", "answer is required: any JSON"))
        return ClarificationAnswer(resolve(given["answer"], self.options))
