"""A chat model without a model: it reads a few plain phrases, calls tools, streams like a real one.

What it says is a function of the conversation alone, so that a run that is tried again after a crash says the same.
"""

import hashlib
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from typing_extensions import override

from interlock.agents.demo import wording
from interlock.agents.demo.builders import Calls
from interlock.agents.demo.outcomes import Outcome, outcome_of
from interlock.agents.demo.phrases import Incomplete, Plan, Talk, language_of, understand
from interlock.agents.demo.replies import lead_in, report

_PIECES = re.compile(r"[\u3000-\u9fff\uff00-\uffef]{1,3}|[^\s\u3000-\u9fff\uff00-\uffef]{0,16}\s{0,16}", re.DOTALL)
_ARGS_PIECE = 24


class ScriptedChatModel(BaseChatModel):
    @property
    @override
    def _llm_type(self) -> str:
        return "interlock-scripted"

    @override
    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        # It knows its tools by heart; a call to one that is not there is answered by the agent's tool node.
        return self.bind(**kwargs)

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        said = reply_to(messages)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(said.text, tool_calls=list(said.calls)))])

    @override
    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        yield from (ChatGenerationChunk(message=chunk) for chunk in _chunks(reply_to(messages)))

    @override
    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in _chunks(reply_to(messages)):
            yield ChatGenerationChunk(message=chunk)


@dataclass(frozen=True, slots=True)
class Said:
    text: str
    calls: tuple[ToolCall, ...] = ()


def reply_to(messages: Sequence[BaseMessage]) -> Said:
    """What the model says next in this conversation."""
    start = next((at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], HumanMessage)), None)
    if start is None:
        return Said(wording.TALK["greeting"]["en"])
    text = messages[start].text
    language = language_of(text)
    wish = understand(text, _last_path(messages[:start]))
    match wish:
        case Talk(topic):
            return Said(wording.TALK[topic][language])
        case Incomplete(missing):
            return Said(wording.INCOMPLETE[missing][language])
        case Plan(steps):
            pass
    begun = _outcomes(messages[start + 1 :])
    if len(begun) < len(steps) and all(outcome.good for step in begun[-1:] for outcome in step):
        calls = steps[len(begun)]
        return Said(lead_in(calls, language, first=not begun), _with_ids(calls, messages))
    return Said(report([outcome for step in begun for outcome in step], steps[len(begun) :], language))


def _outcomes(turn: Sequence[BaseMessage]) -> list[list[Outcome]]:
    """How the calls of this turn ended, step by step."""
    results = {message.tool_call_id: message for message in turn if isinstance(message, ToolMessage)}
    asked = [message.tool_calls for message in turn if isinstance(message, AIMessage) and message.tool_calls]
    return [[outcome_of(call, results.get(call["id"] or "")) for call in calls] for calls in asked]


def _last_path(messages: Sequence[BaseMessage]) -> str | None:
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            paths = [call["args"]["path"] for call in message.tool_calls if call["args"].get("path", ".") != "."]
            if paths:
                return paths[-1]
    return None


def _with_ids(calls: Calls, messages: Sequence[BaseMessage]) -> tuple[ToolCall, ...]:
    """Ids that no other message of the conversation has, and that are the same when this one is made again."""
    history = json.dumps([[message.type, message.id, message.text] for message in messages])
    return tuple(
        ToolCall(
            name=call.tool,
            args=dict(call.args),
            id=f"call_{hashlib.sha256(f'{number}:{history}'.encode()).hexdigest()[:24]}",
            type="tool_call",
        )
        for number, call in enumerate(calls)
    )


def _chunks(said: Said) -> Iterator[AIMessageChunk]:
    for piece in filter(None, _PIECES.findall(said.text)):
        yield AIMessageChunk(content=piece)
    for index, call in enumerate(said.calls):
        yield _call_chunk(index, "", name=call["name"], id=call["id"])
        args = json.dumps(call["args"], ensure_ascii=False)
        for at in range(0, len(args), _ARGS_PIECE):
            yield _call_chunk(index, args[at : at + _ARGS_PIECE])
    yield AIMessageChunk(content="", chunk_position="last")


def _call_chunk(index: int, args: str, *, name: str | None = None, id: str | None = None) -> AIMessageChunk:
    return AIMessageChunk(content="", tool_call_chunks=[tool_call_chunk(name=name, args=args, id=id, index=index)])
