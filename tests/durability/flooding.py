"""A graph that asks as many questions at once as its message says."""

from typing import Any

from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send, interrupt


def _spread(state: MessagesState) -> list[Send]:
    return [Send("one", {"number": number}) for number in range(int(str(state["messages"][-1].text)))]


def _one(state: dict[str, Any]) -> dict[str, Any]:
    interrupt(f"Which is number {state['number']}?")
    return {}


_graph: Any = StateGraph(MessagesState)
_graph.add_node("one", _one)
_graph.add_conditional_edges(START, _spread, ["one"])
flood = _graph
