"""What clients send, read and checked; and the envelope of what they are told."""

from typing import Any, cast

from pydantic import ValidationError

from interlock.domain.canonical import json_text
from interlock.domain.errors import FieldError, InvalidAnswer, InvalidInput
from interlock.domain.kinds import RequestKind
from interlock.domain.request import Request
from interlock.faces.confirm.events import OutgoingEvent
from interlock.faces.http.sockets import read_message
from interlock.faces.shared.responses import reply_to
from interlock.services.requests.answering import Reply
from interlock_client.confirm import Confirmation, UserEvent

LARGEST_BATCH = 100


def read(raw: str | bytes) -> UserEvent:
    given = read_message(raw)
    try:
        return UserEvent.model_validate(given)
    except ValidationError as error:
        raise InvalidInput(_join_errors(error), _errors(error)) from error


def _errors(error: ValidationError, where: str = "") -> list[FieldError]:
    """Never with the input itself, which may hold a secret."""
    return [
        FieldError(where + ".".join(str(part) for part in one["loc"]), str(one["type"]), str(one["msg"]))
        for one in error.errors(include_input=False, include_url=False, include_context=False)
    ]


def _join_errors(error: ValidationError, where: str = "") -> str:
    return "; ".join(f"{one.field}: {one.message}" for one in _errors(error, where))


def wrong(field: str, message: str) -> InvalidInput:
    return InvalidInput(message, [FieldError(field, "form", message)])


def metadata_text(event: UserEvent, name: str) -> str | None:
    value = (event.metadata or {}).get(name)
    if value is not None and not (isinstance(value, str) and value):
        raise wrong(f"metadata.{name}", f"metadata.{name} must be a text")
    return value


def metadata_number(event: UserEvent, name: str, most: int, least: int = 0) -> int | None:
    """A whole number; written as a text too, as it comes out of a browser's storage."""
    value: Any = (event.metadata or {}).get(name)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 18:
        value = int(value)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise wrong(f"metadata.{name}", f"metadata.{name} must be a whole number from {least} to {most}")
    return value


def confirmation_of(content: Any) -> Confirmation:
    if not isinstance(content, dict):
        raise InvalidAnswer("content must be an object with confirmed", [_missing_field("content")])
    try:
        return Confirmation.model_validate(content)
    except ValidationError as error:
        raise InvalidAnswer(_join_errors(error, "content."), _errors(error, "content.")) from error


def _missing_field(field: str) -> FieldError:
    return FieldError(field, "missing", f"{field} is required")


def reply_with(request: Request, confirmation: Confirmation) -> Reply:
    """The reply in the core's words; `InvalidAnswer` where it does not fit what was asked."""
    given = confirmation.metadata or {}
    if request.kind is RequestKind.APPROVAL:
        return reply_to(request, _permission(confirmation, given))
    if not confirmation.confirmed:
        return Reply(request.id, reason=confirmation.reason)
    response = given.get("response")
    if request.is_free and "response" in given and not isinstance(response, dict):
        response = {"answer": response}
    if not isinstance(response, dict):
        field = "content.metadata.response"
        raise InvalidAnswer(f"{field} must be an object: the answer to what is asked", [_missing_field(field)])
    return reply_to(request, cast("dict[str, Any]", response))


def _permission(confirmation: Confirmation, given: dict[str, Any]) -> dict[str, Any]:
    if confirmation.confirmed:
        if "response" in given:
            field, message = "content.metadata.response", "answers what is asked; a call is confirmed without it"
            raise InvalidAnswer(f"{field} {message}", [FieldError(field, "not_allowed", f"{field} {message}")])
        return {"granted": True, **({"args": given["args"]} if "args" in given else {})}
    return {"granted": False, **({"reason": confirmation.reason} if confirmation.reason else {})}


def audit_metadata(confirmation: Confirmation) -> dict[str, Any]:
    """What the sender says besides the answer; never the answer itself, in which there may be a secret."""
    given = {name: value for name, value in (confirmation.metadata or {}).items() if name not in ("response", "args")}
    reason = {"reason": confirmation.reason} if confirmation.reason and confirmation.confirmed else {}
    user = {"user_id": confirmation.user_id} if confirmation.user_id else {}
    return {**given, **reason, **user}


def envelope(event: OutgoingEvent, session_id: str | None, connection_id: str, seq: int, at: str) -> str:
    fields = {
        "event": event.event,
        "session_id": session_id,
        "step_id": event.step_id,
        "timestamp": at,
        "connection_id": connection_id,
        "seq": seq,
        "content": event.content,
        "metadata": event.metadata,
    }
    return json_text(fields, ensure_ascii=False).encode("utf-8", "replace").decode()
