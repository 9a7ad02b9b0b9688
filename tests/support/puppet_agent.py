"""The agent that `tests.support.puppet` writes messages for, and the demo agent beside it; loaded by servers only."""

import asyncio
import hashlib
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.types import interrupt
from typing_extensions import override

from interlock import ask
from interlock.agents.ask_tools import ask_tools
from interlock.langchain import InterlockMiddleware
from tests.support.puppet import WORKSPACE, Turn, says
from tests.support.witness import ADDRESS


async def _tell(line: str) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(os.environ[ADDRESS]))
    writer.write(f"{line}\n".encode())
    await reader.readline()
    writer.close()
    await writer.wait_closed()


async def _pass(name: str) -> None:
    await _tell(f"did at:{name}")
    await _tell(f"block {name}")


class PuppetModel(BaseChatModel):
    @property
    @override
    def _llm_type(self) -> str:
        return "puppet"

    @override
    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        return self.bind(**kwargs)

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise NotImplementedError("a puppet streams")

    @override
    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        turn, prefix = _turn(messages)
        async for piece in _pieces(turn.get("say", ())):
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
        if "fail" in turn:
            raise RuntimeError(turn["fail"])
        for index, call in enumerate(turn.get("calls", ())):
            chunk = tool_call_chunk(
                name=call["name"], args=json.dumps(call["args"]), id=f"{prefix}_{index}", index=index
            )
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[chunk]))
        yield ChatGenerationChunk(message=AIMessageChunk(content="", chunk_position="last"))


async def _pieces(say: Sequence[str | dict[str, Any]]) -> AsyncIterator[str]:
    for piece in say:
        match piece:
            case str():
                yield piece
            case {"gate": name}:
                await _pass(name)
            case {"slowly": text, "seconds": seconds}:
                for word in text.split(" "):
                    await asyncio.sleep(seconds)
                    yield f"{word} "
            case {"flood": count, "text": text}:
                for number in range(count):
                    yield f"{number} {text} "
            case _:
                raise ValueError(f"unknown piece: {piece}")


def _turn(messages: Sequence[BaseMessage]) -> tuple[Turn, str]:
    """What to do next, and a prefix for call ids that is the same when the turn is made again."""
    start = max(index for index, message in enumerate(messages) if isinstance(message, HumanMessage))
    since = messages[start + 1 :]
    turns: list[Turn] = json.loads(messages[start].text)
    number = sum(isinstance(message, AIMessage) for message in since)
    told = [message.text for message in since if isinstance(message, ToolMessage)]
    turn = turns[number] if number < len(turns) else says(" | ".join(told) or "done")
    return turn, f"call_{hashlib.sha256(f'{start}:{number}'.encode()).hexdigest()[:16]}"


async def _note(name: str) -> str:
    """Do something free."""
    await _tell(f"did {name}")
    return f"noted {name}"


async def _hold(name: str) -> str:
    """Do something that takes until the gate opens."""
    await _tell(f"did {name}")
    await _pass(name)
    return f"held {name}"


async def _guarded(name: str) -> str:
    """Do something that a person has to allow."""
    await _tell(f"did {name}")
    if name.startswith("hold:"):
        await _pass(name)
    return f"done {name}"


async def _execute(command: str) -> str:
    """Run a command."""
    return await _guarded(command)


async def _write_file(path: str, content: str) -> str:
    """Write a file."""
    return await _guarded(path)


async def _pay(amount: float, to: str) -> str:
    """Pay somebody, which a person has to allow."""
    return await _guarded(f"{to}:{amount}")


async def _transfer(name: str, value: Any) -> str:
    """As LangGraph's documents write it: any value is asked with, and what is answered counts as true or false."""
    decision = interrupt(value)
    if decision:
        await _tell(f"did {name}")
    return f"the graph got {decision!r}"


async def _broken(name: str) -> str:
    """Fail."""
    await _tell(f"did {name}")
    raise ToolException(f"broken {name}")


async def _use_key(name: str) -> str:
    """Use a key that a person gave, by its name."""
    await _tell(f"did key:{hashlib.sha256(ask.secret(name).encode()).hexdigest()}")
    return f"used {name}"


async def _hurried(seconds: float, default: str | None = None) -> str:
    """Ask a person who has little time."""
    try:
        return ask.clarification("Quick?", ["yes", "no"], default=default, timeout=seconds)
    except ask.NotAnswered as error:
        return f"nobody: {error.reason}"


def _tool(name: str, function: Callable[..., Any]) -> BaseTool:
    return StructuredTool.from_function(coroutine=function, name=name, handle_tool_error=True)


_TOOLS = {
    "note": _note,
    "hold": _hold,
    "guarded": _guarded,
    "execute": _execute,
    "write_file": _write_file,
    "pay": _pay,
    "transfer": _transfer,
    "broken": _broken,
    "use_key": _use_key,
    "hurried": _hurried,
}


def agent() -> Any:
    return create_agent(
        PuppetModel(),
        tools=[*(_tool(name, function) for name, function in _TOOLS.items()), *ask_tools],
        middleware=[
            InterlockMiddleware(
                interrupt_on={
                    "guarded": {"display_name": "受控操作"},
                    **dict.fromkeys(("execute", "pay", "write_file"), True),
                },
                idempotent={"note"},
            )
        ],
    )


def demo() -> Any:
    """The demo agent, beside the puppet."""
    from interlock.agents.demo.agent import build

    return build(Path(os.environ[WORKSPACE]))
