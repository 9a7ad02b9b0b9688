"""An agent of LangChain's `create_agent` for a server that is broken in many ways. The witness counts what it does."""

from typing import Any

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool

import interlock
from interlock.langchain import InterlockMiddleware
from tests.support.witness import say


class Obedient(BaseChatModel):
    """Calls the tool that the message names, `TOOL NAME`, and then tells what came of it."""

    @property
    def _llm_type(self) -> str:
        return "obedient"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_args: Any, **_options: Any) -> ChatResult:
        last = messages[-1]
        if not isinstance(last, HumanMessage):
            said = AIMessage(f"finished: {last.text}")
        elif last.text == "hello":
            said = AIMessage("hello to you")
        else:
            verb, _, name = last.text.partition(" ")
            said = AIMessage("", tool_calls=[{"name": verb, "args": {"name": name}, "id": f"call_{len(messages)}"}])
        return ChatResult(generations=[ChatGeneration(message=said)])


@tool
def write(name: str) -> str:
    """Do it; doing it twice is twice too often. A person is asked first."""
    say(f"did {name}")
    return f"wrote {name}"


@tool
def put(name: str) -> str:
    """Do it under a key by which the world knows a repetition. A person is asked first."""
    say(f"did {name}:{interlock.idempotency_key()}")
    return f"put {name}"


@tool
def hold(name: str) -> str:
    """Do it at once, and only end when the witness lets go."""
    say(f"did {name}")
    say(f"block {name}")
    say(f"did end:{name}")
    return f"held {name}"


@tool
def hold_keyed(name: str) -> str:
    """The same, under a key by which the world knows a repetition."""
    say(f"did {name}:{interlock.idempotency_key()}")
    say(f"block {name}")
    say(f"did end:{name}")
    return f"held {name}"


tools: Any = create_agent(
    Obedient(),
    [write, put, hold, hold_keyed],
    middleware=[InterlockMiddleware({"write": True, "put": True}, idempotent={"put", "hold_keyed"})],
)
