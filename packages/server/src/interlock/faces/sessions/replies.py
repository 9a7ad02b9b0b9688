"""What `accept`, `reject`, `edit` and `response` mean for the open requests of a pause."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from interlock.domain.errors import FieldError, InvalidAnswer
from interlock.domain.request import ID_PREFIX, Request, RequestKind
from interlock.faces.sessions.views import allows
from interlock.services.answering import Choose, Reply
from interlock_client.sessions import ResponseType

Takes = Callable[[Request], frozenset[str] | None]
"""The names of the arguments that the tool of an approval takes, where they are known."""

_REQUEST_ID = re.compile(rf"(?:{'|'.join(ID_PREFIX.values())})_[0-9a-f]{{8,}}")


@dataclass(frozen=True, slots=True)
class Said:
    """A reply as it was sent: how, to what, and with which arguments."""

    how: ResponseType
    args: Mapping[str, Any]
    request_id: str | None = None

    @classmethod
    def of(cls, how: ResponseType, args: Mapping[str, Any] | None) -> "Said":
        given = dict(args or {})
        named: Any = given.get("request_id")
        # A tool may take a `request_id` of its own: in an edit, only what looks like one of ours names a request.
        if isinstance(named, str) and (how != "edit" or "args" in given or _REQUEST_ID.fullmatch(named)):
            del given["request_id"]
            return cls(how, given, named)
        return cls(how, given)


def choose(said: Said, takes: Takes) -> Choose:
    return lambda requests: [
        Reply(request.id, _VALUES[said.how](request, said.args, takes)) for request in _meant(said, requests)
    ]


def _meant(said: Said, requests: Sequence[Request]) -> Sequence[Request]:
    """`accept` and `reject` mean every approval of the pause, `edit` and `response` one request."""
    if said.request_id is None and said.how in ("accept", "reject"):
        approvals = [request for request in requests if request.kind is RequestKind.APPROVAL]
        requests = approvals or requests
    elif len(requests) > 1:
        raise _wrong("args.request_id", "missing", "several requests are open: name one as args.request_id")
    for request in requests:
        if not allows(request, said.how):
            raise _wrong("response_type", "not_allowed", f"{said.how} is not allowed for {request.id}")
    return requests


def _accept(_request: Request, _args: Mapping[str, Any], _takes: Takes) -> Mapping[str, Any]:
    return {"decision": "accept"}


def _reject(_request: Request, args: Mapping[str, Any], _takes: Takes) -> Mapping[str, Any]:
    reason = args.get("reason")
    if reason is not None and not isinstance(reason, str):
        raise _wrong("args.reason", "type", "args.reason must be a text")
    return {"decision": "reject", **({"message": reason} if reason else {})}


def _edit(request: Request, args: Mapping[str, Any], takes: Takes) -> Mapping[str, Any]:
    known = takes(request)
    names = request.body["args"].keys() if known is None else known
    if list(args) == ["args"] and "args" not in names:
        return {"decision": "edit", "args": args["args"]}
    return {"decision": "edit", "args": args}


def _response(request: Request, args: Mapping[str, Any], _takes: Takes) -> Mapping[str, Any]:
    match request.kind:
        case RequestKind.APPROVAL:
            return {"decision": "response", "message": _text(args)}
        case RequestKind.CLARIFICATION:
            return {"answer": _any_json(args) if request.is_free else _text(args)}
        case RequestKind.DECISION:
            return _decision(request, args)
        case RequestKind.ENV_VAR:
            return {name: args[name] for name in ("values", "save") if name in args}
        case RequestKind.QUESTIONS:
            return {"answers": _answers(request, args)}


def _text(args: Mapping[str, Any]) -> str:
    given = [args[name] for name in ("args", "text", "answer") if name in args]
    if len(given) != 1 or not isinstance(given[0], str):
        raise _wrong("args.args", "missing", "a response is one text, as args.args, args.text or args.answer")
    return given[0]


def _any_json(args: Mapping[str, Any]) -> Any:
    given = [args[name] for name in ("args", "text", "answer") if name in args]
    if len(given) != 1:
        raise _wrong("args.answer", "missing", "the answer is any JSON, as args.answer")
    return given[0]


def _decision(request: Request, args: Mapping[str, Any]) -> Mapping[str, Any]:
    """The key of an option; a reason for it after a colon, or as `reason`."""
    answer = _text(args)
    keys = [option["key"] for option in request.body["options"]]
    key, _, reason = answer.partition(":")
    if answer not in keys and key.strip() in keys:
        return {"decision": key.strip(), "reason": reason.strip()}
    return {"decision": answer, **({"reason": args["reason"]} if "reason" in args else {})}


def _answers(request: Request, args: Mapping[str, Any]) -> Sequence[Any]:
    answers = args.get("answers", args.get("args"))
    if isinstance(answers, list):
        return cast("list[Any]", answers)
    if len(request.body["questions"]) == 1:
        return [_text(args)]
    raise _wrong("args.answers", "missing", "args.answers is a list: one text for each question")


def _wrong(field: str, code: str, message: str) -> InvalidAnswer:
    return InvalidAnswer(message, [FieldError(field, code, message)])


_VALUES: Mapping[ResponseType, Callable[[Request, Mapping[str, Any], Takes], Mapping[str, Any]]] = {
    "accept": _accept,
    "reject": _reject,
    "edit": _edit,
    "response": _response,
}
