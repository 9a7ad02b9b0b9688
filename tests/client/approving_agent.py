"""An agent that asks for the approvals that the message describes, and says how each was decided; loaded by servers."""

import json
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import MessagesState, StateGraph

from interlock import ask


def work(state: MessagesState) -> dict[str, Any]:
    said: list[str] = []
    for wanted in json.loads(state["messages"][-1].text):
        answer = ask.approval(wanted["tool"], wanted["args"], "A test's tool", wanted["risk"])
        args = json.dumps(dict(answer.args), sort_keys=True)
        said.append(f"{wanted['tool']} {answer.decision} {args} {answer.message}".strip())
    return {"messages": [AIMessage("; ".join(said))]}


agent: Any = StateGraph(MessagesState).add_node(work).set_entry_point("work")  # pyright: ignore[reportUnknownMemberType]
