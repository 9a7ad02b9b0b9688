"""The state of a thread's graph: read, and written to between runs."""

from interlock.domain.errors import Conflict, InvalidInput, LeaseLost, ThreadBusy
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.principal import Principal
from interlock.domain.thread import Thread, ThreadStatus
from interlock.services.core import Core, unit
from interlock.services.threads.messages import cancel_pause
from interlock.services.threads.threads import check_agent, driven


async def write_state(
    core: Core,
    principal: Principal,
    thread_id: str,
    values: JsonValue,
    as_node: str | None,
    source: str,
    past: str | None = None,
) -> str:
    """Write to the state as if a node had; the new checkpoint's id. What the thread waits for is cancelled first.

    With a checkpoint of the past, to the state as it was there; a thread that waits for people does not go back.

    `InvalidInput` for what the state does not take: then nothing is cancelled. `ThreadBusy` where the thread runs, or
    an effect is in doubt.
    """
    thread = await _driven(core, principal, thread_id)
    if thread.status is ThreadStatus.RUNNING or (past is not None and thread.status is not ThreadStatus.IDLE):
        raise ThreadBusy("the thread runs, or waits for an answer", thread_id, thread.status)
    await core.agents.check_update(thread, values, as_node, past)
    await cancel_pause(core, principal, thread_id, source)
    # Before, too: what was written without a trace would be worse than a trace of what was not.
    await _note(core, principal, thread_id, "state.updating", {"as_node": as_node, **_from(past)})
    try:
        written = await core.agents.update_state(await _driven(core, principal, thread_id), values, as_node, past)
    except LeaseLost as error:
        raise Conflict("a run began meanwhile") from error
    await _note(core, principal, thread_id, "state.updated", {"checkpoint_id": written})
    return written


async def return_to(core: Core, principal: Principal, thread_id: str, past: str) -> str:
    """Make a state of the past the newest one of a thread at rest; the new checkpoint's id. What came after it stays.

    `NotFound` for a checkpoint that the thread has not, `ThreadBusy` unless it is at rest.
    """
    thread = await _driven(core, principal, thread_id)
    if thread.status is not ThreadStatus.IDLE:
        raise ThreadBusy("the thread runs, or waits for an answer", thread_id, thread.status)
    await core.agents.snapshot(thread, past)
    await _note(core, principal, thread_id, "state.returning", _from(past))
    try:
        written = await core.agents.return_to(thread, past)
    except LeaseLost as error:
        raise Conflict("a run began meanwhile") from error
    await _note(core, principal, thread_id, "state.updated", {"checkpoint_id": written})
    return written


def _from(past: str | None) -> JsonObject:
    return {} if past is None else {"from": past}


async def _driven(core: Core, principal: Principal, thread_id: str) -> Thread:
    async with core.store.snapshot() as tx:
        return driven(principal, await tx.threads.get(thread_id))


async def _note(core: Core, principal: Principal, thread_id: str, action: str, data: JsonObject) -> None:
    async with unit(core) as work:
        await work.tx.audit.append(thread_id, principal, action, data, work.now)


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
