"""The effect record around each tool call, and around `interlock.effect` in a plain node.

Intent before, result after. A recorded result is returned, not repeated. A call that asked a person is entered again.

Several calls in one task of a graph (a hand-written ToolNode runs all calls of a message in one) share the positions
by which LangGraph hands out answers. So that no call is ever given the answer of another, they are kept in order: the
first time they run side by side and the earliest one that asks is the one that is heard; once the task has answers
they run one after the other, and each uses up the positions of its own asks.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from itertools import takewhile
from typing import Any, cast

from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langgraph.errors import GraphBubbleUp, GraphInterrupt, ParentCommand
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from interlock.agents import previews
from interlock.agents._langgraph import (
    Execute,
    ExecuteSync,
    Persistence,
    graph_space,
    mark_graphs,
    node_attempt,
    persistence_now,
    sibling_calls,
    task_id,
    wrap_tool_nodes,
)
from interlock.agents._langgraph_asks import Positions, guard_interrupts, unwrap_groups
from interlock.agents._langgraph_beside import bind_graphs
from interlock.agents._langgraph_breakpoints import guard_breakpoints
from interlock.agents._langgraph_numbers import Used, are_in_line, own_numbers
from interlock.agents.ask_record import AskRecord, actions_around, asker, effects_around
from interlock.agents.asking import REACHES_NOBODY, EffectSkipped, NotAnswered, as_one, refusal_text
from interlock.agents.context import RunContext, breakpoints_here, current, declared_idempotent, here
from interlock.domain.canonical import action_digest
from interlock.domain.effect import NODE_EFFECT, SKIPPED, SKIPPED_TEXT, UNKEPT, EffectKey, unique_call_id
from interlock.domain.errors import InterlockError
from interlock.domain.preview import FilePreview
from interlock.ports.journal import EffectStart, RecordedResult, Refusal

logger = logging.getLogger(__name__)


def install() -> None:
    """Have every tool call of every hosted graph recorded, and every ask given its own answer only."""
    wrap_tool_nodes(_around_tool, _around_tool_sync, _is_hosted)
    mark_graphs(_is_hosted)
    bind_graphs(_is_hosted)
    guard_interrupts(_asks, _check_ask)
    guard_breakpoints(breakpoints_here)
    unwrap_groups(as_one)


def _is_hosted() -> bool:
    return current.get() is not None


class EffectNotKept(InterlockError):
    """It would be done again after a crash, or once an ask is answered, and nobody would know."""

    code = "effect_not_kept"


def _asks() -> AskRecord | None:
    run = current.get()
    return None if run is None or persistence_now() in (Persistence.UNSAVED, Persistence.APART) else run.asks


def _check_ask() -> None:
    persistence = persistence_now() if current.get() is not None else None
    if persistence is Persistence.UNSAVED:
        raise EffectNotKept(
            "an ask in a graph that was compiled with checkpointer=False never gets its answer: compile it without"
        )
    if persistence is Persistence.APART:
        # The code that called it may answer it itself, so that it is no error.
        logger.warning("an interrupt is put to nobody, %s", REACHES_NOBODY)


class _Refused(Exception):
    """A person said no to this call, and the graph was about to run it all the same."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


@dataclass(slots=True, eq=False)
class _Turn:
    """One call's place among the calls of its task."""

    order: int
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    asked: bool = False


@dataclass(slots=True, eq=False)
class _CallTries:
    """A tool call, as often as it is tried."""

    source: Any
    digest: str
    has_ended: bool = False


@dataclass(slots=True)
class _Scope:
    """The calls that share a task's positions, or those inside one of them."""

    one_by_one: bool
    turns: list[_Turn] = field(default_factory=list[_Turn])
    keys: set[str] = field(default_factory=set[str])
    """Of the effects that code named itself."""
    made: dict[tuple[str, int], list[_CallTries]] = field(default_factory=dict[tuple[str, int], list[_CallTries]])
    """By id of a tool call, the calls with that id."""
    numbers: dict[str, Used] = field(default_factory=dict[str, Used])

    def key_of(self, call: "_Call") -> str:
        """The call's id, with a number where another call of the scope has the same."""
        if call.source is None:
            return call.call_id
        made = self.made.setdefault((call.call_id, call.rank), [])
        one = self._find_repeat(made, call)
        if one is None:
            one = _CallTries(call.source, call.digest)
            made.append(one)
        one.source = call.source
        return unique_call_id(call.call_id, made.index(one) + 1, call.rank)

    def _find_repeat(self, made: list[_CallTries], call: "_Call") -> _CallTries | None:
        """The call that this one is, where middleware tries it again, or code runs its ToolNode once more."""
        same = [one for one in made if one.source is call.source]
        return next(iter(same or [one for one in made if one.digest == call.digest and not one.has_ended]), None)

    def end(self, call: "_Call") -> None:
        """It gave a result: the same id with the same arguments is another call from now on."""
        for one in self.made.get((call.call_id, call.rank), []):
            one.has_ended = one.has_ended or one.source is call.source

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
    source: Any = None
    """What made it: the same thing when middleware tries it again, another one for each call of a ToolNode."""
    rank: int = 0
    """Its place among the calls of the message that have the same id."""
    made_as: Sequence[str] = ()
    """Where its id is none of the message's, those of the calls that it may be: middleware gave it another."""

    @property
    def digest(self) -> str:
        return action_digest(self.tool, self.args)


async def _record(run: RunContext, call: _Call, execute: Callable[[], Awaitable[Any]]) -> Any:
    """Execute the call between its intent and its result, or give the result that is on record."""
    if run.asks.is_over:
        # It was left behind by a node that has asked meanwhile, and will be run again with it.
        raise GraphInterrupt(())
    task, positions, parent = _task(), Positions(), _parent()
    inside = parent is not None and parent.task_id == task
    name = _scope_of(parent) if parent is not None and inside else f"{task}#{node_attempt()}"
    scope: _Scope = run.tasks.setdefault(name, _Scope(one_by_one=positions.has_answers))
    _name_once(scope, call)
    turn = scope.enter(call.order)
    run.effect_began(turn)
    try:
        if scope.one_by_one and await scope.wait_for_earlier(turn):
            turn.asked = True
            raise GraphInterrupt(())
        start = await run.journal.begin(
            task,
            scope.key_of(call),
            call.tool,
            call.args,
            idempotent=call.idempotent,
            parent=_keeper(run, call),
            # It has not ended, so nothing after it was ever asked: the answers that are left are its own.
            asks=positions.unused_count,
            former_id=call.former_id,
            space=graph_space(),
            asker=asker(),
            made_as=call.made_as,
        )
        if isinstance(start, Refusal):
            scope.end(call)
            raise _Refused(start)
        if isinstance(start, RecordedResult):
            left = run.asks.positions_used_by(start.key, start.asks, positions.ids, positions.taken)
            positions.use(left)
            scope.end(call)
            return _result(run, call, start)
        action = actions_around.set((*actions_around.get(), start.digest))
        try:
            with await _numbers(scope, start):
                result = await _attempt(run, start.key, scope, turn, positions, execute)
            scope.end(call)
            return result
        finally:
            actions_around.reset(action)
    except BaseException:
        # It did not come to its end, and may be tried again in the same node.
        scope.keys.discard(call.call_id)
        raise
    finally:
        turn.ended.set()
        run.effect_ended(turn)


def _result(run: RunContext, call: _Call, recorded: RecordedResult) -> Any:
    is_own = not recorded.key.is_tool_call
    if is_own and recorded.result.startswith(SKIPPED):
        raise EffectSkipped(call.tool)
    result = run.unpack(recorded.result)
    if is_own and isinstance(result, str) and result.startswith(SKIPPED_TEXT):
        raise EffectSkipped(call.tool)
    return result


async def _numbers(scope: _Scope, start: EffectStart) -> AbstractContextManager[None]:
    """Those of the graphs that the effect calls; one that an earlier version began keeps those of its task."""
    if start.is_again and await are_in_line():
        return nullcontext()
    return own_numbers(start.key.call_id, scope.numbers.setdefault(start.key.call_id, {}))


def _parent() -> EffectKey | None:
    around = effects_around.get()
    return around[-1] if around else None


def _task() -> str:
    return task_id() if persistence_now() is Persistence.KEPT else UNKEPT + task_id()


def _keeper(run: RunContext, call: _Call) -> EffectKey | None:
    """The effect around this one that is found again after a crash: about it people are asked, for all inside it."""
    keeper = next((key for key in reversed(effects_around.get()) if key.is_kept), None)
    how = persistence_now()
    if how is Persistence.KEPT or call.idempotent:
        return keeper
    if keeper is None:
        raise EffectNotKept(
            f"{call.tool} would run in a graph whose steps this run does not keep (it was called with a thread_id or a "
            "durability of its own, or compiled with checkpointer=False): after a crash nobody would know that it ran. "
            "Call that graph without them, or inside interlock.effect(...)"
        )
    if how is not Persistence.LATE:
        run.unsaved[keeper] = call.tool
    return keeper


def _refuse_a_second_time(run: RunContext, key: EffectKey, reason: GraphBubbleUp) -> None:
    """To be entered again would repeat what it did in a graph that nobody keeps: it stays open, and so in doubt."""
    if key not in run.unsaved or isinstance(reason, ParentCommand):
        return
    if not isinstance(reason, GraphInterrupt):
        raise reason
    raise EffectNotKept(
        f"an ask came after {run.unsaved[key]} had run in a graph whose steps this run does not keep: once it is "
        f"answered {run.unsaved[key]} would run again. Call that graph inside interlock.effect(...), or have it kept"
    ) from None


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
    used_before = positions.used_count
    run.tasks.pop(_scope_of(key), None)
    run.unsaved.pop(key, None)
    token = effects_around.set((*effects_around.get(), key))
    # What is said of this tool is not said of those that it calls.
    declared = declared_idempotent.set(False)
    try:
        result = await _heard(execute)
    except GraphBubbleUp as error:
        _refuse_a_second_time(run, key, error)
        turn.asked = True
        await run.journal.record_waiting(key)
        if await scope.wait_for_earlier(turn):
            run.asks.unheard(key)
            raise GraphInterrupt(()) from None
        raise
    except Exception as error:
        await run.journal.record_failure(key, run.redact(f"{type(error).__name__}: {error}"))
        raise
    else:
        # Side by side, siblings move the counter too; but without answers, who comes to an end has asked nothing.
        asks = positions.used_count - used_before if scope.one_by_one else 0
        _silence(run, result)
        await run.journal.record_result(
            key, run.pack(result), asks, run.redact(_output(result)), failed=_has_failed(result)
        )
        return result
    finally:
        declared_idempotent.reset(declared)
        effects_around.reset(token)


async def _heard(execute: Callable[[], Awaitable[Any]]) -> Any:
    try:
        return await execute()
    except ExceptionGroup as group:
        raise as_one(group) from None


async def _around_tool(request: ToolCallRequest, execute: Execute) -> Any:
    run = current.get()
    if run is None or request.tool is None:
        return await execute(request)

    async def execute_and_catch() -> Any:
        try:
            return await _over_a_changed_file(run, request) or await execute(request)
        except (NotAnswered, EffectSkipped) as error:
            return _without_result(request, error)

    try:
        return await _record(run, _call(request), execute_and_catch)
    except _Refused as error:
        return _as_refused(request, error.refusal)


def _around_tool_sync(request: ToolCallRequest, execute: ExecuteSync) -> Any:
    run = current.get()
    if run is None or request.tool is None:
        return execute(request)
    call = _call(request)

    def execute_and_catch() -> Any:
        changed = asyncio.run_coroutine_threadsafe(_over_a_changed_file(run, request), run.loop)
        try:
            return changed.result() or execute(request)
        except (NotAnswered, EffectSkipped) as error:
            return _without_result(request, error)

    try:
        return run.record_here(lambda execution: _record(run, call, execution), execute_and_catch)
    except _Refused as error:
        return _as_refused(request, error.refusal)


async def _over_a_changed_file(run: RunContext, request: ToolCallRequest) -> ToolMessage | None:
    """What is told in place of a call whose file is no longer the one that the person was shown who allowed it."""
    call, tool = request.tool_call, request.tool
    shown_file = run.shown_files.pop((call["id"] or "", action_digest(call["name"], call["args"])), None)
    previewer = previews.previewer_of(tool) if shown_file and tool else None
    if shown_file is None or previewer is None:
        return None
    found: Any = request.state
    state = cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else dict[str, Any]()
    now = await previews.in_time(lambda: previews.compute(previewer, call["args"], state))
    if isinstance(now, FilePreview) and (now.path != shown_file.path or now.sha256 == shown_file.sha256):
        # Of another file, to which a person has changed the call, nothing was shown.
        return None
    why = "has changed" if isinstance(now, FilePreview) else "can no longer be compared with what was shown"
    content = (
        f"{shown_file.path} {why} since a person allowed this call of {call['name']}; it was not run. "
        "Read the file again; if the change is still wanted, call it again, and a person is asked anew."
    )
    return ToolMessage(content, name=call["name"], tool_call_id=call["id"] or "", status="error")


def _without_result(request: ToolCallRequest, error: NotAnswered | EffectSkipped) -> ToolMessage:
    """An ask that a tool left unanswered is its result, as a refusal would be: the agent goes on."""
    call = request.tool_call
    word = "Skipped" if isinstance(error, EffectSkipped) else "Not answered"
    content = f"{word}: {error.reason}. {call['name']} stopped there."
    return ToolMessage(content, name=call["name"], tool_call_id=call["id"] or "", status="error")


def _as_refused(request: ToolCallRequest, refusal: Refusal) -> ToolMessage:
    """The result of a call that is not run: what the model was told already, where it was told."""
    call = request.tool_call
    since = takewhile(lambda one: not isinstance(one, AIMessage), reversed(_messages_of(request.state)))
    for message in since:
        if isinstance(message, ToolMessage) and message.tool_call_id == call["id"]:
            return message
    text = refusal.message if refusal.is_answer else refusal_text(call["name"], refusal.message)
    status = "success" if refusal.is_answer else "error"
    return ToolMessage(text, name=call["name"], tool_call_id=call["id"] or "", status=status)


def _messages_of(state: Any) -> list[Any]:
    found = cast("Mapping[str, Any]", state).get("messages") if isinstance(state, Mapping) else state
    found = getattr(found, "messages", found)
    return cast("list[Any]", found) if isinstance(found, list) else []


def _call(request: ToolCallRequest) -> _Call:
    call = request.tool_call
    metadata: Mapping[str, Any] = (request.tool.metadata if request.tool else None) or {}
    idempotent = declared_idempotent.get() or bool(metadata.get("idempotent")) or _only_hands_on(request)
    order, rank = _place(request)
    source = cast("Any", request).runtime or call
    return _Call(
        call["id"] or "",
        call["name"],
        call["args"],
        order,
        idempotent,
        source=source,
        rank=rank,
        made_as=_original_ids(call),
    )


def _original_ids(call: ToolCall) -> list[str]:
    calls = sibling_calls()
    if any(one["id"] == call["id"] for one in calls):
        return []
    same_tool = [one for one in calls if one["name"] == call["name"]]
    return [one["id"] or "" for one in same_tool or calls]


def _only_hands_on(request: ToolCallRequest) -> bool:
    """Whether it is the tool by which deepagents calls a subagent: what that does has records of its own."""
    code: Any = getattr(request.tool, "func", None) or getattr(request.tool, "coroutine", None)
    return request.tool_call["name"] == "task" and str(getattr(code, "__module__", "")).startswith("deepagents.")


def _place(request: ToolCallRequest) -> tuple[int, int]:
    """The call's place in the message that made it, and among those of its id: the same in every attempt."""
    calls, own = sibling_calls(), request.tool_call
    same = [index for index, one in enumerate(calls) if one["id"] == own["id"]]
    # Middleware may have made another object of it, with other arguments.
    rank = next((rank for rank, index in enumerate(same) if calls[index] is own), 0)
    return (same[rank], rank) if same else (0, 0)


def _messages(result: Any) -> list[ToolMessage]:
    if isinstance(result, ToolMessage):
        return [result]
    if isinstance(result, Command):
        return _messages(cast("Command[Any]", result).update)
    # Under whichever key the graph keeps its messages.
    if isinstance(result, dict):
        return _messages(list(cast("dict[str, Any]", result).values()))
    if isinstance(result, list | tuple):
        return [message for item in cast("list[Any]", result) for message in _messages(item)]
    return []


def _silence(run: RunContext, result: Any) -> None:
    """Take what people gave in confidence out of what the model is told: tools hand on texts of errors."""
    for message in _messages(result):
        for name in ("content", "artifact", "additional_kwargs", "response_metadata"):
            setattr(message, name, run.redact.within(getattr(message, name)))


def _output(result: Any) -> str:
    return "\n".join(message.text for message in _messages(result))


def _has_failed(result: Any) -> bool:
    return any(message.status == "error" for message in _messages(result))


def effect(key: str, fn: Callable[[], Any], *, idempotent: bool = False) -> Any:
    """Do something to the world once, from a plain node or inside a tool: `fn` runs unless its result is on record.

    `key` names it within the node or the tool call, and is used once there. An async `fn` gives an awaitable; a sync
    one runs at once, and belongs in a sync node, which LangGraph runs in a worker thread.
    """
    run = here("interlock.effect")
    if run is None:
        return fn()
    parent = _parent()
    former_id = NODE_EFFECT + key
    inside = f"{parent.call_id}/" if parent is not None and parent.task_id == _task() else ""
    call = _Call(f"{NODE_EFFECT}{inside}{key}", key, {}, idempotent=idempotent, former_id=former_id if inside else None)
    if iscoroutinefunction(fn):
        return _record(run, call, fn)
    if _on_loop(run):
        raise RuntimeError(
            "interlock.effect with a sync function would block the server here: "
            "in an async node pass an async function, and await what effect returns"
        )
    return run.record_here(lambda execution: _record(run, call, execution), fn)


def _on_loop(run: RunContext) -> bool:
    try:
        return asyncio.get_running_loop() is run.loop
    except RuntimeError:
        return False
