"""What may be answered. `check` holds an answer against what was asked and gives it in its one canonical shape.

    approval       {decision: accept|reject|edit|response, args?, message?}
    clarification  {answer}: a text; of a free interrupt any JSON, see `free_answers`
    decision       {decision, reason?}
    env_var        {values: {NAME: text}, save}
    questions      {answers: [text, ...]}

A wrong answer raises `InvalidAnswer` with every wrong field; the request stays open and untouched.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from interlock.domain.asks import is_blank
from interlock.domain.errors import FieldError, InvalidAnswer
from interlock.domain.free_answers import check_carried, resolved
from interlock.domain.request import Request, RequestKind

LONGEST_VALUE = 32_768
"""Of a variable. Every text of its run is held against it, run by run; an environment takes little more either."""

Body = Mapping[str, Any]
Value = Mapping[str, Any]


def check(request: Request, value: Value) -> dict[str, Any]:
    return _free(request.body, value) if request.is_free else _CHECKS[request.kind](request.body, value)


def default_answer(kind: RequestKind, body: Body) -> dict[str, Any] | None:
    """What the ask itself named for the case that nobody answers; an approval never has one."""
    if kind is RequestKind.CLARIFICATION and body.get("default_answer") is not None:
        return {"answer": body["default_answer"]}
    if kind is RequestKind.DECISION and body.get("default") is not None:
        return {"decision": body["default"]}
    return None


def _fail(*errors: FieldError) -> InvalidAnswer:
    return InvalidAnswer("; ".join(error.message for error in errors), errors)


def _approval(body: Body, value: Value) -> dict[str, Any]:
    decision = value.get("decision")
    if decision not in ("accept", "reject", "edit", "response"):
        raise _fail(FieldError("decision", "unknown", "decision must be accept, reject, edit or response"))
    # Refusing is always possible: where the graph cannot be told, the run ends without an answer.
    if decision != "reject" and decision not in body["allowed"]:
        allowed = ", ".join(body["allowed"])
        raise _fail(FieldError("decision", "not_allowed", f"{decision} is not allowed here; allowed: {allowed}"))
    checked: dict[str, Any] = {"decision": decision}
    message = value.get("message")
    if decision == "response" and not (isinstance(message, str) and message.strip()):
        raise _fail(FieldError("message", "empty", "a response needs a text"))
    if isinstance(message, str) and message:
        checked["message"] = message
    if decision == "edit":
        args = value.get("args")
        if not isinstance(args, Mapping):
            raise _fail(FieldError("args", "not_an_object", "an edit needs the arguments as an object"))
        checked["args"] = dict(cast("Mapping[str, Any]", args))
        check_carried(checked["args"], "args")
    return checked


def _clarification(body: Body, value: Value) -> dict[str, Any]:
    answer = value.get("answer")
    if not isinstance(answer, str) or is_blank(answer):
        raise _fail(FieldError("answer", "empty", "answer must be a text that is not empty"))
    if not body["allow_custom"] and answer not in body["options"]:
        raise _fail(FieldError("answer", "not_offered", f"{answer!r} is not one of the options"))
    return {"answer": answer}


def _free(body: Body, value: Value) -> dict[str, Any]:
    if "answer" not in value:
        raise _fail(FieldError("answer", "missing", "answer is required: any JSON"))
    return {"answer": resolved(value["answer"], body["options"])}


def _decision(body: Body, value: Value) -> dict[str, Any]:
    key = value.get("decision")
    keys = [option["key"] for option in body["options"]]
    if key not in keys:
        raise _fail(FieldError("decision", "not_offered", f"decision must be one of {', '.join(keys)}"))
    reason = value.get("reason")
    if reason is not None and not isinstance(reason, str):
        raise _fail(FieldError("reason", "not_text", "reason must be a string"))
    return {"decision": key, **({"reason": reason} if reason else {})}


def _env_var(body: Body, value: Value) -> dict[str, Any]:
    values = value.get("values")
    if not isinstance(values, Mapping):
        raise _fail(FieldError("values", "not_an_object", "values must be an object of names and texts"))
    given = cast("Mapping[str, Any]", values)
    fields = {field["name"]: field for field in body["fields"]}
    errors = [FieldError(f"values.{name}", "not_asked", f"{name} was not asked for") for name in given.keys() - fields]
    checked: dict[str, str] = {}
    for name, field in fields.items():
        text = given.get(name, "")
        if not isinstance(text, str):
            errors.append(FieldError(f"values.{name}", "not_text", f"{name} must be a string"))
        elif len(text) > LONGEST_VALUE:
            errors.append(FieldError(f"values.{name}", "too_long", f"{name} is over {LONGEST_VALUE} characters"))
        elif text:
            checked[name] = text
        elif field["required"]:
            errors.append(FieldError(f"values.{name}", "missing", f"{name} is required"))
    if errors:
        raise _fail(*sorted(errors, key=lambda error: error.field))
    save = value.get("save", False)
    if not isinstance(save, bool):
        raise _fail(FieldError("save", "not_a_boolean", "save must be true or false"))
    return {"values": checked, "save": save and body["allow_save"]}


def _questions(body: Body, value: Value) -> dict[str, Any]:
    answers = value.get("answers")
    asked: Sequence[Mapping[str, Any]] = body["questions"]
    if not isinstance(answers, Sequence) or isinstance(answers, str):
        raise _fail(FieldError("answers", "not_a_list", "answers must be a list of texts"))
    given = cast("Sequence[Any]", answers)
    if len(given) != len(asked):
        message = f"answers count ({len(given)}) does not match questions count ({len(asked)})"
        raise _fail(FieldError("answers", "count", message))
    errors = [error for index, item in enumerate(given) if (error := _answer_error(index, asked[index], item))]
    if errors:
        raise _fail(*errors)
    return {"answers": [str(item) for item in given]}


def _answer_error(index: int, question: Mapping[str, Any], item: Any) -> FieldError | None:
    where = f"answers[{index}]"
    if not isinstance(item, str):
        return FieldError(where, "not_text", f"answer at index {index} must be a string")
    if is_blank(item):
        return FieldError(where, "empty", f"answer at index {index} is empty")
    options: Sequence[Mapping[str, Any]] = question["options"]
    if not options or any(option.get("allow_custom") for option in options):
        return None
    if item not in [option["value"] for option in options]:
        return FieldError(where, "not_offered", f"answer at index {index} is not one of the options")
    return None


_CHECKS: Mapping[RequestKind, Callable[[Body, Value], dict[str, Any]]] = {
    RequestKind.APPROVAL: _approval,
    RequestKind.CLARIFICATION: _clarification,
    RequestKind.DECISION: _decision,
    RequestKind.ENV_VAR: _env_var,
    RequestKind.QUESTIONS: _questions,
}
