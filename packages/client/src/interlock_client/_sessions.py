"""Sessions: one conversation per user, and calls that wait for what comes of them."""

from collections.abc import Mapping
from typing import Any

from interlock_client import sessions as wire
from interlock_client._patience import Patience
from interlock_client._transport import Call, Part, segment
from interlock_client.errors import ServerUnavailable

SERVERS_OWN: Any = object()
WAIT = 600.0
"""Seconds. A run goes on when nobody waits for it any more."""


class Sessions(Part):
    async def invoke(
        self, user_id: str, query: str, *, system_message: str | None = SERVERS_OWN, wait: float = WAIT
    ) -> wire.AgentResponse:
        """Send a query to the user's session, and wait until the agent is done or asks a person.

        Without a `system_message` a session begins with the server's own, in the language of the caller.
        `ThreadBusy` while the session runs or waits. `NetworkError` after `wait` seconds: the run goes on, and
        `session` tells what came of it.
        """
        given = {} if system_message is SERVERS_OWN else {"system_message": system_message}
        body = {"user_id": user_id, "query": query, **given}
        return await self._wait_for(user_id, Call("POST", "/agent/invoke", body, holds=wait))

    async def resume_session(
        self,
        user_id: str,
        session_id: str,
        response_type: wire.ResponseType,
        args: Mapping[str, Any] | None = None,
        *,
        wait: float = WAIT,
    ) -> wire.AgentResponse:
        """Reply to what the session waits for, and wait until the agent is done or asks again."""
        given = None if args is None else dict(args)
        body = {"user_id": user_id, "session_id": session_id, "response_type": response_type, "args": given}
        return await self._wait_for(user_id, Call("POST", "/agent/resume", body, holds=wait))

    async def _wait_for(self, user_id: str, call: Call) -> wire.AgentResponse:
        """What a call came to. A server that shuts down goes on with it after its restart, and is waited for."""
        try:
            return await self._transport.fetch(wire.AgentResponse, call)
        except ServerUnavailable as error:
            if "status" not in error.details:
                raise
            patience = Patience(call.holds)
            while True:
                await patience.pause(error)
                session = await self.session(user_id)
                if session.status != "running" and session.last_response is not None:
                    return session.last_response

    async def session(self, user_id: str) -> wire.SessionStatusResponse:
        """Where the user's session stands, and what the last call came to."""
        return await self._got(wire.SessionStatusResponse, f"/agent/status/{segment(user_id)}")

    async def delete_session(self, user_id: str) -> None:
        """Delete the user's session for good: what runs is stopped, what is pending is cancelled."""
        await self._transport.fetch(wire.SessionDeleted, Call("DELETE", f"/agent/session/{segment(user_id)}"))

    async def system_info(self) -> wire.SystemInfoResponse:
        """Whose sessions there are; with accounts, who is not an admin sees their own only."""
        return await self._got(wire.SystemInfoResponse, "/system/info")
