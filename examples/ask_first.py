from langchain_core.messages import AIMessage
from langgraph.graph import MessagesState, StateGraph

from interlock import ask, effect


def refund(state: MessagesState):
    order = state["messages"][-1].text
    answer = ask.approval("refund", {"order": order}, timeout=None)  # waits for a person
    yes = answer.decision == "accept"
    said = effect("pay", lambda: f"Refunded {order}.") if yes else f"Not refunded. {answer.message}"
    return {"messages": [AIMessage(said)]}


agent = StateGraph(MessagesState).add_node(refund).set_entry_point("refund")
