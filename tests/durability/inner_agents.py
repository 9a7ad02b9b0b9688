"""Agents that effects, or calls of one message, call inside: each begins something, asks, and ends it."""

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from typing_extensions import TypedDict

import interlock
from interlock import ask
from tests.support.witness import say

NAMES = ("left", "right")


class Work(TypedDict):
    name: str
    heard: str


def begin(state: Work) -> dict[str, Any]:
    say(f"did begin {state['name']}")
    return {}


def consult(state: Work) -> dict[str, Any]:
    heard = ask.clarification(f"{state['name']}?", timeout=None)
    say(f"did end {state['name']}: {heard}")
    return {"heard": heard}


_builder: Any = StateGraph(Work)
_builder.add_node("begin", begin).add_node("consult", consult)
_worker: Any = _builder.add_edge(START, "begin").add_edge("begin", "consult").add_edge("consult", END).compile()


def work(name: str) -> str:
    return _worker.invoke({"name": name})["heard"]


def _effects(state: MessagesState) -> dict[str, Any]:
    for name in NAMES:
        interlock.effect(name, lambda name=name: work(name))
    return {"messages": [AIMessage("finished")]}


@tool
def delegate(name: str) -> str:
    """Let the worker do it."""
    return work(name) if name == "left" else name


def _speak(state: MessagesState) -> dict[str, Any]:
    calls = [{"name": "delegate", "args": {"name": name}, "id": f"c-{name}"} for name in NAMES]
    is_first = isinstance(state["messages"][-1], HumanMessage)
    return {"messages": [AIMessage("", tool_calls=calls) if is_first else AIMessage("finished")]}


def _goes_on(state: MessagesState) -> str:
    last = state["messages"][-1]
    return "tools" if isinstance(last, AIMessage) and last.tool_calls else END


effects: Any = StateGraph(MessagesState)
effects.add_node("work", _effects).add_edge(START, "work").add_edge("work", END)
tools: Any = StateGraph(MessagesState)
tools.add_node("speak", _speak).add_node("tools", ToolNode([delegate])).add_edge(START, "speak")
tools.add_conditional_edges("speak", _goes_on, ["tools", END]).add_edge("tools", "speak")
