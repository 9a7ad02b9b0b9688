"""The graph that both sides run: a LangChain agent with one tool that needs approval."""

from typing import Any, cast

from langchain import agents
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool


class OneCallModel(BaseChatModel):
    """Calls the tool once, then says that it is done: as little time of a model's own as there can be."""

    @property
    def _llm_type(self) -> str:
        return "one-call"

    def bind_tools(self, tools: Any, **kwargs: Any) -> "OneCallModel":
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        if isinstance(messages[-1], ToolMessage):
            message = AIMessage("It is done.")
        else:
            call = {"name": "touch", "args": {"name": "a"}, "id": f"call_{len(messages)}"}
            message = AIMessage("I will.", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


@tool
def touch(name: str) -> str:
    """Touch a thing."""
    return f"touched {name}"


def build() -> Any:
    return cast("Any", agents).create_agent(
        OneCallModel(), tools=[touch], middleware=[HumanInTheLoopMiddleware(interrupt_on={"touch": True})]
    )
