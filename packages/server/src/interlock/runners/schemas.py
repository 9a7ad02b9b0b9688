"""Interrupts with a `response_schema`: a form made from the schema, and answers that are checked against it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from jsonschema import Draft202012Validator

from interlock.domain.errors import FieldError, InvalidAnswer
from interlock.domain.form import Form, SchemaInterrupt
from interlock.domain.kinds import ClarificationAnswer, ClarificationBody, QuestionsAnswer, QuestionsBody
from interlock.domain.kinds.free_answers import LONGEST_REPEATED, check_carried, read_json, reads_as_refusal
from interlock.domain.kinds.interrupt_value import InterruptParts
from interlock.services.requests.opening import NewRequest

Schema = Mapping[str, Any]


def request_of(interrupt_id: str, value: Any, schema: Schema) -> NewRequest:
    """A question per property of an object, one question for anything else."""
    form = Form(SchemaInterrupt(dict(schema)))
    properties, parts = _properties(schema), InterruptParts.of(value)
    if properties:
        items = [_question(name, _resolve(schema, part)) for name, part in properties.items()]
        return NewRequest(QuestionsBody.of_interrupt(parts, items), interrupt_id, form)
    options = _options(_resolve(schema, schema))
    return NewRequest(ClarificationBody.of_interrupt(parts, options, allow_custom=not options), interrupt_id, form)


def typed_answer(schema: Schema, value: QuestionsAnswer | ClarificationAnswer) -> Any:
    """The typed value that the graph expects, from a person's texts; `InvalidAnswer` when they do not fit."""
    if isinstance(value, QuestionsAnswer):
        properties = _properties(schema)
        texts = dict(zip(properties, value.answers, strict=True))
        answer: Any = {name: _parse(schema, _resolve(schema, properties[name]), text) for name, text in texts.items()}
    else:
        answer = _parse(schema, _resolve(schema, schema), value.answer)
    check(schema, answer)
    check_carried(answer, "answer")
    return answer


def check(schema: Schema, value: Any) -> None:
    errors = [
        FieldError(".".join(str(part) for part in error.absolute_path) or "answer", "schema", error.message)
        for error in cast("Any", Draft202012Validator(dict(schema))).iter_errors(value)
    ]
    if errors:
        raise InvalidAnswer("; ".join(error.message for error in errors), errors)


def decision_types(schema: Schema) -> list[str]:
    """The decisions that the schema of LangChain's per-call approval allows."""
    mapping: Any = cast("Mapping[str, Any]", schema.get("discriminator") or {}).get("mapping")
    if isinstance(mapping, Mapping):
        return [str(name) for name in cast("Mapping[str, Any]", mapping)]
    one: Any = _properties(schema).get("type", {})
    return [one["const"]] if "const" in one else []


def _properties(schema: Schema) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", _resolve(schema, schema).get("properties") or {})


def _resolve(root: Schema, part: Schema) -> Schema:
    reference = part.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        return cast("Schema", root["$defs"][reference.removeprefix("#/$defs/")])
    return part


def _question(name: str, part: Schema) -> dict[str, Any]:
    title = str(part.get("description") or part.get("title") or name)
    return {"question": title, "options": list(_options(part))}


def _options(part: Schema) -> Sequence[str]:
    if part.get("type") == "boolean":
        return ("true", "false")
    values: Any = part.get("enum")
    return [_as_text(value) for value in cast("list[Any]", values)] if isinstance(values, list) else ()


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _parse(root: Schema, part: Schema, text: str) -> Any:
    """A text as the schema wants it: as it is where a string will do, else read as JSON."""
    enum: Any = part.get("enum")
    if isinstance(enum, list):
        return next((value for value in cast("list[Any]", enum) if _as_text(value) == text), text)
    if part.get("type") == "string":
        return text
    if _fits(root, part, text):
        return _text_or_truth(root, part, text)
    try:
        return read_json(text)
    except (ValueError, RecursionError):
        return text


def _text_or_truth(root: Schema, part: Schema, text: str) -> Any:
    """Where a boolean would do as well as a text, `false` is the boolean, and a no is not passed on as a text."""
    if not _fits(root, part, False):
        return text
    if text.strip().casefold() in ("true", "false"):
        return text.strip().casefold() == "true"
    if reads_as_refusal(text):
        excerpt = text.strip()[:LONGEST_REPEATED]
        message = f"{excerpt!r} reads as a refusal, but as a text it counts as true: answer false to say no"
        raise InvalidAnswer(message, [FieldError("answer", "refusal_as_text", message)])
    return text


def _fits(root: Schema, part: Schema, value: Any) -> bool:
    whole = {"$defs": root.get("$defs", {}), **part}
    return bool(cast("Any", Draft202012Validator(whole)).is_valid(value))
