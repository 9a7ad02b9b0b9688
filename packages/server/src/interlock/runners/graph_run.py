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

from interlock.agents._langgraph import CHECKPOINTER, KEEPING, STRICT_RESUME, Persistence, TaskSerializer
from interlock.agents._langgraph_numbers import NUMBERED
from interlock.agents.ask_record import AskRecord
from interlock.agents.breakpoints import Breakpoint, BreakpointRecord, NextNode
from interlock.agents.context import RunContext, enter
from interlock.agents.silence import Silence
from interlock.domain.canonical import plain
from interlock.domain.errors import InterlockError, LeaseLost, StorageUnavailable
from interlock.domain.event import AssistantMessage, Custom, EventData
from interlock.domain.redaction import Redaction
from interlock.domain.request import PauseOrigin
from interlock.domain.run import Claim, RunCause, RunStatus
from interlock.domain.run_input import GraphInput, MessageInput, NoInput, RunSettings
from interlock.runners import breakpoints, doubts, interrupts
from interlock.runners.graph_state import RUN_KEY, GraphState, PendingInterrupt, read_state
from interlock.runners.inputs import graph_input, nodes_to_stop_at
from interlock.runners.interrupts import with_preview
from interlock.runners.loading import HostedAgent
from interlock.runners.recorded_answers import RecordedAnswers
from interlock.runners.secret_values import ThreadSecrets, process_secrets
from interlock.runners.tokens import CustomTexts, Tokens
from interlock.runners.traces import own_trace
from interlock.runners.transcript import assistant_entry, messages_in, result_text, unreported_messages
from interlock.services.core import Core
from interlock.services.requests.opening import NewRequest
from interlock.services.runs import lifecycle
from interlock.services.runs.effects import RunJournal
from interlock.services.runs.lifecycle import PauseResult, ResumeState, RunLog

INTERRUPT = "__interrupt__"
FIRST_SEQ = 2
"""The number of the first message's event: only that the thread was made stands before it."""
MOST_IN_A_ROW = 200
"""How often grants and saved values may answer within one run before a person is asked all the same: an agent that
turns in circles must not do so for ever."""
FLUSH_SECONDS = 0.1
"""How long an entry of the log waits for a transaction to take it along."""

logger = logging.getLogger(__name__)


class _NoInput:
    """There is nothing to send to the graph: conclude from the state as it is."""


class GraphRun:
    def __init__(
        self,
        core: Core,
        claim: Claim,
        agent: HostedAgent,
        saver: BaseCheckpointSaver[Any],
        memory: ThreadSecrets | None = None,
    ) -> None:
        self.core = core
        self.claim = claim
        self.lease = claim.lease
        self.graph = agent.graph
        self.agent = agent
        self.saver = saver
        self.control = RunControl()
        self.requeue_when_drained = False
        self.log = RunLog(core, claim.thread.id, claim.thread.seq)
        self.resume_state = ResumeState()
        self.memory = memory or ThreadSecrets()
        self.secret_values = Redaction()
        self.silence = Silence()
        self._remember()
        self.recorded = RecordedAnswers()
        self.unanswerable: set[str] = set()
        self.turn = claim.run
        self.config = self._new_config()
        self._known_messages: set[str | None] = set()
        self._tokens = Tokens()
        self._custom_texts = CustomTexts()
        self._dirty = asyncio.Event()
        self._last_values: Any = None
        self._was_interrupted = False
        self._in_a_row = 0
        self._asks = AskRecord()
        self._breakpoints = BreakpointRecord()

    async def execute(self) -> None:
        """Run until the graph pauses, ends, fails or has drained. `LeaseLost` and `StorageUnavailable` come through."""
        try:
            await self._execute()
        except GraphDrained:
            await self._end_drained()
        except (LeaseLost, StorageUnavailable):
            raise
        except InterlockError as error:
            await self._fail(self.redact(error.message))
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            # The first step of a graph runs in this very task, where nothing else contains what ends a process.
            what = self.redact(f"{type(error).__name__}: {error}")
            # Not as `exc_info`, from which the log would make the text itself, with whatever secrets it holds.
            trace = {"error": self.redact(own_trace(error))}
            logger.error("run %s of agent %s failed: %s", self.lease.run_id, self.agent.name, what, extra=trace)
            await self._fail(what)
        finally:
            process_secrets.give_back(self.secret_values)

    def drain(self, reason: str, *, requeue: bool = False) -> None:
        self.requeue_when_drained = self.requeue_when_drained or requeue
        self.control.request_drain(reason)

    async def _execute(self) -> None:
        state = GraphState([], {}, (), False, None)
        if not self._is_first:
            await self._load_resume_state()
            if self.resume_state.has_open_effects and await self._ask_about_doubts():
                return
            state = await read_state(self.graph, self.config)
        self._known_messages = {message.id for message in state.messages}
        if self.claim.run.attempt > 1:
            for entry in await unreported_messages(self.core, self.lease.thread_id, state.messages):
                self.log.add(entry)
        await self._go_on(self._next_input(state), state)

    async def _go_on(self, given: Any, state: GraphState) -> None:
        """Run the graph until it has ended or a person is waited for."""
        while True:
            if not isinstance(given, _NoInput):
                await self._stream(given)
                state = await self._state_after()
            paused = await self._conclude(state)
            if paused is None or paused.is_open:
                return
            self._in_a_row += 1
            self.log.mark_recorded(paused.events)
            await self._load_resume_state()
            state = await read_state(self.graph, self.config)
            given = self._next_input(state)

    @property
    def _is_first(self) -> bool:
        """Whether nothing was ever run on this thread: its log begins with the message that started this run."""
        return self.claim.run.attempt <= 1 and self.claim.run.started_seq <= FIRST_SEQ

    async def _ask_about_doubts(self) -> bool:
        doubtful = await doubts.settle_and_find(self.core, self.lease, self.log, self.recorded.pauses, self.saver.serde)
        if doubtful:
            given = self._unsent_input(await read_state(self.graph, self.config))
            unsent = doubts.UnsentInput(given.text) if isinstance(given, MessageInput) else doubts.UnsentInput()
            if isinstance(given, GraphInput):
                unsent = doubts.UnsentInput(run_id=self.turn.id)
            requests = [doubts.new_request(one, self.core.settings.locale, unsent) for one in doubtful]
            await self._pause(PauseOrigin.EFFECT, doubtful[0].effect.tool, requests, None)
        return bool(doubtful)

    def _new_config(self) -> RunnableConfig:
        lent_to_graph = {CHECKPOINTER: self.saver, STRICT_RESUME: True, KEEPING: Persistence.KEPT}
        settings = self._settings
        config: RunnableConfig = {
            "configurable": {**settings.configurable, "thread_id": self.lease.thread_id, **lent_to_graph},
            "metadata": {RUN_KEY: self.lease.run_id, NUMBERED: True},
            "tags": list(settings.tags),
        }
        if settings.recursion_limit is not None:
            config["recursion_limit"] = settings.recursion_limit
        return config

    @property
    def _settings(self) -> RunSettings:
        """Those of the turn: answers go on as it began, from whichever face they came."""
        return RunSettings() if isinstance(self.turn.input, NoInput) else self.turn.input.settings

    async def _load_resume_state(self) -> None:
        self.resume_state = await lifecycle.load_resume_state(self.core, self.claim.run)
        self.turn = self.resume_state.turn or self.claim.run
        self.config = self._new_config()
        self._remember()
        self.recorded = RecordedAnswers(self.resume_state.settled, self.resume_state.calls)
        self.core.observer.on_resume(self.lease.run_id, [one.pause.id for one in self.resume_state.settled])

    def _remember(self) -> None:
        """Hide what this run is lent, and what earlier ones were: their code may have kept it."""
        owner, thread = self.claim.thread.owner_id, self.claim.thread.id
        process_secrets.give_back(self.secret_values)
        self.secret_values = self.memory.hear(owner, thread, (value for _, value in self.resume_state.secrets.values()))
        process_secrets.lend(self.secret_values)
        self.silence = self.memory.silence(owner, thread)
        cast("Any", self.saver).silence = self.silence if self.silence.data else None

    @property
    def redact(self) -> Redaction:
        return self.silence.text

    def _next_input(self, state: GraphState) -> Any:
        unsent = self._unsent_input(state)
        if unsent is not None:
            return graph_input(self.agent, self.lease.run_id, unsent, state.messages)
        resume, self.unanswerable = self.recorded.resumes(state)
        if breakpoints.is_refused(self.recorded.pauses):
            return _NoInput()
        if resume:
            return Command(resume=resume)
        if self.unanswerable:
            return _NoInput()
        if state.pending and not state.has_unfinished:
            return _NoInput()
        return None if state.has_tasks else _NoInput()

    def _unsent_input(self, state: GraphState) -> MessageInput | GraphInput | None:
        """What the graph has not been given: this run's input, or one that waited behind effects in doubt."""
        if state.written_by == self.claim.run.id:
            return None
        is_new = self.claim.run.cause is RunCause.MESSAGE
        given = self.claim.run.input if is_new else self.recorded.unsent_input(self.turn)
        return None if isinstance(given, NoInput) else given

    async def _stream(self, given: Any) -> None:
        self._last_values, self._was_interrupted = None, False
        context = self._context()
        try:
            with enter(context):
                async with self._background_flush():
                    async for part in self._parts(given):
                        self._report(part)
        finally:
            await asyncio.shield(context.end_attempt())

    async def _state_after(self) -> GraphState:
        """How the graph stands now. After a plain end the stream has told it all; else the state is read."""
        messages = messages_in(self._last_values)
        if self._was_interrupted or self._breakpoints.reached or not messages:
            return await read_state(self.graph, self.config)
        return GraphState(messages, {}, (), False, self.lease.run_id)

    def _parts(self, given: Any) -> AsyncIterator[Mapping[str, Any]]:
        graph, settings = cast("Any", self.graph), self._settings
        stream: Any = graph.astream(
            given,
            self.config,
            context=settings.context,
            interrupt_before=nodes_to_stop_at(graph.interrupt_before_nodes, settings.interrupt_before),
            interrupt_after=nodes_to_stop_at(graph.interrupt_after_nodes, settings.interrupt_after),
            stream_mode=["updates", "messages", "custom", "values"],
            subgraphs=True,
            durability="sync",
            control=self.control,
            version="v2",
        )
        return stream

    def _context(self) -> RunContext:
        secrets = self.resume_state.secrets
        self._asks = AskRecord({key: form and form.binding for key, form in self.resume_state.forms.items()})
        self._breakpoints = BreakpointRecord(breakpoints.allowed_checkpoints(self.recorded.pauses))
        return RunContext(
            RunJournal(
                self.core,
                self.lease,
                self.log,
                approved=self.recorded.approved_calls(),
                refused=self.recorded.refused_calls(),
            ),
            TaskSerializer(self.saver.serde),
            asyncio.get_running_loop(),
            {handle: value for handle, (_, value) in secrets.items()},
            dict(secrets.values()),
            self.silence,
            self._asks,
            self._breakpoints,
            shown_files=self.recorded.shown_files(),
        )

    @asynccontextmanager
    async def _background_flush(self) -> AsyncGenerator[None]:
        """Write what no other transaction takes along, soon enough for those who watch."""

        writing = asyncio.Lock()

        async def flush() -> None:
            while True:
                await self._dirty.wait()
                await asyncio.sleep(FLUSH_SECONDS)
                self._dirty.clear()
                async with writing:
                    await lifecycle.report(self.core, self.lease, self.log)

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
                    self._tell(chunk.id or "", self._tokens.add(chunk.id or "", chunk.text, self.silence.data))
            case "updates" if not inside_tool:
                self._report_updates(part["data"])
            case "values" if not inside_tool:
                if not part["ns"]:
                    self._last_values = part["data"]
                # A step that says nothing has no entry in the log; its checkpoint is there by now.
                self.core.pulse.wake(self.lease.thread_id)
            case "custom":
                self.log.add(Custom(self._custom_texts.hide(plain(part["data"]), self.redact)))
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
                self._tell(message.id, self._tokens.rest(message.id, self.silence.data))
                entry = assistant_entry(message)
                self.log.add(replace(entry, text=self.silence.data(entry.text)))

    def _tell(self, message_id: str, text: str) -> None:
        if text:
            self.log.token(message_id, text)

    def _take_log(self, state: GraphState | None) -> list[EventData]:
        """What the log holds, and messages that no update showed as such: a node may give them as plain pairs."""
        if state is not None:
            self._report_messages(state.messages)
        return self.log.take()

    async def _conclude(self, state: GraphState) -> PauseResult | None:
        """End the run, or have it wait; None when it has ended."""
        new = [one for key, one in state.pending.items() if key not in self.recorded.by_interrupt]
        stops = self._stops(state)
        if self.unanswerable & state.pending.keys() or breakpoints.is_refused(self.recorded.pauses):
            await self._finish(RunStatus.NOT_ANSWERED, state)
        elif len(new) < len(state.pending) and not stops:
            raise InterlockError("the graph did not take the answer that it was given")
        elif new or stops:
            requests = [*await self._requests_of_all(new), *self._requests_at(stops)]
            origin = PauseOrigin.INTERRUPT if new else PauseOrigin.BREAKPOINT
            return await self._pause(origin, new[0].node if new else state.next[0], requests, state)
        else:
            self._report_result(state)
            await self._finish(RunStatus.DONE, state)
        return None

    def _report_result(self, state: GraphState) -> None:
        """What came of a graph that keeps no conversation, as its message: nobody would see it otherwise."""
        if not self.agent.has_messages and (text := result_text(self.graph, state.values, self.silence.data)):
            self.log.add(AssistantMessage(f"out_{self.lease.run_id}", text))

    def _stops(self, state: GraphState) -> list[Breakpoint]:
        """The breakpoints that hold the graph. Whatever else has it stop with nothing asked is put to a person too."""
        if not state.next:
            return []
        if state.pending or self._breakpoints.reached:
            return self._breakpoints.stops()
        return [Breakpoint(state.checkpoint_id or "", (), [NextNode(node, None) for node in state.next])]

    def _requests_at(self, stops: Sequence[Breakpoint]) -> list[NewRequest]:
        return [breakpoints.new_request(stop, self.core.settings.locale, self.silence.data) for stop in stops]

    def _requests_of(self, pending: PendingInterrupt) -> list[NewRequest]:
        """What an interrupt asks, with what its answer will belong to."""
        binding = self._asks.binding(pending.interrupt)
        return [
            self.agent.bind(replace(one, form=one.form and replace(one.form, binding=binding)), pending.graph)
            for one in interrupts.read(pending.interrupt, pending.messages, pending.call_messages)
        ]

    async def _requests_of_all(self, waiting: Sequence[PendingInterrupt]) -> list[NewRequest]:
        each = [(one, pending) for pending in waiting for one in self._requests_of(pending)]
        return await asyncio.gather(*(with_preview(self.agent, *one, self.redact) for one in each))

    async def _pause(
        self, origin: PauseOrigin, node: str, requests: Sequence[NewRequest], state: GraphState | None
    ) -> PauseResult:
        needed = breakpoints.still_needed(self.recorded.pauses, self._breakpoints.left)
        return await lifecycle.open_pause(
            self.core,
            self.claim,
            origin,
            node,
            requests,
            before=self._take_log(state),
            message_count=len(state.messages) if state else None,
            consumed=[pause_id for pause_id in self.recorded.finished_pauses(state) if pause_id not in needed],
            by_people=self._in_a_row >= MOST_IN_A_ROW,
        )

    async def _finish(self, status: RunStatus, state: GraphState, *, error: str | None = None) -> None:
        pauses = {pause.pause.id for pause in self.recorded.pauses}
        # A failed run may be retried: its answers stay, also those that the graph took before a later node failed.
        keeps_pauses = status is RunStatus.FAILED
        consumed = set[str]() if keeps_pauses else set(self.recorded.finished_pauses(state))
        await lifecycle.finish(
            self.core,
            self.lease,
            status,
            error=error,
            before=self._take_log(state),
            message_count=len(state.messages),
            consumed=consumed,
            void=() if keeps_pauses else pauses - consumed,
            has_secrets=bool(self.resume_state.secrets),
        )

    async def _fail(self, error: str) -> None:
        try:
            state = await read_state(self.graph, self.config)
        except Exception:
            logger.exception("the state of thread %s cannot be read", self.lease.thread_id)
            state = GraphState([], {key: cast("Any", None) for key in self.recorded.by_interrupt}, (), False, None)
        await self._finish(RunStatus.FAILED, state, error=error)

    async def _end_drained(self) -> None:
        if self.requeue_when_drained:
            await lifecycle.report(self.core, self.lease, self.log)
            await lifecycle.requeue(self.core, self.lease)
            return
        await self._finish(RunStatus.STOPPED, await read_state(self.graph, self.config))
