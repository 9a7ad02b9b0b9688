"""Tools that let another graph act which keeps its steps itself, or nowhere. What is done, the witness counts."""

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

import interlock
from tests.support.witness import say


def _calling(used: BaseTool) -> Any:
    """A hand-written agent that calls its tool once."""

    def speak(state: MessagesState) -> dict[str, Any]:
        last = state["messages"][-1]
        call: Any = {"name": used.name, "args": {"name": last.text}, "id": f"c-{used.name}"}
        said = AIMessage("", tool_calls=[call]) if isinstance(last, HumanMessage) else AIMessage("finished")
        return {"messages": [said]}

    def goes_on(state: MessagesState) -> str:
        last = state["messages"][-1]
        return "tools" if isinstance(last, AIMessage) and last.tool_calls else END

    graph: Any = StateGraph(MessagesState)
    graph.add_node("speak", speak).add_node("tools", ToolNode([used]))
    graph.add_edge(START, "speak").add_conditional_edges("speak", goes_on, ["tools", END]).add_edge("tools", "speak")
    return graph


def _act(name: str) -> str:
    say(f"did {name}")
    say(f"block {name}")
    return "sent"


@tool
def send(name: str) -> str:
    """Send it, and be held."""
    return _act(name)


@tool
def send_at_once(name: str) -> str:
    """Send it."""
    say(f"did {name}")
    return "sent"


def _delegating(call: Callable[[Any], Any], *, after: Callable[[str], Any] = str) -> Any:
    @tool
    def delegate(name: str) -> str:
        """Let another agent do it."""
        call({"messages": [HumanMessage(name)]})
        after(name)
        return "delegated"

    return _calling(delegate)


def _hold(name: str) -> None:
    say(f"block {name}")


def _mail(name: str) -> None:
    interlock.effect("mail", lambda: _act(f"{name}mail."))


OWN: Any = {"configurable": {"thread_id": "own"}}
_memory, _plain, _none = InMemorySaver(), _calling(send).compile(), _calling(send).compile(checkpointer=False)
_with_memory = _calling(send).compile(checkpointer=_memory)
_at_once = _calling(send_at_once).compile(checkpointer=_memory)
_kept = _calling(send_at_once).compile()

own_thread = _delegating(lambda given: _with_memory.invoke(given, OWN))
at_exit = _delegating(lambda given: _plain.invoke(given, durability="exit"))
no_saver = _delegating(lambda given: _none.invoke(given))
after_own_thread = _delegating(lambda given: _at_once.invoke(given, OWN), after=_hold)
mail_after_kept = _delegating(_kept.invoke, after=_mail)
