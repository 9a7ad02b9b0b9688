"""What an open stream, or a call that waits, has to look at again and again: whether its caller may still see what it
shows."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from fastapi.requests import HTTPConnection

from interlock.domain.errors import NotAuthenticated
from interlock.domain.principal import Principal
from interlock.faces.http.credentials import caller_now, caller_still
from interlock.faces.http.server_state import state_of
from interlock.services.requests import pending
from interlock.services.requests.pending import RequestView
from interlock.services.threads.following import IDLE_SECONDS
from interlock.services.threads.threads import is_visible

KEEP_ALIVE_SECONDS = 15.0
RECHECK_SECONDS = 1.5
"""On a stream that has much to say; one that is idle looks when the pulse wakes it, which sees that access changed."""


class Watch:
    """Over one stream or socket of one caller."""

    def __init__(self, connection: HTTPConnection) -> None:
        self._connection = connection
        self._state = state_of(connection)
        self._checked_at = time.monotonic()
        self._spoke = time.monotonic()
        self._seen_by: Principal | None = None
        self._is_seen = False

    async def reason_to_end(self, thread_id: str, *, is_idle: bool) -> str | None:
        """`closing` or `revoked`, when the stream has to end now."""
        if is_idle and self._state.closing.is_set():
            return "closing"
        if is_idle or time.monotonic() - self._checked_at >= RECHECK_SECONDS:
            self._checked_at = time.monotonic()
            if not await self._may_see(thread_id):
                return "revoked"
        return None

    async def _may_see(self, thread_id: str) -> bool:
        try:
            principal = await caller_still(self._connection)
        except NotAuthenticated:
            return False
        if principal != self._seen_by:
            # A thread stays its owner's, and that it was deleted is told: only who asks can change.
            self._is_seen = await is_visible(self._state.core, principal, thread_id)
            self._seen_by = principal
        return self._is_seen

    def spoke(self) -> None:
        self._spoke = time.monotonic()

    def needs_sign_of_life(self) -> bool:
        """After an idle time: whether waiting once more would be too late for a client that expects to hear."""
        if time.monotonic() - self._spoke + IDLE_SECONDS <= KEEP_ALIVE_SECONDS:
            return False
        self.spoke()
        return True


async def wait_until_settled(
    connection: HTTPConnection, request_id: str, wait: float, is_gone: Callable[[], Awaitable[bool]] | None = None
) -> RequestView:
    """The request once it is settled, or as it is when the time is up; for as long as the credential holds.

    `is_gone` is for calls that nothing else ends when their client goes.
    """
    state = state_of(connection)
    first_caller = await caller_now(connection)
    view = asyncio.ensure_future(pending.view_request(state.core, first_caller, request_id, wait=wait))
    try:
        while not view.done() and not state.closing.is_set():
            await asyncio.wait([view], timeout=RECHECK_SECONDS)
            await caller_still(connection)
            if is_gone is not None and await is_gone():
                break
    finally:
        view.cancel()
        await asyncio.wait([view])
    # What came in the last moment is told only to a credential that holds in that moment.
    caller = await caller_now(connection)
    if view.cancelled() or caller != first_caller:
        return await pending.view_request(state.core, caller, request_id)
    return view.result()
