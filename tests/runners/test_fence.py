"""A worker whose lease was taken over commits nothing."""

import asyncio
import operator
from datetime import datetime
from typing import Annotated, Any

import pytest
from langchain_core.tools import tool
from langgraph.types import interrupt
from typing_extensions import TypedDict

import interlock
from interlock.domain.effect import EffectState
from interlock.domain.errors import LeaseLost
from interlock.domain.event import Custom
from interlock.domain.request import PauseOrigin
from interlock.domain.run import Claim, RunStatus
from interlock.runners.graph_run import GraphRun
from interlock.services.core import OperatorSettings
from interlock.services.runs import lifecycle
from interlock.services.runs.effects import RunJournal
from interlock.services.runs.lifecycle import RunLog
from interlock.services.threads import messages
from tests.client.asking import until
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds, Gate
from tests.runners.script import agent, line
from tests.runners.stage import ANN, SECONDS, THREAD, Stage, own_thread
from tests.support.bodies import shown

pytestmark = pytest.mark.promise("P5")


class Said(TypedDict, total=False):
    topic: str
    said: Annotated[list[str], operator.add]


async def snapshot(stage: Stage) -> Any:
    events = [(event.seq, event.type) for event in await stage.events()]
    state = await stage.state()
    effects = [(effect.key, effect.state) for effect in await stage.effects()]
    return events, state.config, state.values, state.tasks, effects, await stage.open_requests()


@pytest.mark.parametrize("then", ["returns", "asks", "fails", "does"])
async def test_a_worker_that_was_replaced_leaves_no_trace(host: Host, then: str) -> None:
    gate = Gate()

    async def node(state: Said) -> Said:
        await gate.stop()
        if then == "asks":
            interrupt("stale?")
        if then == "fails":
            raise ValueError("stale")
        if then == "does":
            await interlock.effect("x", pay)
        return {"said": ["stale"]}

    async def pay() -> str:
        paid.append("x")
        return "paid"

    paid: list[str] = []
    stage = await host(line(Said, node), started=False)
    await stage.send()
    claim = await stage.claim()
    run = GraphRun(stage.core, claim, stage.agent_of(claim), stage.saver.with_lease(claim.lease))
    task = asyncio.create_task(run.execute())
    await gate.until_reached()
    await stage.take_over()
    before = await snapshot(stage)
    gate.open.set()

    async with asyncio.timeout(SECONDS):
        with pytest.raises(LeaseLost):
            await task

    assert await snapshot(stage) == before
    assert paid == []


@pytest.mark.parametrize("how", ["taken over", "given back"])
async def test_every_use_case_of_a_run_is_fenced(host: Host, how: str) -> None:
    stage = await host(line(Said, node), started=False)
    await stage.send()
    claim = await stage.claim("old")
    lease = claim.lease
    if how == "given back":
        await lifecycle.requeue(stage.core, lease)
    else:
        await stage.take_over()
        await stage.claim("new")
    before = await snapshot(stage)
    log = RunLog(stage.core, THREAD, 0)
    log.add(Custom("stale"))
    journal = RunJournal(stage.core, lease, log, approved=())

    for work in (
        lifecycle.report(stage.core, lease, log),
        lifecycle.open_pause(stage.core, claim, PauseOrigin.INTERRUPT, "node", []),
        lifecycle.finish(stage.core, lease, RunStatus.DONE),
        lifecycle.requeue(stage.core, lease),
        journal.begin("task", "c1", "send", {}, idempotent=False, parent=None),
    ):
        with pytest.raises(LeaseLost):
            await work

    assert await snapshot(stage) == before
    assert await lifecycle.renew(stage.core, "old", [THREAD]) == set()


def node(state: Said) -> Said:
    return {}


async def test_a_tool_that_ends_after_its_worker_was_replaced_is_in_doubt(host: Host) -> None:
    gate, deeds = Gate(), Deeds()

    @tool
    async def send(path: str) -> str:
        """Send."""
        deeds.note("send")
        await gate.stop()
        return "sent"

    stage = await host(agent([send], [("c1", "send", {"path": "a"})]), started=False)
    started = await stage.send()
    mortal = await stage.mortal()
    await gate.until_reached()
    await stage.take_over()
    gate.open.set()
    async with asyncio.timeout(SECONDS):
        with pytest.raises(LeaseLost):
            await mortal.task
    assert [effect.state for effect in await stage.effects()] == [EffectState.INTENDED]
    await stage.start()

    turn = await stage.ended(started.run, started.seq)

    assert turn.status == "paused"
    assert shown(turn.request)["decision_type"] == "effect_in_doubt"
    assert deeds.done == ["send"]


async def test_a_runner_notices_that_its_lease_is_gone_and_stops_working(host: Host) -> None:
    gate = Gate()
    cancelled = asyncio.Event()

    async def node(state: Said) -> Said:
        try:
            await gate.stop()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return {"said": ["once"]}

    stage = await host(line(Said, node), settings=OperatorSettings(lease_seconds=0.3))
    started = await stage.send()
    await gate.until_reached()

    await stage.take_over()

    async with asyncio.timeout(SECONDS):
        await cancelled.wait()
    turn = await stage.ended(started.run, started.seq)
    assert turn.status == "done"
    assert (await stage.values())["said"] == ["once"]


async def test_a_run_that_comes_back_to_the_same_worker_is_kept_by_it(host: Host) -> None:
    gate = Gate()

    async def first(state: Said) -> Said:
        await gate.stop(2)
        return {"said": ["first"]}

    async def second(state: Said) -> Said:
        return {"said": ["second"]}

    stage = await host(line(Said, first, second))
    started = await stage.send()
    await gate.until_reached()
    gate.reached.clear()
    await stage.take_over()
    await gate.until_reached()
    assert gate.times == 2

    assert await messages.stop(stage.core, ANN, THREAD, "enough")
    gate.open.set()
    turn = await stage.ended(started.run, started.seq)

    assert turn.status == "stopped"
    assert (await stage.values())["said"] == ["first"]


@on_sqlite
async def test_a_lease_is_renewed_while_its_run_takes_long(host: Host) -> None:
    gate = Gate()

    async def node(state: Said) -> Said:
        await gate.stop()
        return {"said": ["once"]}

    async def lease_end() -> datetime:
        async with stage.core.store.snapshot() as tx:
            (record,) = await tx.leases.active(1)
        return record.until

    stage = await host(line(Said, node), settings=OperatorSettings(lease_seconds=3))
    started = await stage.send()
    await gate.until_reached()
    first = await lease_end()
    await until(lease_end, lambda end: end > first)
    stage.clock.move((first - stage.clock.now()).total_seconds())
    assert await lifecycle.take_over(stage.core, everything=False) == []
    gate.open.set()

    turn = await stage.ended(started.run, started.seq)

    assert turn.status == "done"
    assert gate.times == 1


async def test_two_runners_on_one_store_run_each_thread_once(host: Host) -> None:
    deeds = Deeds()

    def node(state: Said) -> Said:
        deeds.note(state.get("topic", ""))
        return {"said": ["once"]}

    first = await host(line(Said, node))
    second = await host(line(Said, node), started=False)
    await second.start("second")
    started = [await (first if n % 2 else second).send(str(n), thread=own_thread(n)) for n in range(10)]

    turns = [await first.ended(one.run, one.seq) for one in started]

    assert {turn.status for turn in turns} == {"done"}
    assert deeds.counts == {str(n): 1 for n in range(10)}


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.parametrize("minutes", [-5, 5])
async def test_a_server_whose_clock_is_wrong_takes_no_run_from_another_and_loses_none(host: Host, minutes: int) -> None:
    right, wrong = [await host(line(Said, node), started=False) for _ in range(2)]
    wrong.clock.move(60 * minutes)
    claims: list[Claim] = []
    for number, stage in enumerate((right, wrong)):
        await stage.send(thread=own_thread(number))
        claims.append(await stage.claim(f"worker-{number}"))

    for _ in range(2):
        for number, stage in enumerate((right, wrong)):
            assert await lifecycle.take_over(stage.core, everything=False) == []
            thread_id = claims[number].thread.id
            assert await lifecycle.renew(stage.core, f"worker-{number}", [thread_id]) == {thread_id}
    for stage, claim in zip((right, wrong), claims, strict=True):
        await lifecycle.finish(stage.core, claim.lease, RunStatus.DONE)
