"""A graph's messages: found in its state, shown as text, and closed where a tool call was left without a result."""

from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolMessage

from interlock.domain.canonical import plain
from interlock.ports.agents import Message, MessageRole

_ROLES: dict[str, MessageRole] = {
    "human": "user",
    "ai": "assistant",
    "tool": "tool",
    "system": "system",
}

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


def shown(messages: Sequence[BaseMessage]) -> list[Message]:
    return [
        Message(_ROLES[message.type], message.text, _calls(message)) for message in messages if message.type in _ROLES
    ]


def _calls(message: BaseMessage) -> list[dict[str, Any]]:
    calls = message.tool_calls if isinstance(message, AIMessage) else ()
    return [{"id": call["id"], "name": call["name"], "args": plain(call["args"])} for call in calls]


def closing(messages: Sequence[BaseMessage]) -> list[ToolMessage]:
    """A result for every tool call that has none: a provider rejects a history with open calls."""
    answered = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    return [
        ToolMessage(NOT_RUN, name=call["name"], tool_call_id=call["id"], status="error")
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
        if call["id"] and call["id"] not in answered
    ]


def assistant_entry(message: AIMessage) -> dict[str, Any]:
    return {"message_id": message.id, "text": message.text, "tool_calls": _calls(message)}
