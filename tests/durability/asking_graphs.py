"""Graphs whose calls and effects ask before they act: staging may be deleted, PRODUCTION never is.

The witness counts what they do, and every answer that came to an ask other than its own.
"""

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

import interlock
from interlock import ask
from tests.support.witness import say

TARGETS = ("staging", "PRODUCTION")


def _delete(what: str, name: str) -> str:
    question = f"Delete {what} of {name}?"
    heard = ask.clarification(question, timeout=None)
    if not heard.endswith(question):
        say(f"did misheard:{name}")
    if not heard.startswith("yes"):
        return f"kept {what}"
    say(f"did {what}:{name}")
    return f"deleted {what}"


@tool
def delete(what: str, name: str) -> str:
    """Ask, then delete."""
    return _delete(what, name)


@tool
def wipe(what: str, name: str) -> str:
    """Delete by an effect inside, which asks."""
    return interlock.effect("wipe", lambda: _delete(what, name))


def _calling(used: Any, calls: Callable[[str], list[dict[str, Any]]]) -> Any:
    """A hand-written agent: its ToolNode runs all calls of the message in one task."""

    def speak(state: MessagesState) -> dict[str, Any]:
        last = state["messages"][-1]
        said = AIMessage("", tool_calls=calls(last.text)) if isinstance(last, HumanMessage) else AIMessage("finished")
        return {"messages": [said]}

    def goes_on(state: MessagesState) -> str:
        last = state["messages"][-1]
        return "tools" if isinstance(last, AIMessage) and last.tool_calls else END

    graph: Any = StateGraph(MessagesState)
    graph.add_node("speak", speak).add_node("tools", ToolNode([used]))
    graph.add_edge(START, "speak").add_conditional_edges("speak", goes_on, ["tools", END]).add_edge("tools", "speak")
    return graph


def _on_both(used: str) -> Callable[[str], list[dict[str, Any]]]:
    return lambda name: [{"name": used, "args": {"what": what, "name": name}, "id": f"c-{what}"} for what in TARGETS]


def _in_a_node(state: MessagesState) -> dict[str, Any]:
    name = str(state["messages"][-1].text)
    for what in TARGETS:
        interlock.effect(what, lambda what=what: _delete(what, name))
    return {"messages": [AIMessage("finished")]}


tool_node = _calling(delete, _on_both("delete"))
inner_effects = _calling(wipe, _on_both("wipe"))
plain_node: Any = StateGraph(MessagesState)
plain_node.add_node("work", _in_a_node).add_edge(START, "work").add_edge("work", END)

_helper = tool_node.compile()


@tool
def delegate(name: str) -> str:
    """Let another agent do it."""
    return str(_helper.invoke({"messages": [HumanMessage(name)]})["messages"][-1].text)


subagent = _calling(delegate, lambda name: [{"name": "delegate", "args": {"name": name}, "id": "c-delegate"}])
