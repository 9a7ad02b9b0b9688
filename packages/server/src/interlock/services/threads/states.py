"""The state of a thread's graph: read, and written to between runs."""

from interlock.domain.errors import Conflict, InvalidInput, LeaseLost, ThreadBusy
from interlock.domain.json_value import JsonValue
from interlock.domain.principal import Principal
from interlock.domain.thread import Thread, ThreadStatus
from interlock.services.core import Core, unit
from interlock.services.threads.threads import check_agent, driven


async def write_state(core: Core, principal: Principal, thread_id: str, values: JsonValue, as_node: str | None) -> str:
    """Write to the state as if a node had; the new checkpoint's id. `ThreadBusy` unless the thread is idle."""
    async with core.store.snapshot() as tx:
        thread = driven(principal, await tx.threads.get(thread_id))
    if thread.status is not ThreadStatus.IDLE:
        raise ThreadBusy("the thread runs, or waits for an answer", thread_id, thread.status)
    try:
        checkpoint_id = await core.agents.update_state(thread, values, as_node)
    except LeaseLost as error:
        raise Conflict("a run began meanwhile") from error
    async with unit(core) as work:
        await work.tx.audit.append(thread_id, principal, "state.updated", {"checkpoint_id": checkpoint_id}, work.now)
    return checkpoint_id


async def assign_agent(core: Core, principal: Principal, thread_id: str, agent: str) -> Thread:
    """Give a thread that never ran to another agent."""
    check_agent(core, agent)
    async with unit(core) as work:
        thread = driven(principal, await work.tx.threads.lock(thread_id))
        if thread.agent == agent:
            return thread
        is_new = await work.tx.runs.last_of(thread_id) is None and not await work.tx.waiting_runs.count_of(thread_id)
        if thread.is_outside or not is_new:
            raise InvalidInput(f"the agent of this thread is {thread.agent}")
        await work.tx.threads.update(thread_id, work.now, agent=agent)
        found = await work.tx.threads.get(thread_id)
    assert found is not None
    return found
