"""Questions: several at once, each with options to choose from or a free answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self, cast

from interlock.domain.errors import FieldError
from interlock.domain.json_value import ABSENT, JsonObject, JsonValue
from interlock.domain.kinds.fields import Faults, Fields, is_blank
from interlock.domain.kinds.interrupt_value import InterruptParts
from interlock.domain.kinds.kind import AnswerValue, RequestBody, RequestKind, wrong


@dataclass(frozen=True, slots=True)
class Option:
    label: str
    value: str
    allow_custom: bool = False

    @classmethod
    def read(cls, faults: Faults, where: str, option: JsonValue) -> "Option":
        if isinstance(option, str):
            option = {"label": option, "value": option}
        if not isinstance(option, Mapping):
            faults.add(where, "not_an_option", f"{where} must be a string or an object with a value")
            return cls("", "")
        given = cast("Mapping[str, JsonValue]", option)
        label = faults.text(f"{where}.label", given.get("label", given.get("value")))
        value = faults.text(f"{where}.value", given.get("value", label))
        return cls(label, value, faults.flag(f"{where}.allow_custom", given.get("allow_custom"), default=False))

    @classmethod
    def from_json(cls, data: Mapping[str, JsonValue]) -> "Option":
        return cls(data["label"], data["value"], data.get("allow_custom") is True)

    def to_json(self) -> JsonObject:
        return {"label": self.label, "value": self.value, **({"allow_custom": True} if self.allow_custom else {})}


@dataclass(frozen=True, slots=True)
class Question:
    question: str
    options: tuple[Option, ...] = ()

    @classmethod
    def read(cls, faults: Faults, where: str, item: JsonValue) -> "Question":
        if isinstance(item, str):
            item = {"question": item}
        if not isinstance(item, Mapping):
            faults.add(where, "not_a_question", f"{where} must be a string or an object with a question")
            return cls("")
        given = cast("Mapping[str, JsonValue]", item)
        text = faults.text(f"{where}.question", given.get("question"))
        options = given.get("options") or ()
        if not isinstance(options, list | tuple):
            faults.add(f"{where}.options", "not_a_list", f"{where}.options must be a list")
            options = ()
        items = cast("Sequence[JsonValue]", options)
        return cls(text, tuple(Option.read(faults, f"{where}.options[{n}]", one) for n, one in enumerate(items)))

    def to_json(self) -> JsonObject:
        return {"question": self.question, "options": [option.to_json() for option in self.options]}

    def error(self, index: int, answer: JsonValue) -> FieldError | None:
        where = f"answers[{index}]"
        if not isinstance(answer, str):
            return FieldError(where, "not_text", f"answer at index {index} must be a string")
        if is_blank(answer):
            return FieldError(where, "empty", f"answer at index {index} is empty")
        if not self.options or any(option.allow_custom for option in self.options):
            return None
        if answer not in [option.value for option in self.options]:
            return FieldError(where, "not_offered", f"answer at index {index} is not one of the options")
        return None


@dataclass(frozen=True, slots=True)
class QuestionsAnswer(AnswerValue):
    kind: ClassVar[RequestKind] = RequestKind.QUESTIONS

    answers: tuple[str, ...]

    def to_json(self) -> JsonObject:
        return {"answers": list(self.answers)}

    @classmethod
    def from_json(cls, data: Mapping[str, JsonValue]) -> Self:
        return cls(tuple(data["answers"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsBody(RequestBody):
    kind: ClassVar[RequestKind] = RequestKind.QUESTIONS
    id_prefix: ClassVar[str] = "ques"

    questions: tuple[Question, ...]
    title: str | None = None
    """Of an interrupt: what the graph calls it."""
    value: JsonValue = ABSENT
    """Of an interrupt: the whole that was handed over."""

    @classmethod
    def ask(cls, items: Sequence[str | Mapping[str, JsonValue]]) -> Self:
        faults = Faults()
        question_list = tuple(Question.read(faults, f"questions[{index}]", item) for index, item in enumerate(items))
        if not question_list:
            faults.add("questions", "empty", "questions must not be empty")
        faults.raise_any("questions")
        return cls(questions=question_list)

    @classmethod
    def of_interrupt(cls, parts: InterruptParts, items: Sequence[Mapping[str, JsonValue]]) -> Self:
        return replace(cls.ask(items), title=parts.title, value=parts.value, details=parts.details)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls.ask(fields.items("questions"))

    @classmethod
    def own_from_json(cls, data: Mapping[str, JsonValue]) -> Self:
        question_list = tuple(
            Question(one["question"], tuple(Option.from_json(option) for option in one.get("options") or ()))
            for one in data["questions"]
        )
        return cls(questions=question_list, title=data.get("title"), value=data.get("value", ABSENT))

    def own_json(self) -> JsonObject:
        data: JsonObject = {"questions": [question.to_json() for question in self.questions]}
        if self.title is not None:
            data["title"] = self.title
        if self.value is not ABSENT:
            data["value"] = self.value
        return data

    @property
    def about(self) -> str:
        """What they are about, where a graph handed over more than questions."""
        return self.with_details(self.title or "")

    @property
    def headline(self) -> str:
        return self.about or self.questions[0].question

    def default(self) -> None: ...

    def check(self, given: Mapping[str, JsonValue]) -> QuestionsAnswer:
        answers = given.get("answers")
        if not isinstance(answers, Sequence) or isinstance(answers, str):
            raise wrong(FieldError("answers", "not_a_list", "answers must be a list of texts"))
        texts = cast("Sequence[JsonValue]", answers)
        if len(texts) != len(self.questions):
            message = f"answers count ({len(texts)}) does not match questions count ({len(self.questions)})"
            raise wrong(FieldError("answers", "count", message))
        pairs = enumerate(zip(self.questions, texts, strict=True))
        errors = [error for index, (question, text) in pairs if (error := question.error(index, text))]
        if errors:
            raise wrong(*errors)
        return QuestionsAnswer(tuple(str(text) for text in texts))
