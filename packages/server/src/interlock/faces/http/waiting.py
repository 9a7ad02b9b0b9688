"""Calls that hold until a request is settled."""

import asyncio
from collections.abc import Awaitable, Callable

from fastapi.requests import HTTPConnection

from interlock.faces.http.credentials import caller_now, caller_still
from interlock.faces.http.server_state import state_of
from interlock.faces.http.watching import RECHECK_SECONDS
from interlock.services.requests import pending
from interlock.services.requests.pending import RequestView


async def settled(
    connection: HTTPConnection, request_id: str, wait: float, is_gone: Callable[[], Awaitable[bool]] | None = None
) -> RequestView:
    """The request once it is settled, or as it is when the time is up; for as long as the credential holds.

    `is_gone` is for calls that nothing else ends when their client goes.
    """
    state = state_of(connection)
    begun_by = await caller_now(connection)
    looking = asyncio.ensure_future(pending.view_request(state.core, begun_by, request_id, wait=wait))
    try:
        while not looking.done() and not state.closing.is_set():
            await asyncio.wait([looking], timeout=RECHECK_SECONDS)
            await caller_still(connection)
            if is_gone is not None and await is_gone():
                break
    finally:
        looking.cancel()
        await asyncio.wait([looking])
    # What came in the last moment is told only to a credential that holds in that moment.
    caller = await caller_now(connection)
    if looking.cancelled() or caller != begun_by:
        return await pending.view_request(state.core, caller, request_id)
    return looking.result()
