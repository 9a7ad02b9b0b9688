"""The effect record around each tool call, and around `interlock.effect` in a plain node.

Intent before, result after. A recorded result is returned, not repeated. A call that asked a person is entered again.

Several calls in one task of a graph (a hand-written ToolNode runs all calls of a message in one) share the positions
by which LangGraph hands out answers. So that no call is ever given the answer of another, they are kept in order: the
first time they run side by side and the earliest one that asks is the one that is heard; once the task has answers
they run one after the other, and each uses up the positions of its own asks.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from typing import Any, cast

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from interlock.agents._langgraph import (
    Execute,
    ExecuteSync,
    Positions,
    guard_interrupts,
    node_attempt,
    task_id,
    wrap_tool_nodes,
)
from interlock.agents.ask_record import AskRecord, effects_around
from interlock.agents.asking import NotAnswered
from interlock.agents.context import RunContext, current, declared_idempotent
from interlock.domain.effect import NODE_EFFECT, EffectKey
from interlock.ports.journal import Recorded


def install() -> None:
    """Have every tool call of every hosted graph recorded, and every ask given its own answer only."""
    wrap_tool_nodes(_around_tool, _around_tool_sync, lambda: current.get() is not None)
    guard_interrupts(_asks)


def _asks() -> AskRecord | None:
    run = current.get()
    return None if run is None else run.asks


@dataclass(slots=True)
class _Turn:
    """One call's place among the calls of its task."""

    order: int
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    asked: bool = False


@dataclass(slots=True)
class _Scope:
    """The calls that share a task's positions, or those inside one of them."""

    one_by_one: bool
    turns: list[_Turn] = field(default_factory=list[_Turn])
    keys: set[str] = field(default_factory=set[str])
    """Of the effects that code named itself."""

    def enter(self, order: int | None) -> _Turn:
        turn = _Turn(len(self.turns) if order is None else order)
        self.turns.append(turn)
        return turn

    async def wait_for_earlier(self, turn: _Turn) -> bool:
        """Wait until every earlier call has ended; True when one of them asked, so that this one is not heard."""
        earlier = [other for other in self.turns if other.order < turn.order]
        for other in earlier:
            await other.ended.wait()
        return any(other.asked for other in earlier)


@dataclass(frozen=True, slots=True)
class _Call:
    """One thing to do to the world, as the journal knows it."""

    call_id: str
    tool: str
    args: Mapping[str, Any]
    order: int | None = None
    """Its place in the message that made it; None: in the order of entry."""
    idempotent: bool = False
    former_id: str | None = None


async def _recorded(run: RunContext, call: _Call, execute: Callable[[], Awaitable[Any]]) -> Any:
    """Execute the call between its intent and its result, or give the result that is on record."""
    task, positions, parent = task_id(), Positions(), _parent()
    inside = parent is not None and parent.task_id == task
    name = _scope_of(parent) if parent is not None and inside else f"{task}#{node_attempt()}"
    scope: _Scope = run.tasks.setdefault(name, _Scope(one_by_one=positions.has_answers))
    _name_once(scope, call)
    turn = scope.enter(call.order)
    try:
        if scope.one_by_one and await scope.wait_for_earlier(turn):
            turn.asked = True
            raise GraphInterrupt(())
        begun = await run.journal.begin(
            task,
            call.call_id,
            call.tool,
            call.args,
            idempotent=call.idempotent,
            parent=parent,
            # It has not ended, so nothing after it was ever asked: the answers that are left are its own.
            asks=positions.unused,
            former_id=call.former_id,
        )
        if isinstance(begun, Recorded):
            positions.use(begun.asks)
            return run.unpack(begun.result)
        return await _attempt(run, begun.key, scope, turn, positions, execute)
    except BaseException:
        # It did not come to its end, and may be tried again in the same node.
        scope.keys.discard(call.call_id)
        raise
    finally:
        turn.ended.set()


def _parent() -> EffectKey | None:
    around = effects_around.get()
    return around[-1] if around else None


def _scope_of(key: EffectKey) -> str:
    return f"{key.task_id}/{key.call_id}"


def _name_once(scope: _Scope, call: _Call) -> None:
    if call.order is not None:
        return
    if call.call_id in scope.keys:
        raise ValueError(
            f"interlock.effect: the key {call.tool!r} is used twice here, and the second effect would be taken for the "
            "first: give each effect of a node or tool a key of its own"
        )
    scope.keys.add(call.call_id)


async def _attempt(
    run: RunContext,
    key: EffectKey,
    scope: _Scope,
    turn: _Turn,
    positions: Positions,
    execute: Callable[[], Awaitable[Any]],
) -> Any:
    used_before = positions.used
    run.effect_began(key)
    run.tasks.pop(_scope_of(key), None)
    token = effects_around.set((*effects_around.get(), key))
    # What is said of this tool is not said of those that it calls.
    declared = declared_idempotent.set(False)
    try:
        result = await execute()
    except GraphBubbleUp:
        turn.asked = True
        await run.journal.waiting(key)
        if await scope.wait_for_earlier(turn):
            run.asks.unheard(key)
            raise GraphInterrupt(()) from None
        raise
    except Exception as error:
        await run.journal.failed(key, run.redact(f"{type(error).__name__}: {error}"))
        raise
    else:
        # Side by side, siblings move the counter too; but without answers, who comes to an end has asked nothing.
        asks = positions.used - used_before if scope.one_by_one else 0
        _silence(run, result)
        await run.journal.done(key, run.pack(result), asks, run.redact(_output(result)), failed=_has_failed(result))
        return result
    finally:
        declared_idempotent.reset(declared)
        effects_around.reset(token)
        run.effect_ended(key)


async def _around_tool(request: ToolCallRequest, execute: Execute) -> Any:
    run = current.get()
    if run is None or request.tool is None:
        return await execute(request)

    async def executed() -> Any:
        try:
            return await execute(request)
        except NotAnswered as error:
            return _not_answered(request, error)

    return await _recorded(run, _call(request), executed)


def _around_tool_sync(request: ToolCallRequest, execute: ExecuteSync) -> Any:
    run = current.get()
    if run is None or request.tool is None:
        return execute(request)
    call = _call(request)

    def executed() -> Any:
        try:
            return execute(request)
        except NotAnswered as error:
            return _not_answered(request, error)

    return run.record_here(lambda execution: _recorded(run, call, execution), executed)


def _not_answered(request: ToolCallRequest, error: NotAnswered) -> ToolMessage:
    """An ask that a tool left unanswered is its result, as a refusal would be: the agent goes on."""
    call = request.tool_call
    content = f"Not answered: {error.reason}. {call['name']} stopped there."
    return ToolMessage(content, name=call["name"], tool_call_id=call["id"] or "", status="error")


def _call(request: ToolCallRequest) -> _Call:
    call = request.tool_call
    metadata: Mapping[str, Any] = (request.tool.metadata if request.tool else None) or {}
    idempotent = declared_idempotent.get() or bool(metadata.get("idempotent")) or _only_hands_on(request)
    return _Call(call["id"] or "", call["name"], call["args"], _order(request), idempotent)


def _only_hands_on(request: ToolCallRequest) -> bool:
    """Whether it is the tool by which deepagents calls a subagent: what that does has records of its own."""
    code: Any = getattr(request.tool, "func", None) or getattr(request.tool, "coroutine", None)
    return request.tool_call["name"] == "task" and str(getattr(code, "__module__", "")).startswith("deepagents.")


def _order(request: ToolCallRequest) -> int:
    """The call's place in the message that made it: the same in every attempt, whichever starts first."""
    state: Any = request.state
    messages: Any = cast("dict[str, Any]", state).get("messages") if isinstance(state, dict) else state
    messages = getattr(messages, "messages", messages)
    for message in reversed(cast("list[Any]", messages) if isinstance(messages, list) else []):
        if isinstance(message, AIMessage):
            ids = [call["id"] for call in message.tool_calls]
            return ids.index(request.tool_call["id"]) if request.tool_call["id"] in ids else 0
    return 0


def _messages(result: Any) -> list[ToolMessage]:
    if isinstance(result, ToolMessage):
        return [result]
    if isinstance(result, Command):
        update: Any = cast("Command[Any]", result).update
        messages: Any = cast("dict[str, Any]", update).get("messages") if isinstance(update, dict) else None
        return _messages(messages)
    if isinstance(result, list):
        return [message for item in cast("list[Any]", result) for message in _messages(item)]
    return []


def _silence(run: RunContext, result: Any) -> None:
    """Take what people gave in confidence out of what the model is told: tools hand on texts of errors."""
    for message in _messages(result):
        message.content = run.redact.within(message.content)
        message.artifact = run.redact.within(message.artifact)


def _output(result: Any) -> str:
    return "\n".join(message.text for message in _messages(result))


def _has_failed(result: Any) -> bool:
    return any(message.status == "error" for message in _messages(result))


def effect(key: str, fn: Callable[[], Any], *, idempotent: bool = False) -> Any:
    """Do something to the world once, from a plain node or inside a tool: `fn` runs unless its result is on record.

    `key` names it within the node or the tool call, and is used once there. An async `fn` gives an awaitable; a sync
    one runs at once, and belongs in a sync node, which LangGraph runs in a worker thread.
    """
    run = current.get()
    if run is None:
        return fn()
    parent = _parent()
    former_id = NODE_EFFECT + key
    inside = f"{parent.call_id}/" if parent is not None and parent.task_id == task_id() else ""
    call = _Call(f"{NODE_EFFECT}{inside}{key}", key, {}, idempotent=idempotent, former_id=former_id if inside else None)
    if iscoroutinefunction(fn):
        return _recorded(run, call, fn)
    if _on_loop(run):
        raise RuntimeError(
            "interlock.effect with a sync function would block the server here: "
            "in an async node pass an async function, and await what effect returns"
        )
    return run.record_here(lambda execution: _recorded(run, call, execution), fn)


def _on_loop(run: RunContext) -> bool:
    try:
        return asyncio.get_running_loop() is run.loop
    except RuntimeError:
        return False
