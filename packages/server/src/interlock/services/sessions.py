"""Sessions: one conversation per user, for callers who wait for what comes of what they sent.

A session is a thread of its own face. Its state is derived from its last run and its open pause, and is kept nowhere.
"""

import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime

from interlock import failpoints
from interlock.domain.errors import Forbidden, NotFound, NothingPending, NotShown, WrongSession
from interlock.domain.event import Event, EventType
from interlock.domain.principal import Principal, Role, principal_of
from interlock.domain.request import Pause, Request
from interlock.domain.run import Run, RunStatus
from interlock.domain.session import SessionState, state_after
from interlock.domain.thread import Thread, title_of
from interlock.ports.agents import Message
from interlock.ports.store import Transaction
from interlock.services import answering, messages
from interlock.services.answering import Choose, Sender, Settled
from interlock.services.core import Core, unit
from interlock.services.following import follow
from interlock.services.messages import Started
from interlock.services.threads import add_thread, check_agent, open_pause_of, remove_thread

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


async def user_named(core: Core, caller: Principal, name: str) -> Principal:
    """The user whose session is meant: the caller, or for an admin anybody; `NotFound` when there is nobody."""
    if caller.is_agent or (caller.name != name and caller.role is not Role.ADMIN):
        raise Forbidden("a session is its user's own")
    if caller.name == name:
        return caller
    async with core.store.snapshot() as tx:
        user = await tx.users.by_name(name)
    if user is None:
        raise _no_session(name)
    return principal_of(user)


async def invoke(core: Core, caller: Principal, user: Principal, text: str, system: str | None) -> Started:
    """Start a run with a message in the user's session, which is made if there is none.

    `ThreadBusy`, with what is pending, where it runs or waits. Nobody's connection ends the run.
    """
    messages.check_text(text)
    async with unit(core) as work:
        thread = await work.tx.threads.lock_present(FACE, user.id)
        if thread is None:
            agent = check_agent(core, None)
            thread = await add_thread(work, user, agent, str(uuid.uuid4()), title_of(text), face=FACE)
        run = await messages.take_message(work, caller, thread, text, detached=True, system=system)
    failpoints.hit("message.committed")
    return Started(thread, run, thread.seq)


async def resume(
    core: Core,
    sender: Sender,
    user: Principal,
    session_id: str,
    choose: Choose,
    *,
    request_id: str | None = None,
    is_click: bool = False,
) -> Settled:
    """Reply to what the user's session waits for.

    `NotFound` where there is no session, `WrongSession` for an earlier one, `NothingPending` with the session's state
    where nobody is waited for; else as `answering.answer_pause`.
    """
    async with core.store.snapshot() as tx:
        thread = await _present(tx, user)
    if thread.id != session_id:
        raise WrongSession("this is not the user's present session", session_id=session_id)
    try:
        pause = await answering.pause_in_view(
            core, sender.principal, thread.id, request_id=request_id, is_click=is_click
        )
    except NothingPending as error:
        raise await _not_interrupted(core, thread) from error
    return await answering.answer_pause(
        core, sender, thread.id, pause.id, choose, request_id=request_id, detached=True
    )


async def follow_outcome(
    core: Core, session_id: str, run: Run | None, after: int
) -> AsyncGenerator[Outcome | Event | None]:
    """What happens from event number `after` on, and at last the outcome of the run.

    A pause that somebody settled elsewhere in the same moment is none to wait at: then it is the outcome of the run
    that went on. None comes when nothing happened for a while, so that the caller may look whether anybody still waits.
    Without a run, something of the pause is still open, and that is the outcome.
    """
    if run is None:
        yield await _outcome_now(core, session_id)
        return
    run_id = run.id
    async with aclosing(follow(core, session_id, after)) as items:
        async for item in items:
            if not isinstance(item, Event):
                yield None if item is None else _heard(item)
                continue
            if item.type is EventType.RUN_STARTED:
                run_id = item.data["run_id"]
            is_end = item.type is EventType.RUN_ENDED and item.data["run_id"] == run_id
            outcome = await _outcome(core, session_id, run_id) if is_end or item.type is _GONE else None
            if outcome is not None:
                yield outcome
                return
            yield item
