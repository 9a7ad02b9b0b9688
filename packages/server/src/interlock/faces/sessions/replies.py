"""What `accept`, `reject`, `edit` and `response` mean for the open requests of a pause."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interlock.domain.kinds import BODIES, ApprovalBody, RequestKind
from interlock.domain.request import Request
from interlock.faces.sessions.kinds import response_of, wrong
from interlock.faces.sessions.views import allows
from interlock.services.requests.answering import Choose, Reply
from interlock_client.sessions import ResponseType

Takes = Callable[[Request], frozenset[str] | None]
"""The names of the arguments that the tool of an approval takes, where they are known."""

_REQUEST_ID = re.compile(rf"(?:{'|'.join(body.id_prefix for body in BODIES.values())})_[0-9a-f]{{8,}}")


@dataclass(frozen=True, slots=True)
class ReplyInput:
    """A reply as it was sent: how, to what, and with which arguments."""

    how: ResponseType
    args: Mapping[str, Any]
    request_id: str | None = None

    @classmethod
    def of(cls, how: ResponseType, args: Mapping[str, Any] | None) -> "ReplyInput":
        given = dict(args or {})
        request_id: Any = given.get("request_id")
        # A tool may take a `request_id` of its own: in an edit, only what looks like one of ours names a request.
        if isinstance(request_id, str) and (how != "edit" or "args" in given or _REQUEST_ID.fullmatch(request_id)):
            del given["request_id"]
            return cls(how, given, request_id)
        return cls(how, given)


def choose(reply: ReplyInput, takes: Takes) -> Choose:
    return lambda requests: [_reply(request, reply, takes) for request in _targets(reply, requests)]


def _reply(request: Request, reply: ReplyInput, takes: Takes) -> Reply:
    args, code = reply.args, None
    # Only where one is wanted: a tool may take a `code` of its own.
    if request.routing is not None and request.routing.terms.code and reply.how == "accept":
        args = {name: value for name, value in args.items() if name != "code"}
        code = str(reply.args.get("code") or "")
    return Reply(request.id, _VALUES[reply.how](request, args, takes), code=code)


def _targets(reply: ReplyInput, requests: Sequence[Request]) -> Sequence[Request]:
    """`accept` and `reject` mean every approval of the pause, `edit` and `response` one request."""
    if reply.request_id is None and reply.how in ("accept", "reject"):
        approvals = [request for request in requests if request.kind is RequestKind.APPROVAL]
        requests = approvals or requests
    elif len(requests) > 1:
        raise wrong("args.request_id", "missing", "several requests are open: name one as args.request_id")
    for request in requests:
        if not allows(request, reply.how):
            raise wrong("response_type", "not_allowed", f"{reply.how} is not allowed for {request.id}")
    return requests


def _accept(request: Request, args: Mapping[str, Any], takes: Takes) -> Mapping[str, Any]:
    """What was sent beside it goes along, since it may say other than yes."""
    return {**_edit(request, args, takes), "decision": "accept"} if args else {"decision": "accept"}


def _reject(_request: Request, args: Mapping[str, Any], _takes: Takes) -> Mapping[str, Any]:
    reason = args.get("reason")
    if reason is not None and not isinstance(reason, str):
        raise wrong("args.reason", "type", "args.reason must be a text")
    return {"decision": "reject", **({"message": reason} if reason else {})}


def _edit(request: Request, args: Mapping[str, Any], takes: Takes) -> Mapping[str, Any]:
    known = takes(request)
    asked_args: Collection[str] = request.body.args if isinstance(request.body, ApprovalBody) else ()
    names = asked_args if known is None else known
    if list(args) == ["args"] and "args" not in names:
        return {"decision": "edit", "args": args["args"]}
    return {"decision": "edit", "args": args}


def _response(request: Request, args: Mapping[str, Any], _takes: Takes) -> Mapping[str, Any]:
    return response_of(request, args)


_VALUES: Mapping[ResponseType, Callable[[Request, Mapping[str, Any], Takes], Mapping[str, Any]]] = {
    "accept": _accept,
    "reject": _reject,
    "edit": _edit,
    "response": _response,
}
