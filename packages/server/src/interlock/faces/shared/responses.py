"""What people reply, by the type of the request. Unknown fields are refused: a typo is no permission."""

from collections.abc import Callable, Mapping
from typing import Any

from interlock.domain.errors import FieldError, InvalidAnswer, InvalidInput, ReadsAsRefusal
from interlock.domain.grant import GrantDuration, GrantScope, Remember
from interlock.domain.kinds import (
    ApprovalAnswer,
    ApprovalBody,
    ClarificationBody,
    EnvVarBody,
    QuestionsBody,
    RequestKind,
)
from interlock.domain.request import Request
from interlock.services.requests.answering import Reply
from interlock.texts import Locale, answers_text

Response = Mapping[str, Any]


def reply_to(request: Request, response: Response) -> Reply:
    """The reply in the core's words; `InvalidAnswer` names every field that is wrong in form."""
    fields, read = (_FREE, _free) if request.is_free else FORMS[request.kind]
    errors = [
        FieldError(name, "unknown", f"{name} is not a field of this response; known: {', '.join(fields)}")
        for name in response.keys() - fields.keys()
    ]
    errors += [
        FieldError(name, "type", f"{name} must be {what}")
        for name, (kinds, what) in fields.items()
        if name in response and not _is_one(response[name], kinds)
    ]
    if errors:
        raise _wrong(*sorted(errors, key=lambda error: error.field))
    return read(request, response)


def permission_response(value: ApprovalAnswer) -> dict[str, Any]:
    """An answer in the words in which one is given."""
    response: dict[str, Any] = {"granted": value.runs}
    if value.args is not None:
        response["args"] = value.args
    if value.message:
        response["reply" if value.decision == "response" else "reason"] = value.message
    return response


def _is_one(value: Any, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _wrong(*errors: FieldError) -> InvalidAnswer:
    return InvalidAnswer("; ".join(error.message for error in errors), errors)


def _clarification(request: Request, response: Response) -> Reply:
    options = request.body.options if isinstance(request.body, ClarificationBody) else ()
    answer, selected = response.get("answer"), response.get("selected_option")
    if answer is None and selected is None:
        raise _wrong(FieldError("answer", "missing", "answer or selected_option is required"))
    if answer is not None and selected is not None and answer != selected:
        raise _wrong(FieldError("selected_option", "differs", "answer and selected_option say different things"))
    if selected is not None and selected not in options:
        raise _wrong(FieldError("selected_option", "not_offered", f"{selected!r} is not one of the options"))
    return Reply(request.id, {"answer": selected if answer is None else answer})


def _free(request: Request, response: Response) -> Reply:
    """Any JSON; null too, so that only what is not there is missing."""
    if "answer" in response and response.get("selected_option") is None:
        return Reply(request.id, {"answer": response["answer"]})
    return _clarification(request, response)


def _questions(request: Request, response: Response) -> Reply:
    answers = response.get("answers")
    if answers is not None and "answer" in response:
        raise _wrong(FieldError("answer", "not_allowed", "answer goes without answers"))
    if answers is None and "answer" in response and _is_single(request):
        answers = [response["answer"]]
    if answers is None:
        raise _wrong(FieldError("answers", "missing", "answers is required: one text for each question"))
    return Reply(request.id, {"answers": answers})


def _is_single(request: Request) -> bool:
    return isinstance(request.body, QuestionsBody) and len(request.body.questions) == 1


def _decision(request: Request, response: Response) -> Reply:
    return Reply(request.id, dict(response))


def _env_var(request: Request, response: Response) -> Reply:
    if response.get("save") and isinstance(request.body, EnvVarBody) and not request.body.allow_save:
        raise _wrong(FieldError("save", "not_allowed", "these values may not be saved"))
    return Reply(request.id, dict(response))


def _permission(request: Request, response: Response) -> Reply:
    granted = response.get("granted")
    if granted is None:
        raise _wrong(FieldError("granted", "missing", "granted is required"))
    value = _acceptance(response) if granted else _rejection(response)
    if isinstance(request.body, ApprovalBody) and not request.body.takes(value["decision"]):
        raise _wrong(FieldError(_field_of(value), "not_allowed", f"{value['decision']} is not allowed here"))
    return Reply(request.id, value, remember=_remember(response), code=response.get("code"))


def _acceptance(response: Response) -> dict[str, Any]:
    for name in ("reason", "reply"):
        if name in response:
            raise _wrong(FieldError(name, "not_allowed", f"{name} goes with granted: false"))
    return {"decision": "edit", "args": response["args"]} if "args" in response else {"decision": "accept"}


def _rejection(response: Response) -> dict[str, Any]:
    if "args" in response:
        raise _wrong(FieldError("args", "not_allowed", "args goes with granted: true"))
    if "reply" in response:
        if not response["reply"].strip():
            raise _wrong(FieldError("reply", "empty", "reply must be a text that is not empty"))
        return {"decision": "response", "message": response["reply"]}
    return {"decision": "reject", **({"message": response["reason"]} if response.get("reason") else {})}


def _field_of(value: Mapping[str, Any]) -> str:
    return {"edit": "args", "response": "reply"}.get(value["decision"], "granted")


def _remember(response: Response) -> Remember | None:
    """Nothing is kept unless it is said; `duration` and `scope` are checked all the same."""
    duration = _check_choice(GrantDuration, "duration", response.get("duration", GrantDuration.ONCE))
    scope = _check_choice(GrantScope, "scope", response.get("scope", GrantScope.THIS_ACTION))
    if not response.get("remember"):
        return None
    high_risk = (bool(response.get(name)) for name in ("also_high_risk", "confirm_high_risk"))
    return Remember(GrantDuration(duration), GrantScope(scope), *high_risk)


def _check_choice(known: type[GrantDuration] | type[GrantScope], field: str, value: str) -> str:
    if value not in list(known):
        raise _wrong(FieldError(field, "unknown", f"{field} must be one of {', '.join(known)}"))
    return value


_TEXT, _FLAG = ((str,), "a text"), ((bool,), "true or false")
_OBJECT, _LIST = ((dict,), "an object"), ((list,), "a list")

_ANYTHING = ((object, bool), "JSON")

Fields = Mapping[str, tuple[tuple[type, ...], str]]

_FREE: Fields = {"answer": _ANYTHING, "selected_option": _TEXT}
FORMS: Mapping[RequestKind, tuple[Fields, Callable[[Request, Response], Reply]]] = {
    RequestKind.CLARIFICATION: ({"answer": _TEXT, "selected_option": _TEXT}, _clarification),
    RequestKind.QUESTIONS: ({"answers": _LIST, "answer": _TEXT}, _questions),
    RequestKind.DECISION: ({"decision": _TEXT, "reason": _TEXT}, _decision),
    RequestKind.ENV_VAR: ({"values": _OBJECT, "save": _FLAG}, _env_var),
    RequestKind.APPROVAL: (
        {
            "granted": _FLAG,
            "remember": _FLAG,
            "duration": _TEXT,
            "scope": _TEXT,
            "also_high_risk": _FLAG,
            "confirm_high_risk": _FLAG,
            "args": _OBJECT,
            "reason": _TEXT,
            "reply": _TEXT,
            "code": _TEXT,
        },
        _permission,
    ),
}


def message_of(error: InvalidInput, locale: Locale, form: str) -> str:
    """`form` is how the face spells an answer, with `%s` in its place."""
    if not isinstance(error, ReadsAsRefusal):
        return error.message
    text = error.text
    itself = form % f'{{"text": {text}}}'
    return answers_text("reads_as_refusal", locale, text=text, no=form % "false", itself=itself)
