"""A thread made of another one's state."""

import uuid

from interlock.domain.errors import Forbidden, ThreadBusy
from interlock.domain.principal import Principal
from interlock.domain.thread import Thread, ThreadStatus
from interlock.services.core import Core, unit
from interlock.services.threads.threads import create_thread, delete_thread, driven


async def copy_thread(core: Core, principal: Principal, thread_id: str) -> Thread:
    """A new thread of the caller's, with the state of this one and its past. `ThreadBusy` unless that is at rest.

    What it waits for is not copied: a person would be asked twice, or an answer would go to one of the two.
    """
    source = await _at_rest(core, principal, thread_id)
    made = await create_thread(
        core, principal, agent=source.agent, thread_id=str(uuid.uuid4()), metadata=source.metadata
    )
    await core.agents.copy_state(source, made)
    try:
        now = await _at_rest(core, principal, thread_id)
        if now.epoch != source.epoch:
            raise ThreadBusy("a run began meanwhile", thread_id, now.status)
    except (ThreadBusy, Forbidden):
        await delete_thread(core, principal, made.id)
        raise
    async with unit(core) as work:
        await work.tx.audit.append(made.id, principal, "thread.copied", {"from": thread_id}, work.now)
    return made


async def _at_rest(core: Core, principal: Principal, thread_id: str) -> Thread:
    async with core.store.snapshot() as tx:
        thread = driven(principal, await tx.threads.get(thread_id))
    if thread.status is not ThreadStatus.IDLE:
        raise ThreadBusy("the thread runs, or waits for an answer", thread_id, thread.status)
    return thread
