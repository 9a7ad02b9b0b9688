"""A graph's messages: found in its state, shown as text, closed where a tool call was left without a result, and put
into the log where a crash left them out."""

from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolMessage
from langgraph.pregel import Pregel

from interlock.domain.canonical import json_text, plain
from interlock.domain.event import AssistantMessage, ToolCall
from interlock.domain.redaction import Redaction
from interlock.ports.agents import Message, MessageRole
from interlock.services.core import Core

_ROLES: dict[str, MessageRole] = {
    "human": "user",
    "ai": "assistant",
    "tool": "tool",
    "system": "system",
}

LONGEST_RESULT = 100_000
PAGE = 500
NOT_RUN = "Not run: the run was stopped before this call."


def messages_in(values: Any) -> list[AnyMessage]:
    """The messages in a state of any form; none where it has none."""
    found: Any = (
        cast("dict[str, Any]", values).get("messages")
        if isinstance(values, dict)
        else getattr(values, "messages", None)
    )
    if not isinstance(found, list):
        return []
    messages = [message for message in cast("list[Any]", found) if isinstance(message, BaseMessage)]
    return cast("list[AnyMessage]", messages)


def to_messages(messages: Sequence[BaseMessage]) -> list[Message]:
    return [_to_message(message) for message in messages if message.type in _ROLES]


def _to_message(message: BaseMessage) -> Message:
    call_id = message.tool_call_id if isinstance(message, ToolMessage) else None
    return Message(_ROLES[message.type], message.text, _calls(message), message.id, call_id)


def _calls(message: BaseMessage) -> list[dict[str, Any]]:
    calls = message.tool_calls if isinstance(message, AIMessage) else ()
    return [{"id": call["id"], "name": call["name"], "args": plain(call["args"])} for call in calls]


def result_text(graph: Pregel[Any, Any, Any, Any], values: Any, redact: Redaction) -> str:
    """The output of a graph that has no messages, in one text; empty where there is none."""
    channels: Any = graph.output_channels
    if isinstance(values, dict) and not isinstance(channels, str):
        values = {name: value for name, value in cast("dict[str, Any]", values).items() if name in channels}
    result = redact.within(plain(values))
    if result is None or result == {}:
        return ""
    text = result if isinstance(result, str) else json_text(result, ensure_ascii=False, indent=2)
    return text if len(text) <= LONGEST_RESULT else f"{text[:LONGEST_RESULT]}…"


def close_calls(messages: Sequence[BaseMessage]) -> list[ToolMessage]:
    """A result for every tool call that has none: a provider rejects a history with open calls."""
    answered = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    return [
        ToolMessage(NOT_RUN, name=call["name"], tool_call_id=call["id"], status="error")
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
        if call["id"] and call["id"] not in answered
    ]


def assistant_entry(message: AIMessage) -> AssistantMessage:
    calls = (ToolCall(call["id"], call["name"], plain(call["args"])) for call in message.tool_calls)
    return AssistantMessage(message.id or "", message.text, tuple(calls))


async def unreported_messages(core: Core, thread_id: str, messages: Sequence[BaseMessage]) -> list[AssistantMessage]:
    """The agent's finished messages that are in the state and not in the log."""
    reported = await _reported_ids(core, thread_id)
    return [
        assistant_entry(message)
        for message in messages
        if isinstance(message, AIMessage) and message.id not in reported
    ]


async def _reported_ids(core: Core, thread_id: str) -> set[str]:
    ids: set[str] = set()
    seq = 0
    while True:
        async with core.store.snapshot() as tx:
            page = await tx.events.after(thread_id, seq, PAGE)
        ids |= {event.data.message_id for event in page if isinstance(event.data, AssistantMessage)}
        if len(page) < PAGE:
            return ids
        seq = page[-1].seq
