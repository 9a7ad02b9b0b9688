"""Whether anything runs agents, by what the store knows."""

from datetime import timedelta

import pytest

from interlock.bootstrap import NoAgents
from interlock.bus.local import LocalBus
from interlock.domain.errors import NoWorker
from interlock.domain.worker import Worker
from interlock.passwords import Argon2Passwords
from interlock.ports.clock import SystemClock
from interlock.ports.store import Store
from interlock.services.core import Core, Policy, unit
from interlock.services.working import GONE_SECONDS, require_worker


async def beat(core: Core, seconds_ago: float) -> None:
    at = core.clock.now() - timedelta(seconds=seconds_ago)
    async with unit(core) as work:
        await work.tx.workers.beat(Worker("worker-1", "node", "ray", at, at, 1, 0))


async def required(core: Core) -> None:
    async with unit(core) as work:
        await require_worker(work)


@pytest.fixture
async def core(store: Store) -> Core:
    """Of a server that runs no agent itself, and has looked into the store."""
    made = Core(store, LocalBus(), SystemClock(), NoAgents(), Argon2Passwords(), Policy(remote_workers=True))
    await made.pulse.beat(made)
    return made


async def test_without_a_sign_of_life_nothing_is_taken(core: Core) -> None:
    with pytest.raises(NoWorker):
        await required(core)
    await beat(core, GONE_SECONDS + 1)
    with pytest.raises(NoWorker):
        await required(core)


async def test_one_that_came_since_the_last_look_is_found(core: Core) -> None:
    await beat(core, 0)
    await required(core)


async def test_one_that_was_heard_of_is_not_looked_for(core: Core) -> None:
    await beat(core, 0)
    await core.pulse.beat(core)
    async with unit(core) as work:
        await work.tx.workers.leave("worker-1")
    await required(core)
