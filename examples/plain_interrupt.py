"""LangGraph's own interrupt(), and nothing of Interlock: the graph is hosted as it is.

.venv/bin/interlock serve --agent trips=examples/plain_interrupt.py:agent
"""

from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import MessagesState, StateGraph
from langgraph.types import interrupt


def choose(state: MessagesState) -> dict[str, Any]:
    # A value with `question` and `options` is shown as a question; any other value is shown as JSON.
    city = interrupt({"question": "Which city?", "options": ["Lisbon", "Oslo"]})
    return {"messages": [AIMessage(f"You chose {city}.")]}


def build() -> StateGraph[Any, Any, Any, Any]:
    graph = StateGraph(MessagesState)
    graph.add_node(choose)
    graph.set_entry_point("choose")
    return graph


agent = build  # a compiled graph, a StateGraph, or a function that returns either
