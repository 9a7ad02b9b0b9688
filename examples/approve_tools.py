"""LangChain's create_agent with InterlockMiddleware: calls of send_mail are put to a person first.

.venv/bin/interlock serve --agent mail=examples/approve_tools.py:agent
"""

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from interlock.langchain import InterlockMiddleware


class StandIn(BaseChatModel):
    """So that the example needs no key; a real one is create_agent("openai:gpt-5", ...)."""

    _llm_type = "stand-in"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        last = messages[-1]
        call = {"name": "send_mail", "args": {"to": last.text}, "id": f"call_{len(messages)}"}
        said = AIMessage(last.text) if last.type == "tool" else AIMessage("I will.", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=said)])


def send_mail(to: str) -> str:
    """Send the monthly report."""
    return f"Sent to {to}."


gate = InterlockMiddleware(interrupt_on={"send_mail": {"risk_level": "high"}})
agent = create_agent(StandIn(), tools=[send_mail], middleware=[gate])
