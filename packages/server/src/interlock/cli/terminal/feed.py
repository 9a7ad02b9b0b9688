"""What waits, as it changes: looked at every two seconds, and told at once for the conversations in view."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from itertools import islice

from interlock.cli.terminal.asked import Waiting, pending
from interlock.cli.terminal.wording import outcome
from interlock_client.client import Interlock
from interlock_client.errors import Forbidden, InterlockError, NotFound
from interlock_client.events import RequestAsked, RequestSettled

EVERY = 2.0
MOST = 1_000
FOLLOWED = 20

_STATUS = {"request_cancelled": "cancelled", "request_expired": "expired"}


@dataclass(frozen=True, slots=True)
class Told:
    """Whom to tell: of all that waits, of one that was settled and how, and of trouble or its end."""

    listed: Callable[[list[Waiting]], None]
    settled: Callable[[Waiting, str], None]
    connection: Callable[[InterlockError | None], None]


class Feed:
    """`client` should have no patience: trouble is to be shown at once, and is tried again here."""

    def __init__(self, client: Interlock, told: Told) -> None:
        self._client = client
        self._told = told
        self._waiting: dict[str, Waiting] = {}
        self._done: set[str] = set()
        """Settled, and told: a look that began before must not bring them back."""
        self._followers: dict[str, asyncio.Task[None]] = {}
        self._nudge = asyncio.Event()
        self.in_view: str | None = None
        """The conversation that is looked at: it is followed before any other."""

    async def run(self) -> None:
        try:
            while True:
                await self._look_and_tell()
                self._nudge.clear()
                await _first(self._nudge, EVERY)
        finally:
            for task in self._followers.values():
                task.cancel()

    def look(self) -> None:
        """Look now."""
        self._nudge.set()

    def answered_here(self, request_id: str) -> None:
        """Of this one nobody has to be told."""
        self._done.add(request_id)
        self._drop(request_id)

    async def _look_and_tell(self) -> None:
        try:
            found = await self._look()
            gone = [one for one in self._waiting.values() if one.id not in found]
            ends = [(one, await self._end_of(one)) for one in gone]
        except InterlockError as error:
            self._told.connection(error)
            return
        self._told.connection(None)
        for one, end in ends:
            if one.id in self._waiting:
                del self._waiting[one.id]
                self._told.settled(one, end)
        self._done &= found.keys()
        self._waiting = {key: one for key, one in found.items() if key not in self._done}
        self._told.listed(list(self._waiting.values()))
        self._follow_those_in_view()

    async def _look(self) -> dict[str, Waiting]:
        found: dict[str, Waiting] = {}
        async with aclosing(self._client.pending(page_size=200)) as requests:
            async for request in requests:
                found[request.request_id] = pending(request)
                if len(found) >= MOST:
                    break
        return found

    async def _end_of(self, waiting: Waiting) -> str:
        try:
            settled = await self._client.request(waiting.id)
        except (Forbidden, NotFound):
            return "It is gone: the conversation was deleted, or is no longer yours."
        return outcome(settled, settled.status)

    def _follow_those_in_view(self) -> None:
        here = [self.in_view] if self.in_view else []
        wanted = list(islice(dict.fromkeys([*here, *_conversations(self._waiting.values())]), FOLLOWED))
        for conversation_id in self._followers.keys() - set(wanted):
            self._followers.pop(conversation_id).cancel()
        for conversation_id in wanted:
            task = self._followers.get(conversation_id)
            if task is None or task.done():
                self._followers[conversation_id] = asyncio.create_task(self._follow(conversation_id))

    async def _follow(self, conversation_id: str) -> None:
        try:
            async with aclosing(self._client.follow(conversation_id)) as events:
                async for event in events:
                    if isinstance(event, RequestSettled):
                        self._settled(event)
                    elif isinstance(event, RequestAsked) and event.request_id not in self._waiting:
                        self.look()
        except InterlockError:
            return  # the next look finds the same trouble, or begins to follow again

    def _settled(self, event: RequestSettled) -> None:
        waiting = self._waiting.get(event.request_id)
        if waiting is None:
            return
        self._done.add(waiting.id)
        self._drop(waiting.id)
        self._told.settled(waiting, outcome(event, _STATUS.get(event.type, "answered")))

    def _drop(self, request_id: str) -> None:
        if self._waiting.pop(request_id, None) is not None:
            self._told.listed(list(self._waiting.values()))


def _conversations(waiting: Iterable[Waiting]) -> list[str]:
    return [one.conversation_id for one in waiting]


async def _first(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
