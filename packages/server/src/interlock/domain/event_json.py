"""Events as they are stored, and as they travel between processes; also those that older versions wrote."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime

from interlock.domain.event import (
    AssistantMessage,
    Custom,
    EventData,
    EventType,
    PauseOpened,
    RequestClaimed,
    RequestCommented,
    RequestExtended,
    RequestRouted,
    RequestSettled,
    RequestVoted,
    RunEnded,
    RunStarted,
    SettledCall,
    ThreadCreated,
    ThreadDeleted,
    ToolCall,
    ToolEnded,
    ToolStarted,
    UserMessage,
)
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.kinds import RequestKind, body_from_json, value_from_json
from interlock.domain.moment import to_iso
from interlock.domain.request import AnswerOrigin, PublicRequest, RequestStatus
from interlock.domain.run import RunCause, RunStatus


def to_json(data: EventData) -> JsonObject:
    match data:
        case AssistantMessage():
            calls = [{"id": call.id, "name": call.name, "args": call.args} for call in data.tool_calls]
            return {"message_id": data.message_id, "text": data.text, "tool_calls": calls}
        case PauseOpened():
            requests = [one.to_json() for one in data.requests]
            settled = {"settled": list(data.settled)} if data.settled else {}
            return {"pause_id": data.pause_id, "node": data.node, "requests": requests, **settled}
        case RequestSettled():
            return _settlement_to_json(data)
        case RequestExtended():
            return {**_plain(data), "expires_at": to_iso(data.expires_at)}
        case RequestRouted():
            return {**_plain(data), "candidates": list(data.candidates)}
        case RequestClaimed():
            return {**_plain(data), "until": to_iso(data.until) if data.until else None}
        case _:
            return _plain(data)


def from_json(kind: EventType, data: Mapping[str, JsonValue], at: datetime) -> EventData:
    """`KeyError`, `TypeError` or `ValueError` for what this version does not know. `at` is when it was written."""
    return _READERS[kind](dict(data), at)


def _plain(data: EventData) -> JsonObject:
    """Field by field; one that has a default is left out where it is that."""
    values = ((one, getattr(data, one.name)) for one in fields(data))
    return {one.name: value for one, value in values if one.default is MISSING or value != one.default}


def _settlement_to_json(data: RequestSettled) -> JsonObject:
    value = data.value.to_json() if data.value is not None else None
    fields = {**_plain(data), "value": value, "at": to_iso(data.at)}
    fields.pop("call", None)
    if data.call is None:
        return fields
    edited = {"edited": data.call.edited} if data.call.edited else {}
    return {**fields, "tool": data.call.tool, "call_id": data.call.call_id, "shown": data.call.shown, **edited}


def _read_deleted(data: JsonObject) -> ThreadDeleted:
    return ThreadDeleted(data["by"], data.get("owner_id", ""), data.get("agent", ""), data.get("asker_id"))


def _message(data: JsonObject, _at: datetime) -> AssistantMessage:
    calls = (ToolCall(call["id"], call["name"], call["args"]) for call in data["tool_calls"])
    return AssistantMessage(data["message_id"], data["text"], tuple(calls))


def _pause(data: JsonObject, _at: datetime) -> PauseOpened:
    requests = tuple(_request(one) for one in data["requests"])
    return PauseOpened(data["pause_id"], data["node"], requests, tuple(data.get("settled", ())))


def _request(data: JsonObject) -> PublicRequest:
    return PublicRequest(
        request_id=data["request_id"],
        pause_id=data["pause_id"],
        body=body_from_json(RequestKind(data["kind"]), data["body"]),
        call_id=data["call_id"],
        message_id=data["message_id"],
        timeout_seconds=data["timeout_seconds"],
        created_at=datetime.fromisoformat(data["created_at"]),
        expires_at=datetime.fromisoformat(data["expires_at"]) if data["expires_at"] else None,
        is_routed=bool(data.get("is_routed")),
    )


def _read_settled(data: JsonObject, at: datetime) -> RequestSettled:
    kind, value = RequestKind(data["kind"]), data["value"]
    call = None
    if kind is RequestKind.APPROVAL:
        call = SettledCall(data["tool"], data["call_id"], data["shown"], data.get("edited"))
    return RequestSettled(
        request_id=data["request_id"],
        pause_id=data["pause_id"],
        kind=kind,
        status=RequestStatus(data["status"]),
        value=value_from_json(kind, value) if value is not None else None,
        by=data["by"],
        source=data["source"],
        origin=AnswerOrigin(data["origin"]),
        at=datetime.fromisoformat(data["at"]) if "at" in data else at,
        reason=data.get("reason"),
        provenance=data.get("provenance"),
        remembered=data.get("remembered"),
        call=call,
        is_routed=bool(data.get("is_routed")),
    )


def _read_extended(data: JsonObject, _at: datetime) -> RequestExtended:
    expires_at = datetime.fromisoformat(data["expires_at"])
    return RequestExtended(data["request_id"], data["pause_id"], expires_at, data["by"])


def _read_voted(data: JsonObject, _at: datetime) -> RequestVoted:
    return RequestVoted(data["request_id"], data["pause_id"], data["yes"], data["needed"], data.get("refusals", 0))


def _read_routed(data: JsonObject, _at: datetime) -> RequestRouted:
    where = data["request_id"], data["pause_id"], tuple(data["candidates"]), data["level"]
    return RequestRouted(*where, data["by"], data.get("note"))


def _read_claimed(data: JsonObject, _at: datetime) -> RequestClaimed:
    until = datetime.fromisoformat(data["until"]) if data["until"] else None
    return RequestClaimed(data["request_id"], data["pause_id"], data["by"], until)


def _read_commented(data: JsonObject, _at: datetime) -> RequestCommented:
    return RequestCommented(data["request_id"], data["pause_id"], data["by"])


_READERS: Mapping[EventType, Callable[[JsonObject, datetime], EventData]] = {
    EventType.THREAD_CREATED: lambda data, _: ThreadCreated(data["agent"], data["owner"]),
    EventType.THREAD_DELETED: lambda data, _: _read_deleted(data),
    EventType.USER_MESSAGE: lambda data, _: UserMessage(data["text"], data["by"]),
    EventType.ASSISTANT_MESSAGE: _message,
    EventType.TOOL_STARTED: lambda data, _: ToolStarted(data["call_id"], data["tool"], data["input"]),
    EventType.TOOL_ENDED: lambda data, _: ToolEnded(data["call_id"], data["tool"], data["output"], data["status"]),
    EventType.RUN_STARTED: lambda data, _: RunStarted(data["run_id"], RunCause(data["cause"])),
    EventType.RUN_ENDED: lambda data, _: RunEnded(data["run_id"], RunStatus(data["status"]), data.get("error")),
    EventType.PAUSE_OPENED: _pause,
    EventType.REQUEST_SETTLED: _read_settled,
    EventType.REQUEST_EXTENDED: _read_extended,
    EventType.REQUEST_VOTED: _read_voted,
    EventType.REQUEST_ROUTED: _read_routed,
    EventType.REQUEST_CLAIMED: _read_claimed,
    EventType.REQUEST_COMMENTED: _read_commented,
    EventType.CUSTOM: lambda data, _: Custom(data["data"]),
}
