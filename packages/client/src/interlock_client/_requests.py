"""Requests as people see them: what is pending, what became of it, and answering it."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any

from interlock_client._following import Follower, follow_events
from interlock_client._transport import HITL, Call, Part, segment
from interlock_client.errors import InvalidInput
from interlock_client.events import RequestEvent, request_event
from interlock_client.hitl import (
    Answered,
    Cancelled,
    PendingOfConversation,
    PendingPage,
    PendingRequest,
    RequestObject,
    RequestType,
    Risk,
)

LONGEST_WAIT = 60.0


class Requests(Part):
    async def pending(
        self,
        conversation_id: str | None = None,
        *,
        type: RequestType | None = None,
        agent: str | None = None,
        risk: Risk | None = None,
        min_age: float | None = None,
        max_age: float | None = None,
        page_size: int = 50,
    ) -> AsyncGenerator[PendingRequest]:
        """What waits for a person: of one conversation, or everything that the caller may see, the oldest first."""
        query = {"type": type, "agent": agent, "risk": risk, "min_age": min_age, "max_age": max_age}
        if conversation_id is None:
            async for request in self._all_pending({**query, "limit": page_size}):
                yield request
            return
        if any(value is not None for value in query.values()):
            raise InvalidInput("filters are for all conversations: leave conversation_id out")
        call = Call("GET", f"{HITL}/conversations/{segment(conversation_id)}/pending", repeatable=True)
        for request in (await self._fetch_data(PendingOfConversation, call)).pending_requests:
            yield request

    async def _all_pending(self, params: dict[str, Any]) -> AsyncGenerator[PendingRequest]:
        while True:
            page = await self._fetch_data(PendingPage, Call("GET", f"{HITL}/pending", params=params, repeatable=True))
            for request in page.pending_requests:
                yield request
            if page.next_cursor is None:
                return
            params = {**params, "cursor": page.next_cursor}

    async def request(self, request_id: str, *, wait: float = 0.0) -> RequestObject:
        """One request, with its answer where it has one; held until it is settled, for `wait` seconds (60) at most."""
        call = Call(
            "GET",
            f"{HITL}/requests/{segment(request_id)}",
            params={"wait": min(wait, LONGEST_WAIT)},
            repeatable=True,
            holds=max(wait, 0.0),
        )
        return await self._fetch_data(RequestObject, call)

    async def respond(
        self,
        request_id: str,
        response: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        over_claim: bool | None = None,
        **fields: Any,
    ) -> Answered:
        """Answer a request: `respond(id, answer="red")` or `respond(id, {"answer": "red"})`.

        Where more people have to say yes, its `status` is `pending`, and `votes` says how many have. With
        `over_claim=False` it is a `Conflict` where somebody else has claimed it.

        `AlreadySettled` says who was first, `Expired` that nobody was; after `InvalidResponse` it is still pending.
        """
        body = self._body(
            request_id=request_id, response={**(response or {}), **fields}, metadata=metadata, over_claim=over_claim
        )
        call = Call("POST", f"{HITL}/respond", body, headers=self._new_key(), repeatable=True)
        return await self._fetch_data(Answered, call)

    async def cancel(self, request_id: str, reason: str | None = None) -> Cancelled:
        """Cancel a request that is pending: the agent is told that nobody answered, and goes on."""
        body = self._body(request_id=request_id, reason=reason)
        call = Call("POST", f"{HITL}/cancel", body, headers=self._new_key(), repeatable=True)
        return await self._fetch_data(Cancelled, call)

    def follow(
        self, conversation_id: str | None = None, last_event_id: str | None = None
    ) -> AsyncGenerator[RequestEvent]:
        """What is asked and settled on a conversation, this client's own unless one is named.

        First what is pending now, or after `last_event_id` everything since. It resumes by itself, and ends when the
        conversation is deleted.
        """
        where = conversation_id or self.conversation_id
        if not where:
            raise InvalidInput("which conversation? This client has none of its own yet; follow_inbox() follows all")
        call = Call("GET", "/api/v1/agent/stream", params={"conversation_id": where}, repeatable=True)
        return follow_events(Follower(self._transport, call, last_event_id), request_event)
