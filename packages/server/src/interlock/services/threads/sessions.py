"""Sessions: one conversation per user, for callers who wait for what comes of what they sent.

A session is a thread of its own face. Its state is derived from its last run and its open pause, and is kept nowhere.
"""

import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime

from interlock import failpoints
from interlock.domain.errors import Forbidden, NoSession, NothingPending, NotShown, WrongSession
from interlock.domain.event import Event, Live, RunStarted
from interlock.domain.principal import Principal, Role, principal_of
from interlock.domain.request import Pause, Request
from interlock.domain.run import Run, RunStatus
from interlock.domain.run_input import GraphInput, MessageInput
from interlock.domain.session import SessionState, state_after
from interlock.domain.thread import Thread, title_of
from interlock.ports.agents import Message
from interlock.ports.store import Transaction
from interlock.services.core import Core, unit
from interlock.services.requests import answering
from interlock.services.requests.answering import Choose, Sender, SettleResult
from interlock.services.threads import messages
from interlock.services.threads.following import follow
from interlock.services.threads.messages import StartedRun
from interlock.services.threads.removal import remove_thread
from interlock.services.threads.threads import add_thread, check_agent, conversation, open_pause_of

FACE = "sessions"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: what those who wait are told, and what a session shows as its last response."""

    session_id: str
    state: SessionState
    at: datetime
    run: Run | None = None
    """None when the session was deleted meanwhile."""
    pause: Pause | None = None
    requests: tuple[Request, ...] = ()
    """While people are waited for: what is open of the pause."""
    messages: tuple[Message, ...] = ()
    """Of a completed one: the conversation."""


@dataclass(frozen=True, slots=True)
class Session:
    thread: Thread
    state: SessionState
    query: str | None
    outcome: Outcome | None
    """None while it runs."""


async def find_user(core: Core, caller: Principal, name: str) -> Principal:
    """The user whose session is meant: the caller, or for an admin anybody; `NotFound` when there is nobody."""
    if caller.is_agent or (caller.name != name and caller.role is not Role.ADMIN):
        raise Forbidden("a session is its user's own")
    if caller.name == name:
        return caller
    async with core.store.snapshot() as tx:
        user = await tx.users.by_name(name)
    if user is None:
        raise NoSession(name)
    return principal_of(user)


async def invoke(core: Core, caller: Principal, user: Principal, given: MessageInput | GraphInput) -> StartedRun:
    """Start a run with a message or an input in the user's session, which is made if there is none.

    `ThreadBusy`, with what is pending, where it runs or waits. Nobody's connection ends the run.
    """
    messages.check_text(given)
    async with unit(core) as work:
        thread = await work.tx.threads.lock_newest_of(FACE, user.id)
        if thread is None:
            agent = check_agent(core, None)
            thread = await add_thread(work, user, agent, str(uuid.uuid4()), title_of(given.as_text()), face=FACE)
        run = await messages.take_input(work, caller, thread, given, detached=True)
    failpoints.hit("message.committed")
    return StartedRun(thread, run, thread.seq)


async def resume(
    core: Core,
    sender: Sender,
    user: Principal,
    session_id: str,
    choose: Choose,
    *,
    request_id: str | None = None,
    is_click: bool = False,
) -> SettleResult:
    """Reply to what the user's session waits for.

    `NotFound` where there is no session, `WrongSession` for an earlier one, `NothingPending` with the session's state
    where nobody is waited for; else as `answering.answer_pause`.
    """
    async with core.store.snapshot() as tx:
        thread = await _current_thread(tx, user)
    if thread.id != session_id:
        raise WrongSession("this is not the user's present session")
    try:
        pause = await answering.pause_in_view(
            core, sender.principal, thread.id, request_id=request_id, is_click=is_click
        )
    except NothingPending as error:
        raise await _not_interrupted_error(core, user, error) from error
    return await answering.answer_pause(core, sender, thread.id, pause.id, choose, request_id=request_id, detached=True)


async def follow_outcome(
    core: Core, session_id: str, run: Run | None, after: int
) -> AsyncGenerator[Outcome | Live | None]:
    """What happens from event number `after` on, and at last the outcome of the run; without a run, of the last one.

    A pause that somebody settled elsewhere meanwhile is none to wait at: then it is the outcome of the run that went
    on. None comes when nothing happened for a while, so that the caller may look whether anybody still waits.
    """
    run_id = run.id if run else None
    outcome = None if run else await _outcome_of(core, session_id)
    if outcome is not None:
        yield outcome
        return
    async with aclosing(follow(core, session_id, after)) as items:
        async for item in items:
            if isinstance(item, Event) and isinstance(item.data, RunStarted):
                run_id = item.data.run_id
            outcome = await _outcome_of(core, session_id, run_id) if _may_end(item, run_id) else None
            yield outcome or item
            if outcome is not None:
                return


async def find_session(core: Core, user: Principal) -> Session | None:
    """The user's session as it stands; None when there is none."""
    async with core.store.snapshot() as tx:
        thread = await tx.threads.newest_of(FACE, user.id)
        if thread is None:
            return None
        run = await tx.runs.last_of(thread.id)
        turn = await tx.runs.last_message_of(thread.id)
        outcome = await _outcome(tx, thread, run)
    query = turn.input.as_text() if turn else None
    return Session(thread, state_after(run), query, outcome and await _with_messages(core, thread, outcome))


async def users(core: Core, caller: Principal, *, everybody: bool) -> list[str]:
    """The names of those who have a session; without `everybody`, the caller's if they have one."""
    async with core.store.snapshot() as tx:
        if everybody:
            return await tx.threads.owners(FACE)
        return [caller.name] if await tx.threads.newest_of(FACE, caller.id) else []


async def delete(core: Core, caller: Principal, user: Principal) -> None:
    """Delete the user's session: what runs is stopped, what is pending is cancelled. `NotFound` without one."""
    async with unit(core) as work:
        thread = await work.tx.threads.lock_newest_of(FACE, user.id)
        if thread is None:
            raise NoSession(user.name)
        await remove_thread(work, caller, thread)


def _may_end(item: Live | None, run_id: str | None) -> bool:
    return isinstance(item, Event) and item.ends(run_id)


async def _outcome_of(core: Core, session_id: str, run_id: str | None = None) -> Outcome | None:
    """The outcome of a run that has ended; None when it only paused, and what it waited for is settled already."""
    async with core.store.snapshot() as tx:
        thread = await tx.threads.get(session_id)
        if thread is None:
            return Outcome(session_id, SessionState.NOT_FOUND, core.clock.now())
        run = await (tx.runs.get(run_id) if run_id else tx.runs.last_of(session_id))
        outcome = await _outcome(tx, thread, run)
    return outcome and await _with_messages(core, thread, outcome)


async def _outcome(tx: Transaction, thread: Thread, run: Run | None) -> Outcome | None:
    state = state_after(run)
    if run is None or state is SessionState.RUNNING:
        return None
    pause, requests = None, ()
    if run.status is RunStatus.PAUSED:
        pause, requests = await open_pause_of(tx, thread.id)
        if pause is None or pause.run_id != run.id:
            return None
    return Outcome(thread.id, state, thread.updated_at, run, pause, requests)


async def _with_messages(core: Core, thread: Thread, outcome: Outcome) -> Outcome:
    if outcome.state is not SessionState.COMPLETED:
        return outcome
    messages = await conversation(core, thread)
    if core.agents.has_messages(thread.agent):
        # As it was when the run ended: the next message may be there already.
        messages = messages[: thread.message_count]
    return replace(outcome, messages=tuple(messages))


async def _current_thread(tx: Transaction, user: Principal) -> Thread:
    thread = await tx.threads.newest_of(FACE, user.id)
    if thread is None:
        raise NoSession(user.name)
    return thread


class NotInterrupted(NothingPending):
    """A reply to a session that waits for nobody."""

    def __init__(self, state: SessionState, error: NothingPending) -> None:
        super().__init__("nobody is waited for in this session", error.status, error.end)
        self.state = state


async def _not_interrupted_error(core: Core, user: Principal, error: NothingPending) -> Exception:
    session = await find_session(core, user)
    if session is None:
        return NoSession(user.name)
    if session.state is SessionState.INTERRUPTED:
        return NotShown("this reply was sent before the present question was shown")
    return NotInterrupted(session.state, error)
