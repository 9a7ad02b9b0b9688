"""The WebSocket of this face: what a person says to an agent, what it does, and what they confirm."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from fastapi import APIRouter, WebSocket

from interlock.domain.errors import (
    AlreadySettled,
    InterlockError,
    InvalidAnswer,
    NotAuthenticated,
    NotFound,
    ReadsAsRefusal,
)
from interlock.domain.principal import Principal
from interlock.domain.request import RequestStatus
from interlock.domain.thread import CONFIRM
from interlock.faces.confirm import messages
from interlock.faces.confirm.errors import EmptyMessage, InvalidStep, StepSettled, UnknownStep
from interlock.faces.confirm.events import OutgoingEvent
from interlock.faces.confirm.sessions import Sessions
from interlock.faces.confirm.steps import opened_seq_of, step_of
from interlock.faces.http.connections import POLICY, close, watch, welcome
from interlock.faces.http.credentials import caller_now, credential_of
from interlock.faces.http.locale import locale_of
from interlock.faces.http.problems import DefaultErrorFormat
from interlock.faces.http.server_state import state_of
from interlock.faces.http.sockets import Outbox
from interlock.faces.shared.refusals import count_text
from interlock.services.requests import answering, pending
from interlock.services.requests.answering import Sender, count_malformed
from interlock.services.requests.pending import RequestView
from interlock.services.requests.settling import already_settled
from interlock.services.threads.messages import send_message
from interlock.texts import Locale
from interlock.texts import confirm_text as text
from interlock_client.confirm import AgentEvents, SystemEvents, UserEvent, UserEvents

MOST_SEQ = 10**18

router = APIRouter()


@router.websocket("/ws")
@router.websocket("/")
async def socket(websocket: WebSocket) -> None:
    """Talk to an agent, and confirm what it wants to do."""
    await welcome(
        websocket, DefaultErrorFormat(), lambda outbox, principal: _Connection(websocket, outbox, principal).serve()
    )


class _Connection:
    def __init__(self, websocket: WebSocket, outbox: Outbox, principal: Principal) -> None:
        self._websocket = websocket
        self._principal = principal
        self._state = state_of(websocket)
        self._core = self._state.core
        self._locale: Locale = locale_of(websocket)
        self._tasks = asyncio.TaskGroup()
        self._sessions = Sessions(self._core, outbox, self._tasks, self._locale)

    async def serve(self) -> None:
        self._sessions.tell(OutgoingEvent(SystemEvents.CONNECTED, text("connected", self._locale)))
        # What fails in one of its tasks ends the connection: a socket that is open and silent would be worse.
        async with self._tasks:
            watching = self._tasks.create_task(watch(self._websocket, self._principal, self._still, self._speak))
            try:
                await self._converse()
            finally:
                watching.cancel()
                self._sessions.leave_all()

    async def _converse(self) -> None:
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            await self._handle(message.get("text") or message.get("bytes") or "")

    async def _still(self, principal: Principal) -> None:
        """Tell no more of what is no longer theirs."""
        self._principal = principal
        await self._sessions.leave_unseen(principal)

    def _speak(self, reason: str) -> str:
        return text(reason, self._locale)

    async def _handle(self, raw: str | bytes) -> None:
        event: UserEvent | None = None
        try:
            self._state.limits.admit(self._principal.person_id)
            event = messages.read(raw)
            await self._recognize(event)
            await _ACTIONS[event.event](self, event)
        except NotAuthenticated:
            await close(self._websocket, POLICY, self._speak("revoked"))
        except InterlockError as error:
            self._sessions.tell_error(error, event.session_id if event else None)

    async def _recognize(self, event: UserEvent) -> None:
        """Who is speaking now. Without accounts a client says so itself, and what it followed for another one ends."""
        if not self._state.with_accounts and event.user_id and event.user_id != self._principal.name:
            credential = await credential_of(self._websocket, event.user_id)
            await credential.principal_now()
            self._websocket.state.credential = credential
            self._sessions.leave_all()
        self._principal = await caller_now(self._websocket)

    async def _create(self, event: UserEvent) -> None:
        self._set_batch_size(event)
        await self._sessions.begin(self._principal, messages.metadata_text(event, "agent"))

    def _set_batch_size(self, event: UserEvent) -> None:
        size = messages.metadata_number(event, "batch_size", messages.LARGEST_BATCH, 1)
        self._sessions.batch_size = size or self._sessions.batch_size

    async def _reconnect(self, event: UserEvent) -> None:
        found = await self._sessions.open_requests(self._principal, event.session_id)
        after = messages.metadata_number(event, "last_seq", MOST_SEQ)
        self._set_batch_size(event)
        after = found.seq if after is None else min(after, found.seq)
        await self._sessions.take_up(self._principal, found, after, is_back=True)

    async def _message(self, event: UserEvent) -> None:
        if not isinstance(event.content, str):
            raise messages.wrong("content", "content must be a text: the message")
        if not event.content.strip():
            raise EmptyMessage("the message is empty")
        current_id = event.session_id or self._sessions.current
        session_id = current_id or await self._sessions.begin(self._principal)
        await self._on(session_id, lambda: self._send(session_id, event.content))

    async def _send(self, session_id: str, content: str) -> None:
        await send_message(self._core, self._principal, session_id, content, detached=True)

    async def _on(self, session_id: str | None, act: Callable[[], Awaitable[None]]) -> None:
        """Do something to a session. A connection that was not told of it before is told from just before that on."""
        if session_id in self._sessions:
            self._sessions.current = session_id
            await act()
            return
        before = await self._sessions.open_requests(self._principal, session_id)
        try:
            await act()
        finally:
            with suppress(NotFound):
                now = await self._sessions.open_requests(self._principal, session_id)
                await self._sessions.take_up(self._principal, now, before.seq)

    async def _respond(self, event: UserEvent) -> None:
        session_id = event.session_id or self._sessions.current
        await self._on(session_id, lambda: self._answer(session_id or "", event))

    async def _answer(self, session_id: str, event: UserEvent) -> None:
        view = await self._find_request(session_id, event.step_id)
        sender = Sender(self._principal, CONFIRM)
        try:
            confirmation = messages.confirmation_of(event.content)
            sender = Sender(self._principal, CONFIRM, messages.audit_metadata(confirmation))
            done = await answering.answer(self._core, sender, messages.reply_with(view.request, confirmation))
        except InvalidAnswer as error:
            if isinstance(error, ReadsAsRefusal) or any(one.field == "code" for one in error.errors):
                # Meant as an answer, and not to be counted until the step is given up.
                raise InvalidStep(error, event.step_id) from error
            left = await count_malformed(self._core, sender, view.request, text("retries", self._locale))
            raise InvalidStep(error, event.step_id, left) from error
        except AlreadySettled as error:
            raise StepSettled(error, event.step_id) from error
        for votes in done.votes.values():
            metadata = {"step_id": event.step_id, "votes": {"yes": votes.yes, "needed": votes.needed}}
            count_event = OutgoingEvent(AgentEvents.THINKING, count_text(votes, self._locale), metadata)
            self._sessions.tell(count_event, session_id)

    async def _find_request(self, session_id: str, step_id: str | None) -> RequestView:
        """What a step asks; `AlreadySettled` where it is settled, with who did."""
        seq = opened_seq_of(step_id or "")
        views = [] if seq is None else await pending.requests_opened_at(self._core, self._principal, session_id, seq)
        view = next((one for one in views if step_of(seq or 0, one.request).id == step_id), None)
        if view is None:
            raise UnknownStep(step_id)
        if view.request.status is RequestStatus.PENDING:
            return view
        raise StepSettled(already_settled(view.request, view.answer), step_id)

    async def _cancel(self, event: UserEvent) -> None:
        session_id = event.session_id or self._sessions.current
        await self._on(session_id, lambda: self._sessions.cancel(self._principal, session_id or ""))


_ACTIONS: Mapping[UserEvents, Callable[[_Connection, UserEvent], Awaitable[None]]] = {
    UserEvents.CREATE_SESSION: _Connection._create,  # pyright: ignore[reportPrivateUsage]
    UserEvents.MESSAGE: _Connection._message,  # pyright: ignore[reportPrivateUsage]
    UserEvents.RESPONSE: _Connection._respond,  # pyright: ignore[reportPrivateUsage]
    UserEvents.CANCEL: _Connection._cancel,  # pyright: ignore[reportPrivateUsage]
    UserEvents.RECONNECT: _Connection._reconnect,  # pyright: ignore[reportPrivateUsage]
}
