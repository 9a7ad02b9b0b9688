"""A client of the confirmation socket: it is told what an agent does, and confirms its tools."""

import asyncio
import json
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, cast

from websockets.exceptions import ConnectionClosed

from interlock_client._confirmation_link import CONNECTING, Address, ConfirmationLink, Message
from interlock_client._confirmations import (
    ConfirmationConfig,
    ConfirmationError,
    ConfirmationRequest,
    ConfirmationResponse,
    InvalidStepId,
    SessionNotFound,
    confirmation_error,
    connection_lost,
    timeout_error,
)
from interlock_client._patience import logger
from interlock_client.confirm import AgentEvents, SystemEvents, UserEvents
from interlock_client.errors import InterlockError
from interlock_client.language import language


@dataclass
class _Reply:
    """There is no receipt for a reply: it is kept, and sent again if its step is asked again."""

    request: ConfirmationRequest | None
    message: Message
    again: bool = False


class ConfirmationHandler(ConfirmationLink):
    """Implement `on_confirmation_requested`, and reply with `send_confirmation`.

    `key` or `token` is sent in a header. A connection that breaks is opened again, and nothing is lost by it: what was
    missed is told, a reply that did not arrive is sent again, and nobody is asked twice.
    """

    def __init__(
        self,
        ws_url: str,
        *,
        key: str | None = None,
        token: str | None = None,
        user: str | None = None,
        locale: str | None = None,
        config: ConfirmationConfig | Mapping[str, Any] | None = None,
    ) -> None:
        language_tag = language() if locale is None else locale
        super().__init__(Address(ws_url, key or token, user, language_tag), ConfirmationConfig.of(config))
        self.session_id: str | None = None
        self.pending_confirmations: dict[str, ConfirmationRequest] = {}
        self.last_seq = 0
        self._replies: dict[str, _Reply] = {}
        self._ask_tasks: dict[str, asyncio.Task[None]] = {}
        self._sessions: list[asyncio.Future[str]] = []

    @abstractmethod
    async def on_confirmation_requested(self, request: ConfirmationRequest) -> None:
        """A tool is to be confirmed, or something else is asked (`request.kind`)."""

    async def on_event(self, event: Message) -> None:
        """Every event, before it is acted upon."""

    async def on_final_answer(self, answer: str) -> None:
        """The agent has ended its turn."""

    async def on_error(self, error: ConfirmationError) -> None:
        detail = f" {dict(error.details)}" if self.config.show_detailed_errors and error.details else ""
        logger.warning("%s: %s%s", error.error_type, error.message, detail)

    async def create_session(self, agent: str | None = None, *, batch_size: int | None = None) -> str:
        """A new session, which everything is about from then on; its id."""
        created: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._sessions.append(created)
        given = {"agent": agent, "batch_size": batch_size}
        metadata = {name: value for name, value in given.items() if value is not None}
        try:
            await self._send({"event": UserEvents.CREATE_SESSION, "metadata": metadata})
            async with asyncio.timeout(CONNECTING):
                return await created
        except TimeoutError:
            raise connection_lost("the server did not say that the session was made") from None
        finally:
            self._sessions.remove(created)

    async def send_message(self, text: str) -> None:
        """Say something to the agent; without a session the server makes one first."""
        await self._send({"event": UserEvents.MESSAGE, "session_id": self.session_id, "content": text})

    async def cancel(self) -> None:
        """Stop the agent, and cancel what is pending."""
        await self._send({"event": UserEvents.CANCEL, "session_id": self.session_id})

    async def send_confirmation(self, step_id: str, response: ConfirmationResponse) -> None:
        """Reply to a step, once. While the connection is being opened again the reply is kept, and sent then."""
        if not self.session_id or not self.ws:
            raise RuntimeError("Session not established")
        if step_id in self._replies:
            raise InvalidStepId("the step was replied to before", error_type="invalid_step_id", step_id=step_id)
        where = {"event": UserEvents.RESPONSE, "session_id": self.session_id, "step_id": step_id}
        reply = _Reply(self.pending_confirmations.pop(step_id, None), {**where, "content": response.content()})
        # Kept before anything can fail: nobody has to decide twice.
        self._replies[step_id] = reply
        try:
            await self.ws.send(json.dumps(reply.message))
        except ConnectionClosed as error:
            if self._is_over or not self.config.auto_reconnect:
                raise connection_lost(f"the reply to {step_id} could not be sent: {error}") from error

    def get_pending_confirmation(self, step_id: str) -> ConfirmationRequest | None:
        return self.pending_confirmations.get(step_id)

    def get_pending_confirmations(self) -> list[ConfirmationRequest]:
        return [*self.pending_confirmations.values()]

    def _greeting(self) -> Message | None:
        if self.session_id is None:
            return None
        metadata = {"last_seq": self.last_seq}
        return {"event": UserEvents.RECONNECT, "session_id": self.session_id, "metadata": metadata}

    async def _finish(self) -> None:
        self._no_session(connection_lost("the connection ended before there was a session"))
        await self._stop_asking([*self._ask_tasks])

    def _no_session(self, error: ConfirmationError) -> None:
        for waiting in self._sessions:
            if not waiting.done():
                waiting.set_exception(error)

    async def _receive(self, raw: str | bytes) -> None:
        try:
            value: Any = json.loads(raw)
        except ValueError:
            logger.warning("the server sent a message that is not JSON")
            return
        if not isinstance(value, dict):
            return
        message = cast("Message", value)
        if message.get("event") == AgentEvents.USER_CONFIRM:
            # Beside the loop: while a person thinks, events go on.
            self._start_asking(str(message.get("step_id")), self._handle_message(message))
        else:
            await self._handle_message(message)

    def _start_asking(self, step_id: str, asking: Coroutine[Any, Any, None]) -> None:
        if step_id in self._ask_tasks:
            asking.close()
        else:
            self._ask_tasks[step_id] = asyncio.create_task(self._ask(step_id, asking))

    async def _ask(self, step_id: str, asking: Coroutine[Any, Any, None]) -> None:
        try:
            await asking
        except (InterlockError, RuntimeError) as error:
            logger.warning("%s is still pending: %s", step_id, error)
        except Exception:
            logger.exception("%s is still pending: its handler failed", step_id)
        finally:
            del self._ask_tasks[step_id]

    async def _handle_message(self, message: Message) -> None:
        """Act on one event of the server."""
        seq = message.get("seq")
        if isinstance(seq, int) and message.get("session_id") == self.session_id:
            self.last_seq = max(self.last_seq, seq)
        await self.on_event(message)
        act = _ACTIONS.get(str(message.get("event")))
        if act is not None:
            await act(self, message)

    async def _handle_session_created(self, message: Message) -> None:
        session_id = str(message.get("session_id"))
        if session_id != self.session_id:
            await self._forget()
            self.session_id, self.last_seq = session_id, int(message.get("seq") or 0)
        metadata: Message = message.get("metadata") or {}
        for waiting in self._sessions:
            if not (waiting.done() or metadata.get("reconnected")):
                waiting.set_result(session_id)

    async def _handle_confirmation_request(self, message: Message) -> None:
        request = ConfirmationRequest.read(message)
        reply = self._replies.get(request.step_id)
        is_known = request.step_id in self.pending_confirmations
        if reply is not None:
            # It did not arrive, or crossed with this.
            reply.again = True
            if self.ws is not None:
                await self.ws.send(json.dumps(reply.message))
            return
        self.pending_confirmations[request.step_id] = request
        if not is_known:
            await self._confirm(request)

    async def _confirm(self, request: ConfirmationRequest) -> None:
        limit = asyncio.timeout(self.config.confirmation_timeout)
        try:
            async with limit:
                await self.on_confirmation_requested(request)
        except TimeoutError:
            if not limit.expired():
                raise
            self.pending_confirmations.pop(request.step_id, None)
            await self.on_error(timeout_error(request, self.config.confirmation_timeout))

    async def _handle_error(self, message: Message) -> None:
        error = confirmation_error(message)
        reply = self._replies.get(error.step_id or "")
        if isinstance(error, InvalidStepId) and reply is not None and reply.again:
            return  # The reply had arrived the first time.
        if reply is not None and reply.request is not None and error.details.get("attempts_left"):
            await self._ask_again(reply.request)
        elif error.step_id is not None:
            await self._settle(error.step_id)
        else:
            self._no_session(error)
        if isinstance(error, SessionNotFound):
            await self._forget()
            self.session_id = None
        await self.on_error(error)

    async def _ask_again(self, request: ConfirmationRequest) -> None:
        """The reply was of a form that the server does not take: the step is still pending, and asked anew."""
        del self._replies[request.step_id]
        await self._stop_asking([request.step_id])
        self.pending_confirmations[request.step_id] = request
        self._start_asking(request.step_id, self._confirm(request))

    async def _handle_tool_result(self, message: Message) -> None:
        """With the id of a step: it was refused, maybe by somebody else."""
        if message.get("step_id"):
            await self._settle(str(message["step_id"]))

    async def _handle_final_answer(self, message: Message) -> None:
        await self.on_final_answer(str(message.get("content") or ""))

    async def _handle_session_end(self, message: Message) -> None:
        if message.get("session_id") == self.session_id:
            await self._forget()
            self.session_id = None

    async def _settle(self, step_id: str) -> None:
        self.pending_confirmations.pop(step_id, None)
        await self._stop_asking([step_id])

    async def _forget(self) -> None:
        self.pending_confirmations.clear()
        self._replies.clear()
        await self._stop_asking([*self._ask_tasks])

    async def _stop_asking(self, step_ids: list[str]) -> None:
        tasks = [task for step_id in step_ids if (task := self._ask_tasks.get(step_id)) is not None]
        others = [task for task in tasks if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


_ACTIONS: Mapping[str, Callable[[ConfirmationHandler, Message], Awaitable[None]]] = {
    AgentEvents.SESSION_CREATED: ConfirmationHandler._handle_session_created,  # pyright: ignore[reportPrivateUsage]
    AgentEvents.USER_CONFIRM: ConfirmationHandler._handle_confirmation_request,  # pyright: ignore[reportPrivateUsage]
    AgentEvents.FINAL_ANSWER: ConfirmationHandler._handle_final_answer,  # pyright: ignore[reportPrivateUsage]
    AgentEvents.TOOL_RESULT: ConfirmationHandler._handle_tool_result,  # pyright: ignore[reportPrivateUsage]
    AgentEvents.SESSION_END: ConfirmationHandler._handle_session_end,  # pyright: ignore[reportPrivateUsage]
    AgentEvents.ERROR: ConfirmationHandler._handle_error,  # pyright: ignore[reportPrivateUsage]
    SystemEvents.ERROR: ConfirmationHandler._handle_error,  # pyright: ignore[reportPrivateUsage]
}

MyAgentConfirmationHandler = ConfirmationHandler
