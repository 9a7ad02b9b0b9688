"""The inbox: everything that waits and that the caller may see, listed and followed."""

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from typing import Any

from interlock_client._following import Follower, event_of
from interlock_client._patience import Patience
from interlock_client._transport import Call, Part, segment
from interlock_client.errors import Forbidden, InterlockError, NotFound
from interlock_client.events import InboxAsked, InboxChanged, InboxEvent, InboxExtended, InboxGone, InboxSettled
from interlock_client.inbox import Inbox, InboxEntry, InboxRequest, Kind, Present, Risk, Welcome

INBOX = "/api/v1/inbox"
PAGE = 200
SILENCE = 10.0
"""Seconds: the server gives a sign of life every 4."""

Waiting = dict[str, InboxEntry]
OnConnection = Callable[[InterlockError | None], None]


class InboxPart(Part):
    def inbox(
        self,
        *,
        kind: Kind | None = None,
        risk: Risk | None = None,
        agent: str | None = None,
        for_whom: str | None = None,
    ) -> AsyncGenerator[InboxEntry]:
        """Everything that waits and that the caller may see, the oldest first.

        `for_whom` is `me`, `group:NAME`, `claimed` (by the caller) or `all`.
        """
        query = {"kind": kind, "risk": risk, "agent": agent, "for": for_whom}
        return self._list_entries(query, Patience(self._transport.patience))

    async def whoami(self) -> Present:
        """Who is calling."""
        return await self._got(Present, "/api/v1/session")

    async def welcome(self) -> Welcome:
        """What the server says before anybody has signed in: how one does."""
        return await self._got(Welcome, "/api/v1/welcome")

    async def follow_inbox(self, *, on_connection: OnConnection | None = None) -> AsyncGenerator[InboxEvent]:
        """Everything that waits now, and from then on what is asked and what becomes of it, over all conversations.

        It connects again by itself, and then tells what it missed: each request that waits is told of once, and once
        how it ended. `NotAuthenticated` when the credential does not hold any more.

        `on_connection` is called with what stands in the way, each time that the connection is lost, and with None once
        it is there and everything missed was told.
        """
        waiting: Waiting = {}
        call = Call("GET", f"{INBOX}/stream", repeatable=True, silence=SILENCE)
        follower = Follower(self._transport, call, None, is_log=False, on_trouble=on_connection)
        async with aclosing(follower.frames()) as frames:
            async for frame in frames:
                if frame.event in ("hello", "reset"):
                    # The stream is open, so nothing that happens from now on is missed: look at what happened before.
                    async for event in self._catch_up(waiting, Patience(None, on_connection)):
                        yield event
                    if on_connection is not None:
                        on_connection(None)
                else:
                    for event in event_of(lambda name, data, _: list(_events_of(name, data, waiting)), frame):
                        yield event

    async def _catch_up(self, waiting: Waiting, patience: Patience) -> AsyncGenerator[InboxEvent]:
        entries = {entry.request_id: entry async for entry in self._list_entries({}, patience)}
        for entry in entries.values():
            before = waiting.get(entry.request_id)
            if before is not None and before.people == entry.people:
                continue
            waiting[entry.request_id] = entry
            yield InboxAsked(entry) if before is None else InboxChanged(entry, "missed")
        for request_id in waiting.keys() - entries.keys():
            if event := await self._end_of(waiting[request_id], patience):
                del waiting[request_id]
                yield event

    async def _end_of(self, entry: InboxEntry, patience: Patience) -> InboxEvent | None:
        call = Call("GET", f"{INBOX}/requests/{segment(entry.request_id)}", repeatable=True)
        try:
            now = await self._transport.fetch(InboxRequest, call, patience)
        except (Forbidden, NotFound):
            return InboxGone(entry)
        if now.status == "pending":
            return None
        at = now.answered_at.isoformat().replace("+00:00", "Z") if now.answered_at else None
        return InboxSettled(entry, now.status, now.answered_by, at, now.source, now.response, now.reason)

    async def _list_entries(self, query: dict[str, Any], patience: Patience) -> AsyncGenerator[InboxEntry]:
        params = {**query, "limit": PAGE}
        while True:
            page = await self._transport.fetch(Inbox, Call("GET", INBOX, params=params, repeatable=True), patience)
            for entry in page.requests:
                yield entry
            if page.next_cursor is None:
                return
            params["cursor"] = page.next_cursor


def _events_of(name: str, data: Any, waiting: Waiting) -> Iterator[InboxEvent]:
    """What a frame tells that was not told before; of what never waited here, nothing."""
    match name:
        case "asked" | "routed" if data["request_id"] not in waiting:
            # Also what was asked before, and is put to the caller only now.
            entry = InboxEntry.model_validate(data, extra="ignore")
            waiting[entry.request_id] = entry
            yield InboxAsked(entry)
        case "settled" if entry := waiting.pop(data["request_id"], None):
            how = (data["status"], data["answered_by"], data["answered_at"], data["source"], data["value"])
            yield InboxSettled(entry, *how, data.get("reason"))
        case "extended" if entry := waiting.get(data["request_id"]):
            yield InboxExtended(entry, data["expires_at"])
        case "voted" | "claimed" | "routed" | "commented" if entry := waiting.get(data["request_id"]):
            yield InboxChanged(entry, name)
        case "deleted":
            for entry in [one for one in waiting.values() if one.conversation_id == data["conversation_id"]]:
                del waiting[entry.request_id]
                yield InboxGone(entry)
        case _:
            pass
