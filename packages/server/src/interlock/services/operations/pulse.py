"""What every open stream would otherwise ask the store for by itself, asked once for all of them.

However many streams are open, a server looks once a second whether anybody's access has changed, and how far the logs
have come of the threads that are followed here. It also sees what other processes wrote and this one has to heed: a
deadline that is nearer than those it knew, something that is to be delivered.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from interlock.domain.errors import StorageUnavailable
from interlock.domain.ids import new_id
from interlock.ports.access import EVERYBODY
from interlock.services.shared_clock import SharedClock

if TYPE_CHECKING:
    from interlock.services.core import Core

BEAT_SECONDS = 1.0
AT_ONCE = 1_000
SIGN_SECONDS = 5
FORGOTTEN_SECONDS = 3600

Wake = Callable[[], None]

logger = logging.getLogger(__name__)


class Pulse:
    """Until it beats, and while the store cannot be read, everybody has to look for themselves."""

    def __init__(self) -> None:
        self.access: int | None = None
        """Grows whenever a credential ended or somebody's role was changed; None while that is not known."""
        self._last_access: int | None = None
        self._changed: dict[str, int] = {}
        """By person, at which number theirs was found to have changed."""
        self.worker_seen: datetime | None = None
        """When something that runs agents was last heard of, by this server's clock."""
        self._followed: dict[str, set[Wake]] = {}
        self._heads: dict[str, int] = {}
        self._nearest: tuple[datetime | None, datetime | None] = (None, None)
        self.server = new_id("server")
        """By which the others know that this server looks."""
        self._signed_at = 0

    @contextmanager
    def following(self, thread_id: str, wake: Wake) -> Generator[None]:
        """`wake` is called when there may be more to read, or when somebody's access has changed."""
        wakes = self._followed.setdefault(thread_id, set())
        wakes.add(wake)
        try:
            yield
        finally:
            wakes.discard(wake)
            if not wakes:
                del self._followed[thread_id]
                self._heads.pop(thread_id, None)

    def has_changed(self, user_id: str, since: int | None) -> bool:
        """Whether somebody's access may have changed since `access` was that number."""
        if self.access is None or since is None:
            return True
        return max(self._changed.get(user_id, 0), self._changed.get(EVERYBODY, 0)) > since

    def wake(self, thread_id: str) -> None:
        """Of those who follow this thread: there may be more to read than its log tells."""
        for wake in self._followed.get(thread_id, ()):
            wake()

    def wake_all(self) -> None:
        for wakes in self._followed.values():
            for wake in wakes:
                wake()

    def is_behind(self, thread_id: str, seq: int) -> bool:
        """Whether the log may hold more than its first `seq` entries, as far as it was found to have come.

        Who has just begun to follow has read it, and the next beat looks at it again, and wakes whoever follows.
        """
        head = self._heads.get(thread_id)
        return self.access is None if head is None else head > seq

    async def run(self, core: "Core") -> None:
        try:
            while True:
                await self._try_beat(core)
                await asyncio.sleep(BEAT_SECONDS)
        finally:
            await self._leave(core)

    async def _try_beat(self, core: "Core") -> None:
        try:
            await self.beat(core)
        except StorageUnavailable:
            self._forget()
        except Exception:
            self._forget()
            logger.exception("the store could not be looked at; trying again")

    async def beat(self, core: "Core") -> None:
        followed = list(self._followed)
        async with core.store.snapshot() as tx:
            if isinstance(core.clock, SharedClock):
                await core.clock.compare(tx)
            moment = await tx.servers.moment(core.clock.now())
            access = await tx.access.version()
            last = self._last_access
            changed = () if last is None or last == access else await tx.access.list_changed_since(last)
            silence = await tx.workers.seconds_since_heartbeat(core.clock.now())
            heads: dict[str, int] = {}
            for start in range(0, len(followed), AT_ONCE):
                heads |= await tx.events.heads(followed[start : start + AT_ONCE])
            nearest = await tx.requests.next_deadline(), await tx.requests.next_warning()
            questions = await tx.follower_questions.open_questions() if core.settings.several_servers else ()
            is_due = core.settings.webhook_hosts and await tx.deliveries.due_webhooks(core.clock.now())
        if core.settings.several_servers:
            await self._sign(core, moment, questions)
        is_changed = access != self.access
        self._changed |= dict.fromkeys(changed, access)
        self.access = self._last_access = access
        self.worker_seen = None if silence is None else core.clock.now() - timedelta(seconds=silence)
        if nearest != self._nearest:
            self._nearest = nearest
            core.deadline_set.set()
        if is_due:
            core.delivery_written.set()
        # Who came meanwhile has looked for themselves.
        before, self._heads = self._heads, {one: head for one, head in heads.items() if one in self._followed}
        if is_changed:
            self.wake_all()
            return
        for thread_id, head in self._heads.items():
            for wake in self._followed[thread_id] if before.get(thread_id) != head else ():
                wake()

    async def _sign(self, core: "Core", moment: int, questions: Collection[str]) -> None:
        """Say which threads are followed here, and that all others are not."""
        if not questions and moment - self._signed_at < SIGN_SECONDS * 1000:
            return
        async with core.store.transaction() as tx:
            await tx.follower_questions.answer_followed([one for one in questions if core.presence.is_followed(one)])
            await tx.servers.sign(self.server, moment, FORGOTTEN_SECONDS * 1000)
        self._signed_at = moment

    async def _leave(self, core: "Core") -> None:
        if self._signed_at:
            with suppress(StorageUnavailable):
                async with core.store.transaction() as tx:
                    await tx.servers.leave(self.server)

    def _forget(self) -> None:
        self.access = None
        self._heads = {}
        self.wake_all()
