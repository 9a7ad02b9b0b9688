"""From a person's text to the input of a graph, whatever its state is made of."""

import json
from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from interlock.domain.errors import InvalidInput
from interlock.runners.loading import HostedAgent
from interlock.runners.transcript import closing


def graph_input(
    agent: HostedAgent, run_id: str, text: str, messages: Sequence[BaseMessage], system: str | None = None
) -> Any:
    """A message for a graph that has messages; else the text for its one text field, or a JSON object as it is.

    `system` stands at the beginning of a conversation or nowhere: providers refuse it in the middle of one.
    """
    properties = agent.input
    if "messages" in properties or not properties:
        before = [SystemMessage(system, id=f"sys_{run_id}")] if system and not messages else closing(messages)
        return {"messages": [*before, HumanMessage(text, id=f"msg_{run_id}")]}
    given = _json_object(text)
    if given is not None:
        return given
    texts = [name for name, schema in properties.items() if schema.get("type") == "string"]
    if len(texts) == 1:
        return {texts[0]: text}
    raise InvalidInput(f"this agent takes a JSON object with {', '.join(properties)}", known=tuple(properties))


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None
