"""Agents whose state is no conversation."""

import operator
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class Order(TypedDict, total=False):
    item: str
    count: int
    note: str
    seen: Annotated[list[str], operator.add]


def confirm(state: Order) -> dict[str, Any]:
    return {"seen": [f"{state.get('count')} {state.get('item')}: {interrupt('really?')}"]}


orders: Any = StateGraph(Order)
orders.add_node("confirm", confirm)
orders.add_edge(START, "confirm")
orders.add_edge("confirm", END)
