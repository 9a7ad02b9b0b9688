"""What an agent asks in a dialog of its own, put to a person in the inbox too, until one of the two has answered."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

from interlock_client._patience import Patience, logger
from interlock_client._transport import HITL, Part, Transport, segment
from interlock_client._transport import Call as ServerCall
from interlock_client.bridge.ledger import Ledger
from interlock_client.errors import InterlockError, InvalidInput
from interlock_client.hitl import Cancelled, RequestObject
from interlock_client.hook.call import Agent, Call, Outcome
from interlock_client.hook.requests import AT_TERMINAL, GONE, MARGIN, AnswerMismatch, body_of, outcome_of
from interlock_client.hook.settings import Misconfigured, Settings, load
from interlock_client.visible import one_line

HELD = 50.0
"""Seconds for which the server holds a look at a request that is pending."""
TIMEOUT = 12 * 3600.0
REPLY = 30.0
WITHDRAWING = 3.0
"""Seconds to withdraw what is open when this process ends."""

Answer = Callable[[Outcome], Awaitable[None]]


class Inbox(Part):
    """Where people are asked; a server that is away is waited for."""

    def __init__(self, settings: Settings, timeout: float = TIMEOUT) -> None:
        self._timeout = timeout
        self.url = settings.url
        transport = Transport(
            settings.url, credential=settings.key or None, user=None, locale="en", timeout=REPLY, patience=REPLY
        )
        super().__init__(transport)

    async def close(self) -> None:
        await self._transport.close()

    async def place(self, agent: Agent, call: Call, key: str) -> RequestObject:
        """The request: once for each key, whichever process asks, unless one before it has withdrawn it."""
        body = body_of(agent, call, self._timeout + MARGIN)
        for number in count():
            request = await self._post(body, f"{key}-{number}" if number else key)
            # The reply to an ask that came before is that of the first time, so it is always looked at.
            request = await self._look(request, 0)
            if request.status != "cancelled":
                return request
        raise AssertionError

    async def _post(self, body: dict[str, Any], key: str) -> RequestObject:
        try:
            headers = {"idempotency-key": key}
            call = ServerCall("POST", f"{HITL}/requests", body, headers=headers, repeatable=True)
            return await self._fetch_data(RequestObject, call, Patience(None))
        except InvalidInput as error:
            if "agent" not in body or [one.field for one in error.errors] != ["agent"]:
                raise
            # A key of an agent asks under its own name.
            return await self._post({name: value for name, value in body.items() if name != "agent"}, key)

    async def wait_until_settled(self, request: RequestObject) -> RequestObject:
        while request.status == "pending":
            request = await self._look(request, HELD)
        return request

    async def _look(self, request: RequestObject, wait: float) -> RequestObject:
        path = f"{HITL}/requests/{segment(request.request_id)}"
        call = ServerCall("GET", path, params={"wait": wait}, repeatable=True, holds=wait)
        return await self._fetch_data(RequestObject, call, Patience(None))

    async def withdraw(self, request_id: str, reason: str) -> None:
        """However long the server is away: whoever sees the request should not answer somebody who has gone."""
        try:
            body = {"request_id": request_id, "reason": reason}
            call = ServerCall("POST", f"{HITL}/cancel", body, headers=self._new_key(), repeatable=True)
            await self._fetch_data(Cancelled, call, Patience(None))
        except InterlockError as error:
            logger.debug("a request could not be withdrawn: %s", error)


class Dialogs:
    """Those that are open now, by the agent's own id of what it asks."""

    def __init__(self, inbox: Inbox, ledger: Ledger | None = None) -> None:
        self._inbox = inbox
        self._ledger = ledger
        """None where what is asked outlives this process."""
        self._open: dict[str, asyncio.Task[None]] = {}
        self._reasons: dict[asyncio.Task[None], str] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._open

    @property
    def names(self) -> list[str]:
        return list(self._open)

    def open(self, name: str, agent: Agent, call: Call, key: str, answer: Answer) -> None:
        """Ask a person; `answer` is called with what they said, unless the dialog was closed before."""
        task = asyncio.create_task(self._ask(name, agent, call, key, answer))
        self._open[name] = task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def close(self, name: str, reason: str = AT_TERMINAL) -> None:
        """It was answered elsewhere: nobody is to answer it here any more."""
        if task := self._open.pop(name, None):
            self._reasons[task] = reason
            task.cancel()

    async def close_all(self, reason: str = GONE) -> None:
        for name in self.names:
            self.close(name, reason)
        # What is left passes an answer on, perhaps to somebody who is gone.
        for task in (left := tuple(self._tasks)):
            if task not in self._reasons:
                task.cancel()
        if left:
            _, late = await asyncio.wait(left, timeout=WITHDRAWING)
            for task in late:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def withdraw_left(self) -> None:
        """What was asked by processes that were killed: their agents ended with them."""
        left = self._ledger.left() if self._ledger else []
        for request_id in left:
            self._note(request_id)
        for request_id in left:
            await self._inbox.withdraw(request_id, GONE)
            self._strike(request_id)

    def _note(self, request_id: str) -> None:
        if self._ledger:
            self._ledger.add(request_id)

    def _strike(self, request_id: str) -> None:
        if self._ledger:
            self._ledger.remove(request_id)

    async def _place(self, agent: Agent, call: Call, key: str) -> RequestObject:
        request = await self._inbox.place(agent, call, key)
        self._note(request.request_id)
        return request

    async def _withdraw(self, placing: "asyncio.Task[RequestObject]", reason: str) -> None:
        try:
            request = await placing
        except InterlockError as error:
            logger.debug("there is nothing to withdraw: %s", error)
            return
        await self._inbox.withdraw(request.request_id, reason)
        self._strike(request.request_id)

    async def _ask(self, name: str, agent: Agent, call: Call, key: str, answer: Answer) -> None:
        placing = asyncio.create_task(self._place(agent, call, key))
        task = asyncio.current_task()
        assert task is not None
        try:
            request = await self._inbox.wait_until_settled(await asyncio.shield(placing))
            self._strike(request.request_id)
            outcome = _outcome(call, request)
        except asyncio.CancelledError:
            await self._withdraw(placing, self._reasons.get(task, GONE))
            raise
        except (InterlockError, AnswerMismatch) as error:
            outcome = None
            message = error.message if isinstance(error, InterlockError) else str(error)
            say(f"{agent.NAME} asks at its own dialog only: {' '.join(message.split())}")
        finally:
            self._reasons.pop(task, None)
        # From here on nobody else closes it: what comes second is told so.
        if self._open.pop(name, None) and outcome is not None:
            await answer(outcome)


def _outcome(call: Call, request: RequestObject) -> Outcome | None:
    """None where nobody answered: the agent's own dialog is still there."""
    if request.status != "answered":
        return None
    return outcome_of(call, {"status": request.status, "response": request.response})


def say(text: str) -> None:
    """To whoever looks after this process; what it gives on standard output may be for a program."""
    print(f"interlock: {one_line(text)}", file=sys.stderr, flush=True)


def inbox_of(timeout: float) -> Inbox:
    """The one that is set for this person; `InvalidInput` where that cannot be used."""
    try:
        return Inbox(load(), timeout)
    except Misconfigured as error:
        raise InvalidInput(str(error)) from error
