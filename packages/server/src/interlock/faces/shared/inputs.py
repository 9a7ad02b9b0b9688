"""What a client sends to start a run: a text, or an input of the agent's own form."""

from interlock.domain.json_value import JsonValue
from interlock.domain.run_input import GraphInput, MessageInput


def run_input(text: str | None, given: JsonValue, system: str | None = None) -> MessageInput | GraphInput:
    return GraphInput(given) if text is None else MessageInput(text, system)
