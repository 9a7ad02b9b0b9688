"""From what a run was started with to the input of its graph, whatever the graph's state is made of."""

import json
from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langgraph.types import All, Command
from langgraph.types import Send as SendTo

from interlock.domain.errors import InvalidInput
from interlock.domain.run_input import GraphCommand, GraphInput, MessageInput, Nodes, updates_in
from interlock.runners.loading import HostedAgent
from interlock.runners.transcript import close_calls


def graph_input(
    agent: HostedAgent, run_id: str, given: MessageInput | GraphInput, messages: Sequence[BaseMessage]
) -> Any:
    """`messages` are those that the graph has; what they leave open is closed, if it takes messages."""
    if isinstance(given, MessageInput):
        return _of_message(agent, run_id, given, messages)
    if given.command is not None:
        return None if given.command == GraphCommand() else _command(given.command)
    added = _fields(given.values)
    if not isinstance(added.get("messages"), list):
        return given.values
    new = cast("list[Any]", added["messages"])
    results = {cast("dict[str, Any]", one).get("tool_call_id") for one in new if isinstance(one, dict)}
    missing = [one for one in close_calls(messages) if one.tool_call_id not in results]
    return {**added, "messages": [*missing, *new]}


def _fields(values: object) -> dict[str, Any]:
    return cast("dict[str, Any]", values) if isinstance(values, dict) else {}


def _of_message(agent: HostedAgent, run_id: str, given: MessageInput, messages: Sequence[BaseMessage]) -> Any:
    """A message for a graph that has messages; else the text for its one text field, or a JSON object as it is.

    The system message stands at the beginning of a conversation or nowhere: providers refuse it in the middle of one.
    """
    properties, text = agent.input, given.text
    if "messages" in properties or not properties:
        begins = given.system and not messages
        before = [SystemMessage(given.system, id=f"sys_{run_id}")] if begins else close_calls(messages)
        return {"messages": [*before, HumanMessage(text, id=f"msg_{run_id}")]}
    values = _json_object(text)
    if values is not None:
        return values
    texts = [name for name, schema in properties.items() if schema.get("type") == "string"]
    if len(texts) == 1:
        return {texts[0]: text}
    raise InvalidInput(f"this agent takes a JSON object with {', '.join(properties)}")


def nodes_to_stop_at(compiled: All | Sequence[str], own: Nodes) -> All | list[str] | None:
    """Where a run stops: LangGraph takes those of a run in place of those that the graph was compiled with."""
    if not own:
        return None
    return "*" if "*" in (compiled, own) else [*compiled, *own]


def _command(command: GraphCommand) -> Command[Any]:
    goto = [one if isinstance(one, str) else SendTo(one.node, one.input) for one in command.goto]
    updates = updates_in(command.update)
    return Command(update=command.update if updates is None else updates, goto=cast("Any", goto))


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None
