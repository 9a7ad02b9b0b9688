"""The core, its agents and a runner on a real store, composed as a server has them, and what a test does with them."""

import asyncio
import uuid
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from sqlalchemy import select

from interlock.agents._langgraph import CHECKPOINTER
from interlock.agents.effects import install
from interlock.bus.local import LocalBus
from interlock.domain.effect import Effect, EffectState
from interlock.domain.errors import LeaseLost
from interlock.domain.event import Event, EventData, EventType, RunEnded
from interlock.domain.principal import Principal, Role
from interlock.domain.request import Pause, PauseStatus, Request, RequestStatus
from interlock.domain.run import Claim, Run, RunStatus
from interlock.passwords import Argon2Passwords
from interlock.runners.graph_run import GraphRun
from interlock.runners.hosting import HostedAgents
from interlock.runners.loading import HostedAgent, host_agent
from interlock.runners.local import LocalRunner
from interlock.runners.transcript import messages_in
from interlock.services.core import Core, OperatorSettings
from interlock.services.requests import answering
from interlock.services.requests.answering import Reply, Sender, SettleResult
from interlock.services.runs import lifecycle
from interlock.services.threads import messages
from interlock.services.threads.following import follow
from interlock.services.threads.messages import StartedRun
from interlock.storage.checkpoints import CheckpointSaver
from interlock.storage.database import Database
from interlock.storage.schema import runs
from interlock.storage.store import SqlStore
from tests.support.bodies import shown

_Data = TypeVar("_Data", bound=EventData)
ANN = Principal("u-ann", "ann", Role.OWNER)
BOB = Principal("u-bob", "bob", Role.ADMIN)


def own_thread(number: int) -> str:
    """An id by which a message of Ann's makes the thread."""
    return f"ann-{uuid.UUID(int=number)}"


THREAD = own_thread(0)
SECONDS = 60.0
"""The bound of every wait."""


class HandClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.offset = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.offset

    def move(self, seconds: float) -> None:
        self.offset += timedelta(seconds=seconds)


@dataclass(frozen=True, slots=True)
class Turn:
    """How a run ended, and what the thread waits for after it."""

    run_id: str
    status: str
    error: str | None
    requests: list[Request]

    @property
    def request(self) -> Request:
        (one,) = self.requests
        return one


class Mortal:
    """A worker with one run that a test can kill: it is fenced off first, so nothing that it does later is kept."""

    def __init__(self, stage: "Stage", claim: Claim) -> None:
        self.stage = stage
        self.claim = claim
        self.run = GraphRun(stage.core, claim, stage.agent_of(claim), stage.saver.with_lease(claim.lease))
        self.task = asyncio.create_task(self.run.execute())

    async def kill(self) -> None:
        await self.stage.take_over()
        self.task.cancel()
        async with asyncio.timeout(SECONDS):
            with suppress(asyncio.CancelledError, LeaseLost):
                await self.task


class Stage:
    def __init__(
        self, database: Database, store: SqlStore, agents: list[HostedAgent], settings: OperatorSettings
    ) -> None:
        install()
        self.database = database
        self.clock = HandClock()
        self.saver = CheckpointSaver(database, loop=asyncio.get_running_loop())
        self.agents = HostedAgents(agents, self.saver)
        self.core = Core(store, LocalBus(), self.clock, self.agents, Argon2Passwords(), settings)
        self.runner: LocalRunner | None = None

    def agent_of(self, claim: Claim) -> HostedAgent:
        agent = self.agents.find(claim.thread.agent)
        assert agent is not None
        return agent

    @property
    def graph(self) -> Any:
        agent = self.agents.find(self.agents.names[0])
        assert agent is not None
        return agent.graph

    # The runner's life

    async def start(self, worker: str = "worker") -> None:
        """Start a runner that goes on with whatever was going."""
        await self.take_over()

        def make(core: Core) -> LocalRunner:
            self.runner = LocalRunner(core, self.agents, worker, shared=self.database.is_shared)
            return self.runner

        self.core = replace(self.core, make_runner=make)
        await self.core.runner.start()

    async def take_over(self) -> None:
        """What a start does on SQLite at once, and on PostgreSQL when the leases have ended."""
        async with asyncio.timeout(SECONDS):
            # A thread that is locked at this moment is passed over, and found the next time.
            while await self._is_running():
                await lifecycle.take_over(self.core, everything=True)

    async def _is_running(self) -> bool:
        async with self.database.read() as connection:
            found = await connection.execute(select(runs.c.id).where(runs.c.status == RunStatus.RUNNING))
        return found.first() is not None

    async def close(self) -> None:
        if self.runner is not None:
            async with asyncio.timeout(SECONDS):
                await self.runner.close()
            self.runner = None

    async def claim(self, worker: str = "mortal") -> Claim:
        async with asyncio.timeout(SECONDS):
            # On PostgreSQL the transaction of a worker that was killed may hold its rows a moment longer.
            while (claimed := await lifecycle.claim(self.core, worker)) is None:
                continue
        return claimed

    async def dying(self) -> GraphRun:
        """A run as a worker has it that claimed it and then died: what the worker did meanwhile is the test's to do."""
        claim = await self.claim()
        return GraphRun(self.core, claim, self.agent_of(claim), self.saver.with_lease(claim.lease))

    async def mortal(self) -> Mortal:
        """A worker that claims the one run that is queued."""
        return Mortal(self, await self.claim())

    # What people do

    async def send(self, text: str = "go", thread: str = THREAD) -> StartedRun:
        return await messages.send_message(self.core, ANN, thread, text)

    async def say(self, text: str = "go", thread: str = THREAD) -> Turn:
        started = await self.send(text, thread)
        return await self.ended(started.run, started.seq)

    async def answer(self, request: Request, value: Mapping[str, Any] | None, by: Principal = ANN) -> SettleResult:
        return await answering.answer(self.core, Sender(by, "test"), Reply(request.id, value))

    async def reply(self, request: Request, value: Mapping[str, Any] | None) -> Turn:
        """Answer the last open request of its pause (None: cancel it), and wait for the run that goes on."""
        settled = await self.answer(request, value)
        assert settled.run is not None
        return await self.ended(settled.run, settled.seq)

    async def tell(self, request: Request, text: str) -> Turn:
        return await self.reply(request, {"answer": text})

    async def retry(self, thread: str = THREAD) -> Turn:
        started = await messages.retry(self.core, ANN, thread)
        return await self.ended(started.run, started.seq)

    # What can be seen

    async def ended(self, run: Run, after: int) -> Turn:
        """Follow the thread until the run has ended."""
        async with asyncio.timeout(SECONDS), aclosing(follow(self.core, run.thread_id, after)) as items:
            async for item in items:
                if isinstance(item, Event) and isinstance(item.data, RunEnded) and item.data.run_id == run.id:
                    requests = await self.open_requests(run.thread_id)
                    return Turn(run.id, item.data.status, item.data.error, requests)
        raise AssertionError("the stream ended")

    async def until_told(self, of: EventType, thread: str = THREAD) -> None:
        """Follow the thread until it tells of this."""
        async with asyncio.timeout(SECONDS), aclosing(follow(self.core, thread, 0)) as items:
            async for item in items:
                if isinstance(item, Event) and item.type is of:
                    return

    async def open_requests(self, thread: str = THREAD) -> list[Request]:
        async with self.core.store.snapshot() as tx:
            pauses = await tx.pauses.of_thread(thread, PauseStatus.OPEN)
            requests = await tx.requests.of_pauses([pause.id for pause in pauses])
        return [request for request in requests if request.status is RequestStatus.PENDING]

    async def pauses(self, status: PauseStatus, thread: str = THREAD) -> list[Pause]:
        async with self.core.store.snapshot() as tx:
            return await tx.pauses.of_thread(thread, status)

    async def events(self, *types: EventType, thread: str = THREAD) -> list[Event]:
        async with self.core.store.snapshot() as tx:
            return [event for event in await tx.events.after(thread, 0, 10_000) if not types or event.type in types]

    async def events_of(self, data: type[_Data], thread: str = THREAD) -> list[_Data]:
        return [event.data for event in await self.events(thread=thread) if isinstance(event.data, data)]

    async def effects(self, *states: EffectState, thread: str = THREAD) -> list[Effect]:
        async with self.core.store.snapshot() as tx:
            return await tx.effects.of_thread(thread, *(states or EffectState))

    async def state(self, thread: str = THREAD) -> Any:
        config: RunnableConfig = {"configurable": {"thread_id": thread, CHECKPOINTER: self.saver}}
        return await self.graph.aget_state(config)

    async def values(self, thread: str = THREAD) -> Any:
        return (await self.state(thread)).values

    async def messages(self, thread: str = THREAD) -> list[BaseMessage]:
        return list[BaseMessage](messages_in(await self.values(thread)))

    async def results(self, thread: str = THREAD) -> dict[str, str]:
        """What the tool calls gave, by call."""
        found = await self.messages(thread)
        return {message.tool_call_id: message.text for message in found if isinstance(message, ToolMessage)}


def hosting(graph: Any, name: str = "agent") -> HostedAgent:
    return host_agent(name, graph)


def words_of(request: Request) -> str:
    return str(shown(request).get("title") or shown(request).get("question"))


async def answer_with_itself(stage: Stage, turn: Turn, most: int = 20) -> list[str]:
    """Answer each with its own text until nothing is asked; what was asked."""
    asked: list[str] = []
    while turn.status == "paused" and len(asked) < most:
        asked.append(words_of(turn.request))
        turn = await stage.tell(turn.request, f"yes, {words_of(turn.request)}")
    assert turn.status == "done", turn.error
    return asked
