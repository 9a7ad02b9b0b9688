"""Hand-written graphs for a server that is broken in many ways. What they do to the world, the witness counts."""

import threading
from itertools import pairwise
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph

import interlock
from interlock import ask
from tests.support.witness import say

DEADLINE_SECONDS = 6.0


def _name(state: MessagesState) -> str:
    return str(state["messages"][-1].text)


def _said(text: str) -> dict[str, Any]:
    return {"messages": [AIMessage(text)]}


def _in_a_row(**nodes: Any) -> Any:
    graph: Any = StateGraph(MessagesState)
    for name, node in nodes.items():
        graph.add_node(name, node)
    for before, after in pairwise([START, *nodes, END]):
        graph.add_edge(before, after)
    return graph


def _deploying(state: MessagesState) -> dict[str, Any]:
    """Asks, and does it once it may, in the same node: after a crash the whole node runs again.

    `held NAME` begins to do it only when the witness lets it.
    """
    held, _, name = _name(state).rpartition(" ")
    if name == "hello":
        return _said("hello to you")
    if ask.approval("deploy", {"name": name}).decision != "accept":
        return _said(f"refused {name}")
    if held:
        say(f"block {name}")
    interlock.effect("deploy", lambda: say(f"did {name}"))
    return _said(f"finished {name}")


def _hurried(state: MessagesState) -> dict[str, Any]:
    name = _name(state)
    try:
        decision = ask.approval("deploy", {"name": name}, timeout=DEADLINE_SECONDS).decision
    except ask.NotAnswered:
        return _said(f"nobody answered about {name}")
    say(f"did {name}")
    return _said(f"finished {name} with {decision}")


def _deletes(what: str, name: str) -> bool:
    if ask.approval("delete", {"what": what, "name": name}, f"delete {what}?").decision != "accept":
        return False
    interlock.effect(what, lambda: say(f"did {what}:{name}"))
    return True


def _deleting_both(state: MessagesState) -> dict[str, Any]:
    name = _name(state)
    both = _deletes("staging", name) and _deletes("PRODUCTION", name)
    return _said(f"finished {name}" if both else f"refused {name}")


def _deleting_staging(state: MessagesState) -> dict[str, Any]:
    return {} if _deletes("staging", _name(state)) else _said(f"refused {_name(state)}")


def _deleting_production(state: MessagesState) -> dict[str, Any]:
    name = _name(state)
    if name.startswith("refused"):
        return {}
    return _said(f"finished {name}" if _deletes("PRODUCTION", name) else f"refused {name}")


def _lingering(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
    """Leaves a thread behind, which writes to the graph's state when the witness lets it, however the run ended."""
    name = _name(state)
    if name == "hello":
        return _said("hello to you")
    configured = config.get("configurable", {})
    saver = configured["__pregel_checkpointer"]

    def write_late() -> None:
        say(f"block late:{name}")
        stored = saver.get_tuple({"configurable": {"thread_id": configured["thread_id"]}})
        for what, write in {
            "writes": lambda: saver.put_writes(stored.config, [("messages", [AIMessage("late")])], "late"),
            "checkpoint": lambda: saver.put(stored.config, {**stored.checkpoint, "id": "late"}, stored.metadata, {}),
        }.items():
            try:
                write()
                say(f"did {what}:taken:{name}")
            except Exception as error:
                say(f"did {what}:{type(error).__name__}:{name}")

    threading.Thread(target=write_late, daemon=True).start()
    say(f"did {name}")
    say(f"block {name}")
    return {}


def _finishing(state: MessagesState) -> dict[str, Any]:
    name = _name(state)
    return {} if name.startswith("hello") else _said(f"finished {name}")


deploy = _in_a_row(work=_deploying)
hurried = _in_a_row(work=_hurried)
one_node = _in_a_row(work=_deleting_both)
two_nodes = _in_a_row(staging=_deleting_staging, production=_deleting_production)
lingering = _in_a_row(work=_lingering, finish=_finishing)
