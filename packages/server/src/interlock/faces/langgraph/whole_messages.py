"""The mode `messages`: every message as it stands, whole each time, and where in the graph it is said."""

from collections.abc import Iterator

from interlock.domain.event import Partial, Token
from interlock.domain.json_value import JsonObject, JsonValue


class WholeMessages:
    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._known: set[str] = set()
        self._done: set[str] = set()

    def token(self, item: Token | Partial, node: JsonObject) -> Iterator[tuple[str, JsonValue]]:
        before = self._texts.get(item.message_id, "")
        text = item.text if isinstance(item, Partial) else before + item.text
        self._texts[item.message_id] = text
        yield from self._where(item.message_id, node)
        if text != before:
            yield "messages/partial", [_said(item.message_id, text)]

    def finished(self, message: JsonObject, node: JsonObject) -> Iterator[tuple[str, JsonValue]]:
        key = str(message.get("id"))
        if key in self._done or message.get("type") not in ("ai", "tool"):
            return
        self._done.add(key)
        yield from self._where(key, node)
        yield "messages/complete", [message]

    def _where(self, key: str, node: JsonObject) -> Iterator[tuple[str, JsonValue]]:
        if key not in self._known:
            self._known.add(key)
            yield "messages/metadata", {key: {"metadata": node}}


def _said(message_id: str, text: str) -> JsonObject:
    return {
        "content": text,
        "additional_kwargs": {},
        "response_metadata": {},
        "type": "ai",
        "name": None,
        "id": message_id,
        "tool_calls": [],
        "invalid_tool_calls": [],
        "usage_metadata": None,
    }
