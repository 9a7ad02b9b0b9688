"""The sessions that one connection is told of: each from a place in its log on, for as long as it may be seen."""

import asyncio
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import datetime

from interlock.domain.errors import Forbidden, InterlockError, NotFound, StorageUnavailable
from interlock.domain.event import Event, Live, RunEnded, ThreadDeleted
from interlock.domain.ids import new_id
from interlock.domain.moment import to_iso
from interlock.domain.principal import Principal
from interlock.domain.run import RunStatus
from interlock.domain.thread import CONFIRM
from interlock.faces.confirm import messages
from interlock.faces.confirm.errors import refusal
from interlock.faces.confirm.events import OutgoingEvent, SessionTranslator
from interlock.faces.http.sockets import Outbox
from interlock.services.core import Core
from interlock.services.requests import pending
from interlock.services.requests.pending import OpenRequests
from interlock.services.threads.followers import count_follower
from interlock.services.threads.following import follow, last_text_of
from interlock.services.threads.messages import interrupt
from interlock.services.threads.threads import create_thread, is_visible
from interlock.texts import Locale
from interlock.texts import confirm_text as text
from interlock_client.confirm import AgentEvents

MOST_SESSIONS = 200
AGAIN_SECONDS = 1.0
"""How long a session is not looked at after the database could not be read."""


@dataclass(slots=True)
class _Session:
    id: str
    seq: int
    """The last event of its log that was told."""
    translator: SessionTranslator
    task: asyncio.Task[None] | None = None
    is_cancelled: bool = False
    """Whether its user has cancelled, and the run has not ended yet."""

    def stop(self) -> None:
        if self.task is not None:
            self.task.cancel()


class Sessions:
    def __init__(self, core: Core, outbox: Outbox, tasks: asyncio.TaskGroup, locale: Locale) -> None:
        self._core = core
        self._outbox = outbox
        self._tasks = tasks
        self._locale: Locale = locale
        self._connection_id = new_id("conn")
        self._followed: dict[str, _Session] = {}
        self.batch_size = core.settings.confirmation_batch_size
        self.current: str | None = None
        """The session that is meant where none is named."""

    def __contains__(self, session_id: str | None) -> bool:
        return session_id in self._followed

    def tell(self, event: OutgoingEvent, session_id: str | None = None, at: datetime | None = None) -> None:
        known = self._followed.get(session_id or "")
        moment = to_iso(at or self._core.clock.now())
        self._outbox.put(messages.envelope(event, session_id, self._connection_id, known.seq if known else 0, moment))

    def tell_error(self, error: InterlockError, session_id: str | None = None) -> None:
        self.tell(refusal(error, self._locale), session_id or self.current)

    async def begin(self, principal: Principal, agent: str | None = None) -> str:
        """Make a session, and tell of it from here on."""
        self._check_room()
        thread = await create_thread(self._core, principal, agent=agent, thread_id=new_id("sess"), face=CONFIRM)
        session = _Session(thread.id, thread.seq, self._translator(OpenRequests(thread.id, thread.seq, ())))
        self._followed[thread.id] = session
        metadata = {"agent": thread.agent, "batch_size": self.batch_size}
        self.tell(OutgoingEvent(AgentEvents.SESSION_CREATED, text("created", self._locale), metadata), thread.id)
        self._follow(session, principal)
        return thread.id

    async def open_requests(self, principal: Principal, session_id: str | None) -> OpenRequests:
        """Where a session stands; whether there is one that is not theirs is told to nobody."""
        try:
            found = await pending.open_requests_of(self._core, principal, session_id or "")
        except Forbidden:
            found = None
        if found is None:
            raise NotFound("there is no such session")
        return found

    async def take_up(
        self, principal: Principal, open_requests: OpenRequests, after: int, *, is_back: bool = False
    ) -> None:
        """Tell what came after that event, ask for what is pending, and go on with what comes."""
        self.leave(open_requests.thread_id)
        self._check_room()
        last_text = await last_text_of(self._core, open_requests.thread_id, after)
        session = _Session(
            open_requests.thread_id, after, self._translator(open_requests, joined_late=True, last_text=last_text)
        )
        self._followed[session.id] = session
        if is_back:
            metadata = {"reconnected": True, "last_seq": after, "batch_size": self.batch_size}
            self.tell(
                OutgoingEvent(AgentEvents.SESSION_CREATED, text("reconnected", self._locale), metadata), session.id
            )
        self._tell_entry(session, principal, session.translator.begin(after), after)
        self._follow(session, principal)

    def leave(self, session_id: str) -> None:
        if (session := self._followed.pop(session_id, None)) is not None:
            session.stop()

    def leave_all(self) -> None:
        for session_id in [*self._followed]:
            self.leave(session_id)
        self.current = None

    async def leave_unseen(self, principal: Principal) -> None:
        """End what is no longer the caller's to see."""
        for session_id in [*self._followed]:
            if not await is_visible(self._core, principal, session_id) and session_id in self._followed:
                self.tell(OutgoingEvent(AgentEvents.SESSION_END, text("session_end", self._locale)), session_id)
                self.leave(session_id)

    async def cancel(self, principal: Principal, session_id: str) -> None:
        session = self._followed.get(session_id)
        if await interrupt(self._core, principal, session_id, text("cancelled", self._locale), CONFIRM):
            if session is not None:
                session.is_cancelled = True
            return
        self.tell(OutgoingEvent(AgentEvents.INTERRUPTED, text("interrupted", self._locale)), session_id)

    def _translator(
        self, open_requests: OpenRequests, *, joined_late: bool = False, last_text: str = ""
    ) -> SessionTranslator:
        return SessionTranslator(
            self._locale, self.batch_size, open_requests, joined_late=joined_late, last_text=last_text
        )

    def _check_room(self) -> None:
        if len(self._followed) >= MOST_SESSIONS:
            raise messages.wrong("session_id", f"a connection has {MOST_SESSIONS} sessions at the most")

    def _follow(self, session: _Session, principal: Principal) -> None:
        self.current = session.id
        session.task = self._tasks.create_task(self._keep_telling(session, principal))

    async def _keep_telling(self, session: _Session, principal: Principal) -> None:
        """Until the session is deleted. Where the database fails, it goes on as soon as that can be read again."""
        is_told = False
        while True:
            seq = session.seq
            try:
                await self._tell_rest(session, principal)
                return
            except StorageUnavailable as error:
                if session.seq != seq or not is_told:
                    self.tell_error(error, session.id)
                is_told = True
                await asyncio.sleep(AGAIN_SECONDS)

    async def _tell_rest(self, session: _Session, principal: Principal) -> None:
        with count_follower(self._core, session.id):
            async with aclosing(follow(self._core, session.id, session.seq)) as items:
                async for item in items:
                    if item is None:
                        continue
                    await self._outbox.room()
                    await self._tell_item(session, principal, item)
                    if isinstance(item, Event) and isinstance(item.data, ThreadDeleted):
                        return

    async def _tell_item(self, session: _Session, principal: Principal, item: Live) -> None:
        if not isinstance(item, Event):
            for event in session.translator.of(item):
                self.tell(event, session.id)
            return
        if pause_id := session.translator.pause_to_learn(item):
            session.translator.learn(*await pending.requests_of_pause(self._core, pause_id))
        self._tell_entry(session, principal, session.translator.of(item), item.seq, item.at)
        if isinstance(item.data, ThreadDeleted):
            self._forget(session)
        elif isinstance(item.data, RunEnded) and session.is_cancelled:
            session.is_cancelled = False
            if item.data.status is RunStatus.PAUSED:
                # It came to a pause before it came to its end. Who deleted it meanwhile has ended it as well.
                with suppress(Forbidden):
                    await self.cancel(principal, session.id)

    def _forget(self, session: _Session) -> None:
        self._followed.pop(session.id, None)
        if self.current == session.id:
            self.current = None

    def _tell_entry(
        self, session: _Session, principal: Principal, events: list[OutgoingEvent], seq: int, at: datetime | None = None
    ) -> None:
        """Only the last event of an entry has its number: who has seen that one has seen them all."""
        for one in events[:-1]:
            self.tell(one, session.id, at)
        session.seq = seq
        for one in events[-1:]:
            self.tell(one, session.id, at)
        for one in events:
            if one.event == AgentEvents.USER_CONFIRM:
                self._core.seen_pauses.show(one.metadata["pause_id"], principal.id)
