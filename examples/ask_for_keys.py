"""ask.env_vars: a value that only the node sees; it is in no checkpoint, log, event or reply.

.venv/bin/interlock serve --agent keys=examples/ask_for_keys.py:agent
"""

from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import MessagesState, StateGraph

from interlock import ask


def connect(state: MessagesState) -> dict[str, Any]:
    try:
        given = ask.env_vars(
            [
                {"name": "SERVICE_TOKEN", "description": "from your account page"},
                {"name": "REGION", "sensitive": False, "required": False},
            ],
            timeout=3600,
        )
    except ask.NotAnswered as error:  # expired or cancelled
        return {"messages": [AIMessage(f"Not connected: {error.reason}.")]}
    token, region = given["SERVICE_TOKEN"], given.get("REGION", "anywhere")
    return {"messages": [AIMessage(f"Connected to {region} with a token of {len(token)} characters.")]}


agent = StateGraph(MessagesState).add_node(connect).set_entry_point("connect")
