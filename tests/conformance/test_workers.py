"""Whether anything runs agents, by what the store knows; and workers that are gone, by what Ray knows."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import update

from interlock.bootstrap import NoAgents
from interlock.bus.local import LocalBus
from interlock.domain.errors import LeaseLost, NoWorker
from interlock.domain.worker import Worker
from interlock.passwords import Argon2Passwords
from interlock.ports.clock import SystemClock
from interlock.ports.store import Store
from interlock.services.core import Core, OperatorSettings, unit
from interlock.services.runs import lifecycle
from interlock.services.runs.workers import FORGOTTEN, GONE_SECONDS, dismiss_once, require_worker, send_heartbeats
from interlock.storage.database import Database
from interlock.storage.schema import workers
from tests.conformance.examples import AT, a_run, begin


async def beat(core: Core, minutes_wrong: float = 0) -> None:
    at = core.clock.now() + timedelta(minutes=minutes_wrong)
    async with unit(core) as work:
        await work.tx.workers.beat(Worker("worker-1", "node", "ray", at, at, 1, 0))


async def required(core: Core) -> None:
    async with unit(core) as work:
        await require_worker(work)


@pytest.fixture
async def core(store: Store) -> Core:
    """Of a server that runs no agent itself, and has looked into the store."""
    made = Core(store, LocalBus(), SystemClock(), NoAgents(), Argon2Passwords(), OperatorSettings(remote_workers=True))
    await made.pulse.beat(made)
    return made


async def test_without_a_sign_of_life_nothing_is_taken(core: Core, database: Database) -> None:
    with pytest.raises(NoWorker):
        await required(core)
    await beat(core)
    async with database.write() as connection:
        await connection.execute(update(workers).values(seen_at=core.clock.now() - timedelta(seconds=GONE_SECONDS + 1)))
    with pytest.raises(NoWorker):
        await required(core)


async def test_one_that_came_since_the_last_look_is_found(core: Core) -> None:
    await beat(core)
    await required(core)


async def test_one_that_was_heard_of_is_not_looked_for(core: Core) -> None:
    await beat(core)
    await core.pulse.beat(core)
    async with unit(core) as work:
        await work.tx.workers.leave("worker-1")
    await required(core)


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.parametrize("minutes_wrong", [-120, 120])
async def test_one_whose_clock_is_wrong_is_known_to_live(core: Core, minutes_wrong: int) -> None:
    await beat(core, minutes_wrong)
    async with unit(core) as work:
        await work.tx.workers.forget(core.clock.now() + timedelta(minutes=minutes_wrong), FORGOTTEN)
    await required(core)
    await core.pulse.beat(core)
    await required(core)


@pytest.mark.promise("P5")
async def test_a_dismissed_worker_is_fenced_off_takes_nothing_more_and_ends(core: Core) -> None:
    async with unit(core) as work:
        await begin(work.tx, "ann-1")
        await work.tx.runs.add(a_run("run-1", "ann-1"))
    lost = await lifecycle.claim(core, "worker-1")
    assert lost is not None
    await beat(core)

    assert await dismiss_once(core, "worker-1")

    async with unit(core) as work:
        await work.tx.workers.forget(core.clock.now(), FORGOTTEN)
    # It still runs, as one does whose node's keeper is dead, and is told of the run first.
    assert await lifecycle.claim(core, "worker-1", "run-1") is None
    assert await lifecycle.claim(core, "worker-1") is None
    with pytest.raises(LeaseLost):
        await lifecycle.requeue(core, lost.lease)
    taken = await lifecycle.claim(core, "worker-2")
    assert taken is not None
    assert (taken.run.id, taken.run.attempt) == ("run-1", 2)
    # Who says so a second time, as another server does, takes nothing from whoever has it now.
    assert await dismiss_once(core, "worker-1")
    await lifecycle.requeue(core, taken.lease)
    # One that lives after all finds out, and does not go on under that name.
    async with asyncio.timeout(60):
        await send_heartbeats(core, lambda: Worker("worker-1", "node", "ray", AT, core.clock.now(), 1, 0))
