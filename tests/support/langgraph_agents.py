"""Graphs for the tests of the langgraph face; loaded by servers only."""

import operator
from typing import Annotated, Any, TypedDict

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send, interrupt

from tests.support.witness import say


class State(TypedDict, total=False):
    q: str
    out: Annotated[list[Any], operator.add]


def _graph(*nodes: Any, side_by_side: bool = False) -> Any:
    graph: Any = StateGraph(State)
    before = START
    for node in nodes:
        graph.add_node(node.__name__, node)
        graph.add_edge(START if side_by_side else before, node.__name__)
        before = node.__name__
    graph.add_edge(before, END)
    return graph


def staging(state: State) -> dict[str, Any]:
    return {"out": [interrupt({"question": f"delete {state.get('q')}/staging?"})]}


def production(state: State) -> dict[str, Any]:
    answer = interrupt({"question": f"delete {state.get('q')}/PRODUCTION?"})
    say(f"did {state.get('q')}/production")
    return {"out": [answer]}


def both(state: State) -> dict[str, Any]:
    return {"out": [*staging(state)["out"], *production(state)["out"]]}


def first(state: State) -> dict[str, Any]:
    get_stream_writer()({"at": "first"})
    return {"out": ["first"]}


def second(state: State) -> dict[str, Any]:
    return {"out": ["second"]}


def fails(state: State) -> dict[str, Any]:
    raise RuntimeError("it broke")


def review(state: State) -> dict[str, Any]:
    actions = [{"name": "pay", "args": {"amount": n, "to": "ann"}, "description": f"pay {n}"} for n in (1, 2)]
    configs = [{"action_name": "pay", "allowed_decisions": ["approve", "edit", "reject"]} for _ in actions]
    return {"out": [interrupt({"action_requests": actions, "review_configs": configs})]}


def human(state: State) -> dict[str, Any]:
    config = {"allow_accept": True, "allow_edit": True, "allow_respond": True, "allow_ignore": True}
    asked = {"action_request": {"action": "send", "args": {"text": "hi"}}, "config": config, "description": "send it"}
    return {"out": [interrupt([asked])]}


def blocked(state: State) -> dict[str, Any]:
    say(f"did at:{state.get('q')}")
    say(f"block {state.get('q')}")
    return {"out": ["went on"]}


def inner(state: State) -> dict[str, Any]:
    return {"out": [interrupt({"question": f"delete {state.get('q')}/inner?"})]}


def three(state: State) -> list[Send]:
    return [Send("staging", {"q": f"{state.get('q')}-{n}"}) for n in range(3)]


def _nested() -> Any:
    graph: Any = StateGraph(State)
    graph.add_node("outer", _graph(inner).compile())
    graph.add_edge(START, "outer")
    graph.add_edge("outer", END)
    return graph


def _deep() -> Any:
    """A graph in a graph in a graph, with a step before and after the two questions at the bottom."""
    middle: Any = StateGraph(State)
    middle.add_node("first", first)
    middle.add_node("bottom", _graph(inner, staging).compile())
    middle.add_node("second", second)
    middle.add_edge(START, "first")
    middle.add_edge("first", "bottom")
    middle.add_edge("bottom", "second")
    graph: Any = StateGraph(State)
    graph.add_node("outer", middle.compile())
    graph.add_node("last", second)
    graph.add_edge(START, "outer")
    graph.add_edge("outer", "last")
    return graph


def _fan() -> Any:
    graph: Any = StateGraph(State)
    graph.add_node("staging", staging)
    graph.add_conditional_edges(START, three, ["staging"])
    return graph


TOOLS: dict[str, Any] = {}
"""What is called from here LangGraph does not find in a node's code."""


def tools(state: State) -> dict[str, Any]:
    return {"out": [*TOOLS["plain"].invoke({"q": state.get("q")})["out"], "helped"]}


one_node = _graph(both)
two_nodes = _graph(staging, production)
pair = _graph(staging, production, side_by_side=True)
plain = _graph(first, second)
broken = _graph(fails)
hitl = _graph(review)
inbox = _graph(human)
slow = _graph(blocked, second)
helped = _graph(tools)
TOOLS["plain"] = plain.compile()
late = _graph(first, production)
fan = _fan()
nested = _nested()
deep = _deep()
