"""Graphs whose calls and effects ask before they act: staging may be deleted, PRODUCTION never is.

The witness counts what they do, and every answer that came to an ask other than its own.
"""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
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
        with suppress(interlock.EffectSkipped):
            interlock.effect(what, lambda what=what: _delete(what, name))
    return {"messages": [AIMessage("finished")]}


tool_node = _calling(delete, _on_both("delete"))
inner_effects = _calling(wipe, _on_both("wipe"))

_deleted: set[str] = set()


def _over_what_is_left(state: MessagesState) -> dict[str, Any]:
    """The list is shorter when the node is entered again in the same life, and whole again in the next one."""
    name = str(state["messages"][-1].text)
    for what in TARGETS:
        if f"{what}:{name}" not in _deleted:
            with suppress(interlock.EffectSkipped):
                interlock.effect(what, lambda what=what: _delete(what, name))
            _deleted.add(f"{what}:{name}")
    return {"messages": [AIMessage("finished")]}


async def _side_by_side(state: MessagesState) -> dict[str, Any]:
    """Plain asks, in another order each time; the deletions come after them, each once."""
    name = str(state["messages"][-1].text)

    async def agreed(what: str) -> bool:
        for _ in range(random.randint(0, 5)):
            await asyncio.sleep(0)
        question = f"Delete {what} of {name}?"
        heard = ask.clarification(question, timeout=None)
        if not heard.endswith(question):
            say(f"did misheard:{name}")
        return heard.startswith("yes")

    for what, is_agreed in zip(TARGETS, await asyncio.gather(*map(agreed, TARGETS)), strict=True):

        async def delete_it(what: str = what) -> None:
            say(f"did {what}:{name}")

        if is_agreed:
            with suppress(interlock.EffectSkipped):
                await interlock.effect(what, delete_it)
    return {"messages": [AIMessage("finished")]}


def _alone(node: Any) -> Any:
    graph: Any = StateGraph(MessagesState)
    return graph.add_node("work", node).add_edge(START, "work").add_edge("work", END)


plain_node = _alone(_in_a_node)
shrinking_list = _alone(_over_what_is_left)
side_by_side = _alone(_side_by_side)

_helper = tool_node.compile()


@tool
def delegate(name: str) -> str:
    """Let another agent do it."""
    return str(_helper.invoke({"messages": [HumanMessage(name)]})["messages"][-1].text)


subagent = _calling(delegate, lambda name: [{"name": "delegate", "args": {"name": name}, "id": "c-delegate"}])


def _as_told(text: str) -> list[dict[str, Any]]:
    what, _, name = text.partition(" ")
    return [{"name": "delete", "args": {"what": what, "name": name}, "id": "c1"}]


_deleter = _calling(delete, _as_told).compile()


@tool
def send_for(what: str, name: str) -> str:
    """Let another agent delete one of them; its calls have the ids that those of the other's agent have."""
    return str(_deleter.invoke({"messages": [HumanMessage(f"{what} {name}")]})["messages"][-1].text)


async def _agents_in_effects(state: MessagesState) -> dict[str, Any]:
    name = str(state["messages"][-1].text)

    async def effect(what: str) -> None:
        async def work() -> None:
            await _deleter.ainvoke({"messages": [HumanMessage(f"{what} {name}")]})

        for _ in range(random.randint(0, 5)):
            await asyncio.sleep(0)
        with suppress(interlock.EffectSkipped):
            await interlock.effect(what, work)

    await asyncio.gather(*map(effect, TARGETS))
    return {"messages": [AIMessage("finished")]}


subagents = _calling(send_for, _on_both("send_for"))
agents_in_effects = _alone(_agents_in_effects)


async def _agents_side_by_side(state: MessagesState) -> dict[str, Any]:
    name = str(state["messages"][-1].text)

    async def work(what: str) -> None:
        for _ in range(random.randint(0, 5)):
            await asyncio.sleep(0)
        await _deleter.ainvoke({"messages": [HumanMessage(f"{what} {name}")]})

    await asyncio.gather(*map(work, TARGETS))
    return {"messages": [AIMessage("finished")]}


_worked: set[str] = set()


def _agents_over_what_is_left(state: MessagesState) -> dict[str, Any]:
    name = str(state["messages"][-1].text)
    for what in TARGETS:
        if f"{what}:{name}" not in _worked:
            _deleter.invoke({"messages": [HumanMessage(f"{what} {name}")]})
            _worked.add(f"{what}:{name}")
    return {"messages": [AIMessage("finished")]}


agents_side_by_side = _alone(_agents_side_by_side)
agents_in_a_runnable = _alone(RunnableLambda(_agents_side_by_side))
agents_in_line = _alone(_agents_over_what_is_left)
