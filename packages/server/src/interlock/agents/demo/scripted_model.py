"""A chat model without a model: it reads a few plain phrases, calls tools, streams like a real one.

What it says is a function of the conversation alone, so that a run that is tried again after a crash says the same.
"""

import hashlib
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from typing_extensions import override

from interlock.agents.demo.replies import Outcome, lead_in, outcome_of, report
from interlock.agents.demo.wishes import Incomplete, Plan, Step, Talk, Topic, language_of, understand
from interlock.texts import Locale, demo_text

_PIECES = re.compile(r"[\u3000-\u9fff\uff00-\uffef]{1,3}|[^\s\u3000-\u9fff\uff00-\uffef]{0,16}\s{0,16}", re.DOTALL)
_ARGS_PIECE = 24


class ScriptedChatModel(BaseChatModel):
    @property
    @override
    def _llm_type(self) -> str:
        return "interlock-scripted"

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        # It knows its tools by heart; a call to one that is not there is answered by the agent's tool node.
        return self.bind()

    @override
    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        turn = reply_to(messages)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(turn.text, tool_calls=list(turn.calls)))])

    @override
    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        yield from map(_chunk, _pieces(reply_to(messages)))

    @override
    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for piece in _pieces(reply_to(messages)):
            yield _chunk(piece)


@dataclass(frozen=True, slots=True)
class ModelTurn:
    text: str
    calls: tuple[ToolCall, ...] = ()


def reply_to(messages: Sequence[BaseMessage]) -> ModelTurn:
    """What the model says next in this conversation."""
    start = next((at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], HumanMessage)), None)
    if start is None:
        return ModelTurn(_talk("greeting", "en"))
    text = messages[start].text
    language = language_of(text)
    match understand(text, _last_path(messages[:start])):
        case Talk(topic):
            return ModelTurn(_talk(topic, language))
        case Incomplete(missing):
            return ModelTurn(demo_text(f"missing.{missing}", language))
        case Plan(steps):
            pass
    steps_begun = _outcomes(messages[start + 1 :])
    if len(steps_begun) < len(steps) and all(outcome.is_good for step in steps_begun[-1:] for outcome in step):
        calls = steps[len(steps_begun)]
        return ModelTurn(lead_in(calls, language, is_first=not steps_begun), _with_ids(calls, messages))
    return ModelTurn(report([outcome for step in steps_begun for outcome in step], steps[len(steps_begun) :], language))


def _talk(topic: Topic, language: Locale) -> str:
    shared = {key: demo_text(key, language) for key in ("abilities", "real_model")}
    return demo_text(f"talk.{topic}", language, **shared)


def _outcomes(turn: Sequence[BaseMessage]) -> list[list[Outcome]]:
    """How the calls of this turn ended, step by step."""
    results = {message.tool_call_id: message for message in turn if isinstance(message, ToolMessage)}
    call_lists = [message.tool_calls for message in turn if isinstance(message, AIMessage) and message.tool_calls]
    return [[outcome_of(call, results.get(call["id"] or "")) for call in calls] for calls in call_lists]


def _last_path(messages: Sequence[BaseMessage]) -> str | None:
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            paths = [call["args"]["path"] for call in message.tool_calls if call["args"].get("path", ".") != "."]
            if paths:
                return paths[-1]
    return None


def _with_ids(calls: Step, messages: Sequence[BaseMessage]) -> tuple[ToolCall, ...]:
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


def _pieces(turn: ModelTurn) -> Iterator[AIMessageChunk]:
    for piece in filter(None, _PIECES.findall(turn.text)):
        yield AIMessageChunk(content=piece)
    for index, call in enumerate(turn.calls):
        yield _call_piece(index, "", name=call["name"], id=call["id"])
        args = json.dumps(call["args"], ensure_ascii=False)
        for at in range(0, len(args), _ARGS_PIECE):
            yield _call_piece(index, args[at : at + _ARGS_PIECE])
    yield AIMessageChunk(content="", chunk_position="last")


def _call_piece(index: int, args: str, *, name: str | None = None, id: str | None = None) -> AIMessageChunk:
    return AIMessageChunk(content="", tool_call_chunks=[tool_call_chunk(name=name, args=args, id=id, index=index)])


def _chunk(piece: AIMessageChunk) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=piece)
