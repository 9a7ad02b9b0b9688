"""Graphs with breakpoints in the graphs inside of them. What runs behind a breakpoint, the witness counts."""

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt

from tests.support.witness import say


def _line(**nodes: Any) -> Any:
    graph: Any = StateGraph(MessagesState)
    names = list(nodes)
    for name, node in nodes.items():
        graph.add_node(name, node)
    for before, after in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(before, after)
    return graph


def prepare(state: MessagesState) -> dict[str, Any]:
    return {"messages": [AIMessage("prepared")]}


def act(state: MessagesState) -> dict[str, Any]:
    say(f"did {state['messages'][0].text}")
    return {"messages": [AIMessage("acted")]}


def act_again(state: MessagesState) -> dict[str, Any]:
    say(f"did {state['messages'][0].text}again.")
    return {"messages": [AIMessage("acted again")]}


def finish(state: MessagesState) -> dict[str, Any]:
    return {"messages": [AIMessage("finished")]}


ACTING = _line(prepare=prepare, act=act).compile(interrupt_before=["act"])

own = _line(prepare=prepare, act=act, finish=finish).compile(interrupt_before=["act"])
as_node = _line(inner=ACTING, finish=finish)
after_node = _line(inner=_line(prepare=prepare, act=act).compile(interrupt_after=["prepare"]), finish=finish)
after_last = _line(
    inner=_line(prepare=prepare).compile(interrupt_after=["prepare"]),
    act=act,
    finish=finish,
)
twice = _line(inner=_line(act=act, again=act_again).compile(interrupt_before=["act", "again"]), finish=finish)


def call(state: MessagesState) -> dict[str, Any]:
    ACTING.invoke({"messages": state["messages"]})
    return {"messages": [AIMessage("called")]}


in_function = _line(call=call, finish=finish)


@tool
def delegate(what: str) -> str:
    """Let another graph do it."""
    ACTING.invoke({"messages": [HumanMessage(what)]})
    return "delegated"


def speak(state: MessagesState) -> dict[str, Any]:
    last = state["messages"][-1]
    asked: Any = {"name": "delegate", "args": {"what": last.text}, "id": "d1"}
    return {"messages": [AIMessage("", tool_calls=[asked])]}


in_tool = _line(speak=speak, tools=ToolNode([delegate]), finish=finish)


def wonder(state: MessagesState) -> dict[str, Any]:
    interrupt({"question": "Which colour?"})
    return {"messages": [AIMessage("heard")]}


beside: Any = StateGraph(MessagesState)
beside.add_node("inner", ACTING).add_node("wonder", wonder).add_node("finish", finish)
beside.add_edge(START, "inner").add_edge(START, "wonder").add_edge(["inner", "wonder"], "finish")
beside.add_edge("finish", END)
