"""What waits, as it changes: the inbox's stream tells which requests there are, and each is read in full once."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime

from interlock_client.cli.terminal.open_request import OpenRequest, from_pending
from interlock_client.cli.terminal.wording import end_text, outcome
from interlock_client.client import Interlock
from interlock_client.errors import Forbidden, InterlockError, InvalidInput, NotFound
from interlock_client.events import InboxAsked, InboxChanged, InboxEvent, InboxExtended, InboxGone, InboxSettled
from interlock_client.teams import People

AGAIN = 2.0
"""Seconds until the next try, where the server was not reached at all, or refused."""
FEW = 10
"""So many requests are read one by one; more by the list of all."""
MOST = 1_000
EVERYONE = "all"
GONE = "It is gone: the conversation was deleted, or is no longer yours."


@dataclass(frozen=True, slots=True)
class Listeners:
    """Whom to tell: of all that waits, of one that was read and waits, of one that was settled and how, and of trouble
    or its end."""

    listed: Callable[[list[OpenRequest]], None]
    waits: Callable[[OpenRequest], None]
    settled: Callable[[OpenRequest, str], None]
    connection: Callable[[InterlockError | None], None]


class Feed:
    """`client` should have no patience: trouble is to be shown at once, and is tried again here."""

    def __init__(self, client: Interlock, listeners: Listeners) -> None:
        self._client = client
        self._listeners = listeners
        self._waiting: dict[str, OpenRequest] = {}
        self._unread: set[str] = set()
        self._left: set[str] = set()
        """Beyond the most that are listed; read once there is room."""
        self._ended: set[str] = set()
        """Since the present reading began, which must not bring them back."""
        self._people: dict[str, People | None] = {}
        """Where those stand with their people that are not read one by one."""
        self._changed: set[str] = set()
        """Where that is not known any more."""
        self._whom = EVERYONE
        self.chosen: set[str] | None = None
        """Those that are listed for whom one has chosen; None: all."""
        self._nudge = asyncio.Event()
        self._is_live = self._is_read = False
        self._unreadable: InterlockError | None = None

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follow())
            tasks.create_task(self._read())

    def reread(self, request_id: str) -> None:
        """Read that one again: nobody knows what became of it."""
        self._unread.add(request_id)
        self._nudge.set()

    def choose(self, whom: str) -> None:
        """List what is for them: `me`, `group:NAME`, `claimed` or `all`."""
        self._whom, self.chosen = whom, None if whom == EVERYONE else set()
        self._nudge.set()

    def mark_answered(self, request_id: str) -> None:
        """Of this one nobody has to be told."""
        self._drop(request_id)

    # The stream.

    async def _follow(self) -> None:
        while True:
            # A stream that is begun anew tells of all that waits, and not of what ended before.
            self._unread |= self._waiting.keys()
            self._is_read = False
            try:
                async with aclosing(self._client.follow_inbox(on_connection=self._on_connection)) as events:
                    async for event in events:
                        self._take(event)
            except InterlockError as error:
                self._on_connection(error)
            await asyncio.sleep(AGAIN)

    def _on_connection(self, trouble: InterlockError | None) -> None:
        self._is_live = trouble is None
        if trouble is not None:
            self._listeners.connection(trouble)
        elif self._is_read and self._unreadable is None:
            self._listeners.connection(None)
        self._nudge.set()

    def _take(self, event: InboxEvent) -> None:
        match event:
            case InboxAsked() | InboxChanged():
                self._people[event.entry.request_id] = event.entry.people
                if isinstance(event, InboxChanged) and event.what != "missed":
                    self._changed.add(event.entry.request_id)
                self._unread.add(event.entry.request_id)
                self._nudge.set()
            case InboxSettled():
                self._end(event.entry.request_id, end_text(event))
            case InboxGone():
                self._end(event.entry.request_id, GONE)
            case InboxExtended():
                if waiting := self._waiting.get(event.entry.request_id):
                    later = replace(waiting, expires_at=datetime.fromisoformat(event.expires_at))
                    self._waiting[waiting.id] = later
                    self._notify()

    # Reading what the stream named.

    async def _read(self) -> None:
        while True:
            await self._nudge.wait()
            self._nudge.clear()
            if not self._is_live:
                continue
            unread, self._unread, self._ended = self._unread, set(), set()
            changed = self._changed & unread
            try:
                await self._read_all(unread)
                await self._read_choice()
                self._unreadable = None
            except InterlockError as error:
                self._unread |= unread - self._ended
                self._changed |= changed - self._ended
                self._unreadable = error
            self._is_read = True
            if self._is_live:
                self._listeners.connection(self._unreadable)
            self._notify()
            if self._unreadable is not None:
                await asyncio.sleep(AGAIN)
                self._nudge.set()

    async def _read_all(self, unread: set[str]) -> None:
        if len(unread) > FEW:
            found = await self._list_pending()
            found = {key: one for key, one in found.items() if not self._is_read_alone(key)}
            self._waiting |= {key: one for key, one in found.items() if key not in self._ended}
            unread = unread - found.keys()
            if len(found) >= MOST:
                alone = {key for key in unread if self._is_read_alone(key)}
                self._left |= unread - alone - self._waiting.keys() - self._ended
                unread = unread & (alone | self._waiting.keys())
        for request_id in unread - self._ended:
            await self._read_one(request_id)

    def _is_read_alone(self, request_id: str) -> bool:
        """The list has no code, and what it said of people may be over by now."""
        people = self._people.get(request_id)
        return request_id in self._changed or (people is not None and people.needs.code)

    async def _read_choice(self) -> None:
        whom = self._whom
        if whom == EVERYONE:
            return
        try:
            async with aclosing(self._client.inbox(for_whom=whom)) as entries:
                chosen = {entry.request_id async for entry in entries}
        except (Forbidden, InvalidInput):
            # A group that one is in no more, or that is there no more.
            chosen = set[str]()
        if whom == self._whom:
            self.chosen = chosen

    async def _list_pending(self) -> dict[str, OpenRequest]:
        found: dict[str, OpenRequest] = {}
        async with aclosing(self._client.pending(page_size=200)) as requests:
            async for request in requests:
                found[request.request_id] = from_pending(request, self._people.get(request.request_id))
                if len(found) >= MOST:
                    break
        return found

    async def _read_one(self, request_id: str) -> None:
        people, code = None, None
        self._changed.discard(request_id)
        try:
            request = await self._client.request(request_id)
            if request.needs is not None and request.status == "pending":
                full = await self._client.inbox_request(request_id)
                people, code = full.people, full.code
                self._people[request_id] = people
        except (Forbidden, NotFound):
            self._end(request_id, GONE)
            return
        if request.status != "pending":
            self._end(request_id, outcome(request, request.status))
        elif request_id not in self._ended:
            self._waiting[request_id] = from_pending(request, people, code)
            self._listeners.waits(self._waiting[request_id])

    # What is known.

    def _end(self, request_id: str, how: str) -> None:
        waiting = self._waiting.get(request_id)
        self._drop(request_id)
        if waiting is not None:
            self._listeners.settled(waiting, how)

    def _drop(self, request_id: str) -> None:
        self._ended.add(request_id)
        self._unread.discard(request_id)
        self._people.pop(request_id, None)
        self._left.discard(request_id)
        if self._waiting.pop(request_id, None) is not None:
            self._notify()
            if self._left:
                self._unread |= self._left
                self._left = set()
                self._nudge.set()

    def _notify(self) -> None:
        self._listeners.listed(list(self._waiting.values()))
