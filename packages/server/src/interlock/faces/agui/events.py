"""From a thread's log to AG-UI's events.

A client refuses a stream in which anything is open at its end, a field is null, or a text is empty: what is open is
closed here, and what has no value is left out.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from interlock.domain.canonical import json_text
from interlock.domain.event import (
    AssistantMessage,
    Custom,
    Event,
    EventData,
    Live,
    Partial,
    RequestSettled,
    ToolCall,
    ToolEnded,
)
from interlock.domain.json_value import JsonObject, JsonValue, object_at
from interlock.domain.moment import to_iso
from interlock.domain.request import PublicRequest, RequestEnd
from interlock.faces.agui.kinds import ROWS
from interlock.faces.http.sse import data_line, encode_lines
from interlock.ports.agents import Message
from interlock.texts import Locale
from interlock.texts import threads_text as text

PROTOCOL = "1.0"
EVENTS = (
    "RUN_STARTED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "TOOL_CALL_START",
    "TOOL_CALL_ARGS",
    "TOOL_CALL_END",
    "TOOL_CALL_RESULT",
    "STATE_SNAPSHOT",
    "MESSAGES_SNAPSHOT",
    "CUSTOM",
    "RUN_FINISHED",
    "RUN_ERROR",
)

AguiEvent = dict[str, Any]


def encode(event: AguiEvent) -> bytes:
    return encode_lines(data_line(event))


class Translator:
    """Of one stream. It knows which text of the message under way its client has, and which calls were begun."""

    def __init__(self, locale: Locale) -> None:
        self._locale: Locale = locale
        self._message_id: str | None = None
        self._sent = ""
        self._begun: set[str] = set()

    def of(self, item: Live) -> list[AguiEvent]:
        if isinstance(item, Event):
            return self._events_of(item.data)
        if isinstance(item, Partial):
            return self._text(item.message_id, item.text)
        same = item.message_id == self._message_id
        return self._text(item.message_id, (self._sent if same else "") + item.text)

    def close(self) -> list[AguiEvent]:
        """End the text that is under way."""
        message_id, self._message_id, self._sent = self._message_id, None, ""
        return [] if message_id is None else [{"type": "TEXT_MESSAGE_END", "messageId": message_id}]

    def _events_of(self, data: EventData) -> list[AguiEvent]:
        match data:
            case AssistantMessage():
                return self._message(data)
            case ToolEnded(call_id, _tool, output, _status):
                return [*self.close(), *_result(call_id, output)]
            case RequestSettled(call=call) if call is not None and call.call_id and not data.runs:
                return _result(call.call_id, data.message or text("refused", self._locale))
            case Custom(written):
                return [{"type": "CUSTOM", "name": "custom", "value": written}]
            case _:
                return []

    def _message(self, message: AssistantMessage) -> list[AguiEvent]:
        text = self._text(message.message_id, message.text) if message.text else []
        calls = [event for call in message.tool_calls for event in self._call(call, message.message_id)]
        return [*text, *self.close(), *calls]

    def _text(self, message_id: str, whole: str) -> list[AguiEvent]:
        """What is new of a text. One that was begun otherwise than it ended is corrected by the next snapshot only."""
        events: list[AguiEvent] = []
        if message_id != self._message_id:
            events += self.close()
            if not whole:
                return events
            self._message_id = message_id
            events.append({"type": "TEXT_MESSAGE_START", "messageId": message_id, "role": "assistant"})
        if whole.startswith(self._sent) and whole != self._sent:
            delta, self._sent = whole[len(self._sent) :], whole
            events.append({"type": "TEXT_MESSAGE_CONTENT", "messageId": message_id, "delta": delta})
        return events

    def _call(self, call: ToolCall, message_id: str) -> list[AguiEvent]:
        if not call.id or call.id in self._begun:
            return []
        self._begun.add(call.id)
        named = {"toolCallId": call.id}
        return [
            {"type": "TOOL_CALL_START", **named, "toolCallName": call.name, "parentMessageId": message_id},
            {"type": "TOOL_CALL_ARGS", **named, "delta": json_text(call.args, ensure_ascii=False)},
            {"type": "TOOL_CALL_END", **named},
        ]


def _result(call_id: str, content: str) -> list[AguiEvent]:
    ids = {"messageId": _result_id(call_id), "toolCallId": call_id}
    return [{"type": "TOOL_CALL_RESULT", **ids, "content": content, "role": "tool"}]


def _result_id(call_id: str) -> str:
    return f"result_{call_id}"


def state_snapshot(values: JsonValue) -> list[AguiEvent]:
    """What the graph keeps beside its messages. A client puts it in the place of its own state, so that a graph that
    keeps nothing says nothing."""
    others = {name: value for name, value in object_at(values).items() if name != "messages"}
    return [{"type": "STATE_SNAPSHOT", "snapshot": others}] if others else []


def messages_snapshot(messages: Sequence[Message], names: Mapping[str, str]) -> AguiEvent:
    """`names` are the client's own ids of messages: by them it knows again what it sent."""
    return {"type": "MESSAGES_SNAPSHOT", "messages": [_message(one, n, names) for n, one in enumerate(messages)]}


def _message(message: Message, number: int, names: Mapping[str, str]) -> dict[str, Any]:
    message_id = message.id or f"message_{number}"
    view: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.call_id:
        return {"id": _result_id(message.call_id), **view, "toolCallId": message.call_id}
    if message.tool_calls:
        view["toolCalls"] = [_tool_call(call) for call in message.tool_calls]
    return {"id": names.get(message_id, message_id), **view}


def _tool_call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": json_text(call["args"], ensure_ascii=False)}
    return {"id": call["id"] or "", "type": "function", "function": function}


def interrupt(request: PublicRequest, locale: Locale, page: str) -> dict[str, Any]:
    """`page` is where a person answers it in a browser."""
    body = request.body.in_language(locale)
    row = ROWS[body.kind]
    view: dict[str, Any] = {
        "id": request.request_id,
        "reason": row.reason,
        "message": body.headline,
        "responseSchema": row.schema(body),
        "metadata": {"interlock": {**request.to_json(), "body": body.to_json(), "url": page}},
    }
    if row.reason == "tool_call" and request.call_id:
        view["toolCallId"] = request.call_id
    if request.expires_at is not None:
        view["expiresAt"] = to_iso(request.expires_at)
    return view


def already_answered(end: RequestEnd) -> AguiEvent:
    fields: JsonObject = {name: value for name, value in end.to_json().items() if value is not None}
    response = {"response": fields.pop("answer")} if "answer" in fields else {}
    value = {**fields, "status": fields.pop("current_status"), **response}
    return {"type": "CUSTOM", "name": "interlock.already_answered", "value": value}
