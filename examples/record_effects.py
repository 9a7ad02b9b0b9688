"""interlock.effect: what a plain node does to the world is recorded, so that a crash does not repeat it.

.venv/bin/interlock serve --agent orders=examples/record_effects.py:agent
"""

from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import MessagesState, StateGraph

import interlock
from interlock import ask


def reserve() -> str:
    # The key is the same in every attempt: a service that knows it makes no second reservation.
    return f"reserved as {interlock.idempotency_key().rpartition(':')[2]}"


def charge(amount: str) -> str:
    return f"charged {amount}"


def order(state: MessagesState) -> dict[str, Any]:
    held = interlock.effect("reserve", reserve, idempotent=True)  # cut short: simply done again
    amount = ask.clarification(f"The table is {held}. Charge how much?")
    paid = interlock.effect("charge", lambda: charge(amount))  # cut short: a person decides
    return {"messages": [AIMessage(f"{held}, {paid}")]}


agent = StateGraph(MessagesState).add_node(order).set_entry_point("order")
