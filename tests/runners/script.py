"""A chat model that says what a test wrote down, and graphs around it."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from pydantic import Field

Call = tuple[str, str, dict[str, Any]]
"""The id, the tool and the arguments of a tool call."""


class Script(BaseChatModel):
    """Says its n-th line when the history has n messages of the model: the same again when the same is asked again."""

    lines: list[AIMessage]
    heard: list[list[BaseMessage]] = Field(default_factory=list[list[BaseMessage]])

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.heard.append(messages)
        said = sum(isinstance(message, AIMessage) for message in messages)
        line = self.lines[said] if said < len(self.lines) else AIMessage("done")
        return ChatResult(generations=[ChatGeneration(message=line.model_copy(deep=True))])


def calls(*made: Call) -> AIMessage:
    return AIMessage("", tool_calls=[{"id": one[0], "name": one[1], "args": one[2]} for one in made])


def script(*lines: AIMessage | Sequence[Call]) -> Script:
    return Script(lines=[line if isinstance(line, AIMessage) else calls(*line) for line in lines])


def agent(tools: Sequence[Any], *lines: AIMessage | Sequence[Call], middleware: Sequence[Any] = (), **more: Any) -> Any:
    """LangChain's agent on a script."""
    return cast("Any", create_agent(script(*lines), tools=list(tools), middleware=list(middleware), **more))


def by_hand(tools: Sequence[Any], *lines: AIMessage | Sequence[Call], **of_node: Any) -> Any:
    """A hand-written agent: its ToolNode runs all calls of a message in one task."""
    model = script(*lines)

    def say(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    def go_on(state: MessagesState) -> str:
        last = state["messages"][-1]
        return "tools" if isinstance(last, AIMessage) and last.tool_calls else END

    builder: Any = StateGraph(MessagesState)
    builder.add_node("say", say).add_node("tools", ToolNode(list(tools), **of_node))
    builder.add_edge(START, "say").add_conditional_edges("say", go_on, ["tools", END]).add_edge("tools", "say")
    return builder


def line(state: type[Any], *nodes: Callable[..., Any]) -> Any:
    """A graph of these nodes, one after the other."""
    builder: Any = StateGraph(state)
    names = [node.__name__ for node in nodes]
    for name, node in zip(names, nodes, strict=True):
        builder.add_node(name, node)
    for before, after in zip([START, *names], [*names, END], strict=True) if names else ():
        builder.add_edge(before, after)
    return builder


def fan(state: type[Any], *nodes: Callable[..., Any]) -> Any:
    """A graph whose nodes run side by side."""
    builder: Any = StateGraph(state)
    for node in nodes:
        builder.add_node(node.__name__, node)
        builder.add_edge(START, node.__name__).add_edge(node.__name__, END)
    return builder
