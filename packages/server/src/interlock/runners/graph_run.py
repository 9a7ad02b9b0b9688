"""One run of a graph under its lease: find out where it stands, send what is due, report, and pause or end it."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, cast

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl
from langgraph.types import Command

from interlock.agents._langgraph import CHECKPOINTER, STRICT_RESUME, TaskSerializer
from interlock.agents.ask_record import AskRecord
from interlock.agents.context import RunContext, current
from interlock.domain.ask_binding import from_form, to_form
from interlock.domain.canonical import plain
from interlock.domain.claim import Claim
from interlock.domain.errors import InterlockError, LeaseLost, StorageUnavailable
from interlock.domain.event import EventType
from interlock.domain.redaction import Redaction
from interlock.domain.request import PauseOrigin
from interlock.domain.run import RunCause, RunStatus
from interlock.runners import doubts, interrupts
from interlock.runners.answered import Answered
from interlock.runners.graph_state import RUN_KEY, GraphState, Pending, read_state, stands_at_breakpoint
from interlock.runners.inputs import graph_input
from interlock.runners.loading import HostedAgent
from interlock.runners.recovery import unreported_messages
from interlock.runners.traces import own_trace
from interlock.runners.transcript import assistant_entry, messages_in
from interlock.services import running
from interlock.services.core import Core
from interlock.services.effects import RunJournal
from interlock.services.requesting import Asked
from interlock.services.run_log import Entry, RunLog
from interlock.services.running import Paused, Standing

INTERRUPT = "__interrupt__"
FIRST_SEQ = 2
"""The number of the first message's event: only that the thread was made stands before it."""
MOST_IN_A_ROW = 200
"""How often grants and saved values may answer within one run before a person is asked all the same: an agent that
turns in circles must not do so for ever."""
FLUSH_SECONDS = 0.1
"""How long an entry of the log waits for a transaction to take it along."""

logger = logging.getLogger(__name__)


class _Stay:
    """There is nothing to send to the graph: conclude from the state as it is."""


class GraphRun:
    def __init__(self, core: Core, claim: Claim, agent: HostedAgent, saver: BaseCheckpointSaver[Any]) -> None:
        self.core = core
        self.claim = claim
        self.lease = claim.lease
        self.graph = agent.graph
        self.agent = agent
        self.saver = saver
        self.control = RunControl()
        self.requeue_when_drained = False
        self.log = RunLog(core, claim.thread.id, claim.thread.seq)
        self.standing = Standing()
        self.redact = Redaction()
        self.answered = Answered()
        self.untold: set[str] = set()
        self.config: RunnableConfig = {
            "configurable": {"thread_id": claim.thread.id, CHECKPOINTER: saver, STRICT_RESUME: True},
            "metadata": {RUN_KEY: claim.run.id},
        }
        self._known_messages: set[str | None] = set()
        self._dirty = asyncio.Event()
        self._last_values: Any = None
        self._was_interrupted = False
        self._in_a_row = 0
        self._asks = AskRecord()

    async def execute(self) -> None:
        """Run until the graph pauses, ends, fails or has drained. `LeaseLost` and `StorageUnavailable` come through."""
        try:
            await self._execute()
        except GraphDrained:
            await self._drained()
        except (LeaseLost, StorageUnavailable):
            raise
        except InterlockError as error:
            await self._failed(self.redact(error.message))
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            # The first step of a graph runs in this very task, where nothing else contains what ends a process.
            what = self.redact(f"{type(error).__name__}: {error}")
            # Not as `exc_info`, from which the log would make the text itself, with whatever secrets it holds.
            trace = {"error": self.redact(own_trace(error))}
            logger.error("run %s of agent %s failed: %s", self.lease.run_id, self.agent.name, what, extra=trace)
            await self._failed(what)

    def drain(self, reason: str, *, requeue: bool = False) -> None:
        self.requeue_when_drained = self.requeue_when_drained or requeue
        self.control.request_drain(reason)

    async def _execute(self) -> None:
        state = GraphState([], {}, (), False, None)
        if not self._is_first:
            await self._load_standing()
            if self.standing.has_open_effects and await self._ask_about_doubts():
                return
            state = await read_state(self.graph, self.config)
        self._known_messages = {message.id for message in state.messages}
        if self.claim.run.attempt > 1:
            for entry in await unreported_messages(self.core, self.lease.thread_id, state.messages):
                self.log.add(entry)
        given = self._next_input(state)
        if given is None and await self._is_new_breakpoint(state):
            given = _Stay()
        await self._go_on(given, state)

    async def _go_on(self, given: Any, state: GraphState) -> None:
        """Run the graph until it has ended or a person is waited for."""
        while True:
            if not isinstance(given, _Stay):
                await self._stream(given)
                state = await self._state_after()
            paused = await self._conclude(state)
            if paused is None or paused.is_open:
                return
            self._in_a_row += 1
            self.log.recorded(paused.events)
            await self._load_standing()
            state = await read_state(self.graph, self.config)
            given = self._next_input(state)

    @property
    def _is_first(self) -> bool:
        """Whether nothing was ever run on this thread: its log begins with the message that started this run."""
        return self.claim.run.attempt <= 1 and self.claim.run.started_seq <= FIRST_SEQ

    async def _ask_about_doubts(self) -> bool:
        doubtful = await doubts.settle_and_find(self.core, self.lease, self.log, self.answered.pauses, self.saver.serde)
        if doubtful:
            unsent = self._unsent_message(await read_state(self.graph, self.config))
            doubtful = [replace(one, form={**(one.form or {}), doubts.UNSENT: unsent}) for one in doubtful]
            tool = str((doubtful[0].form or {})["tool"])
            await self._pause(PauseOrigin.EFFECT, tool, doubtful, None)
        return bool(doubtful)

    async def _load_standing(self) -> None:
        self.standing = await running.standing(self.core, self.lease.thread_id)
        self.redact = Redaction(value for _, value in self.standing.secrets.values())
        cast("Any", self.saver).redact = self.redact
        self.answered = Answered(self.standing.settled)
        self.core.observer.resumes(self.lease.run_id, [one.pause.id for one in self.standing.settled])

    def _next_input(self, state: GraphState) -> Any:
        unsent = self._unsent_message(state)
        if unsent is not None:
            run = self.claim.run
            return graph_input(self.agent, run.id, unsent, state.messages, run.input.get("system"))
        resume, self.untold = self.answered.resumes(state)
        if resume:
            return Command(resume=resume)
        if self.untold or self.answered.refused_at_breakpoint():
            return _Stay()
        if state.pending and not state.has_unfinished:
            return _Stay()
        return None if state.has_tasks else _Stay()

    def _unsent_message(self, state: GraphState) -> str | None:
        """The message that the graph has not been given: this run's, or one that waited behind effects in doubt."""
        if state.written_by == self.claim.run.id:
            return None
        if self.claim.run.cause is RunCause.MESSAGE:
            return cast("str", self.claim.run.input["text"])
        return self.answered.unsent_message()

    async def _is_new_breakpoint(self, state: GraphState) -> bool:
        """After a crash: whether the graph stands at a breakpoint about which nobody was asked."""
        if self.claim.run.attempt <= 1:
            return False
        passed = self.answered.passed_breakpoints()
        return state.checkpoint_id not in passed and await stands_at_breakpoint(self.graph, self.config, state)

    async def _stream(self, given: Any) -> None:
        self._last_values, self._was_interrupted = None, False
        context = self._context()
        token = current.set(context)
        try:
            async with self._flushing():
                async for part in self._parts(given):
                    self._report(part)
        finally:
            current.reset(token)
            await asyncio.shield(context.effects_ended())

    async def _state_after(self) -> GraphState:
        """How the graph stands now. After a plain end the stream has told it all; else the state is read."""
        messages = messages_in(self._last_values)
        if self._was_interrupted or not messages:
            return await read_state(self.graph, self.config)
        return GraphState(messages, {}, (), False, self.lease.run_id)

    def _parts(self, given: Any) -> AsyncIterator[Mapping[str, Any]]:
        stream: Any = cast("Any", self.graph).astream(
            given,
            self.config,
            stream_mode=["updates", "messages", "custom", "values"],
            subgraphs=True,
            durability="sync",
            control=self.control,
            version="v2",
        )
        return stream

    def _context(self) -> RunContext:
        secrets = self.standing.secrets
        self._asks = AskRecord({key: from_form(form) for key, form in self.standing.forms.items()})
        return RunContext(
            RunJournal(self.core, self.lease, self.log, approved=self.answered.approved()),
            TaskSerializer(self.saver.serde),
            asyncio.get_running_loop(),
            {handle: value for handle, (_, value) in secrets.items()},
            dict(secrets.values()),
            self.redact,
            self._asks,
        )

    @asynccontextmanager
    async def _flushing(self) -> AsyncGenerator[None]:
        """Write what no other transaction takes along, soon enough for those who watch."""

        writing = asyncio.Lock()

        async def flush() -> None:
            while True:
                await self._dirty.wait()
                await asyncio.sleep(FLUSH_SECONDS)
                self._dirty.clear()
                async with writing:
                    await running.report(self.core, self.lease, self.log)

        task = asyncio.create_task(flush())
        try:
            yield
        finally:
            # Never in the middle of a report: a commit that was cut off may have happened, and would be written again.
            async with writing:
                task.cancel()
            with suppress(asyncio.CancelledError, LeaseLost, StorageUnavailable):
                await task

    def _report(self, part: Mapping[str, Any]) -> None:
        inside_tool = any(step.split(":")[0] in self.agent.tool_nodes for step in part["ns"])
        match part["type"]:
            case "messages" if not inside_tool:
                chunk = part["data"][0]
                if isinstance(chunk, AIMessageChunk) and chunk.text:
                    self.log.token(chunk.id or "", chunk.text)
            case "updates" if not inside_tool:
                self._report_updates(part["data"])
            case "values" if not part["ns"]:
                self._last_values = part["data"]
            case "custom":
                self.log.add((EventType.CUSTOM, {"data": self.redact.within(plain(part["data"]))}))
            case _:
                pass
        if self.log.is_waiting:
            self._dirty.set()

    def _report_updates(self, updates: Mapping[str, Any]) -> None:
        self._was_interrupted = self._was_interrupted or INTERRUPT in updates
        for node, update in updates.items():
            if node.startswith("__") or not isinstance(update, dict):
                continue
            messages: Any = cast("dict[str, Any]", update).get("messages")
            self._report_messages(cast("list[Any]", messages) if isinstance(messages, list) else [messages])

    def _report_messages(self, messages: Sequence[Any]) -> None:
        for message in messages:
            if isinstance(message, AIMessage) and message.id and message.id not in self._known_messages:
                self._known_messages.add(message.id)
                self.log.add((EventType.ASSISTANT_MESSAGE, assistant_entry(message)))

    def _told(self, state: GraphState | None) -> list[Entry]:
        """What the log holds, and messages that no update showed as such: a node may give them as plain pairs."""
        if state is not None:
            self._report_messages(state.messages)
        return self.log.take()

    async def _conclude(self, state: GraphState) -> Paused | None:
        """End the run, or have it wait; None when it has ended."""
        if self.untold & state.pending.keys() or self.answered.refused_at_breakpoint():
            await self._finish(RunStatus.NOT_ANSWERED, state)
        elif (state.pending.keys() - self._asks.dropped) & self.answered.by_interrupt.keys():
            raise InterlockError("the graph did not take the answer that it was given")
        elif state.pending:
            asked = [one for pending in state.pending.values() for one in self._asked(pending)]
            node = next(iter(state.pending.values())).node
            return await self._pause(PauseOrigin.INTERRUPT, node, asked, state)
        elif state.next:
            where = (state.next, state.checkpoint_id)
            return await self._pause(PauseOrigin.BREAKPOINT, state.next[0], [interrupts.breakpoint_at(*where)], state)
        else:
            await self._finish(RunStatus.DONE, state)
        return None

    def _asked(self, pending: Pending) -> list[Asked]:
        """What an interrupt asks, with what its answer will belong to."""
        binding = to_form(self._asks.binding(pending.interrupt))
        return [
            self.agent.bound(replace(one, form={**(one.form or {}), **binding}), pending.graph)
            for one in interrupts.read(pending.interrupt, pending.messages, pending.calling)
        ]

    async def _pause(self, origin: PauseOrigin, node: str, asked: Sequence[Asked], state: GraphState | None) -> Paused:
        return await running.open_pause(
            self.core,
            self.claim,
            origin,
            node,
            asked,
            before=self._told(state),
            message_count=len(state.messages) if state else None,
            consumed=self.answered.done_with(state, self._asks.dropped),
            by_people=self._in_a_row >= MOST_IN_A_ROW,
        )

    async def _finish(self, status: RunStatus, state: GraphState, *, error: str | None = None) -> None:
        pauses = {pause.pause.id for pause in self.answered.pauses}
        # A failed run may be retried: its answers stay, also those that the graph took before a later node failed.
        kept = status is RunStatus.FAILED
        consumed = set[str]() if kept else set(self.answered.done_with(state, self._asks.dropped))
        await running.finish(
            self.core,
            self.lease,
            status,
            error=error,
            before=self._told(state),
            message_count=len(state.messages),
            consumed=consumed,
            void=() if kept else pauses - consumed,
            has_secrets=bool(self.standing.secrets),
        )

    async def _failed(self, error: str) -> None:
        try:
            state = await read_state(self.graph, self.config)
        except Exception:
            logger.exception("the state of thread %s cannot be read", self.lease.thread_id)
            state = GraphState([], {key: cast("Any", None) for key in self.answered.by_interrupt}, (), False, None)
        await self._finish(RunStatus.FAILED, state, error=error)

    async def _drained(self) -> None:
        if self.requeue_when_drained:
            await running.report(self.core, self.lease, self.log)
            await running.requeue(self.core, self.lease)
            return
        await self._finish(RunStatus.STOPPED, await read_state(self.graph, self.config))
