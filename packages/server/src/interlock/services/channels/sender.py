"""What empties the outbox of notices: it sends what is due, and sleeps until the next is, or until it is told of more.

Each channel has a few places of its own. One whose vendor cannot be reached is tried with a single notice a minute at
most, so that nothing is given up while it is down, and all of it goes out when it is back.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from interlock import failpoints
from interlock.domain.channel import MOST_ATTEMPTS, Channel, Message, Notice, NoticeStatus
from interlock.domain.errors import StorageUnavailable, Unreadable
from interlock.domain.request import RequestEnd
from interlock.domain.webhook import back_off
from interlock.ports.channels import AddressGone, CutOff, OpenChannel, OutOfReach, Refused, Unchangeable, Unreachable
from interlock.services.channels import acts, digests, wording
from interlock.services.channels.places import abilities_of, kind_of, locale_of, request_url
from interlock.services.core import Core, sleep_until_set, unit

AT_ONCE = 4
"""How many messages may be under way on one channel."""
CLAIM = timedelta(seconds=40)
"""Longer than a message may take: a notice that nobody recorded by then is sent again."""
DOWN_FOR = (timedelta(seconds=2), timedelta(seconds=10), timedelta(seconds=30))
"""How long nothing is tried after a vendor was not reached once, twice, and ever after."""
LONGEST_WAIT = 600.0
"""Whatever a vendor asks for."""
LONGEST_SLEEP = 30.0
RETRY_SECONDS = 1.0
LAST_SECONDS = 2.0
LOOKED_FOR = 100
"""So many requests at a time of which some end was not told, by a server that knew of no channel."""

Claimed = Sequence[Notice]
"""One notice, or those of one message."""

logger = logging.getLogger(__name__)


class NoticeSender:
    def __init__(self, jitter: Callable[[], float] = random.random) -> None:
        self._jitter = jitter
        self._under_way: Counter[str] = Counter()
        self._misses: Counter[str] = Counter()
        self._down_until: dict[str, datetime] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: dict[str, OpenChannel] = {}

    async def run(self, core: Core) -> None:
        """Send what is due, now and whenever more is, until cancelled."""
        try:
            while True:
                try:
                    await self._catch_up(core)
                    pause = await self._send_due(core)
                except Exception:
                    # Whatever it is, the outbox must not stand still until the next start.
                    logger.exception("the notices could not be looked at; trying again")
                    pause = RETRY_SECONDS
                await sleep_until_set(core.notice_written, pause)
        finally:
            await self._end()

    async def _catch_up(self, core: Core) -> None:
        """Mark what has ended without a word to its notices, as when the request was dropped with its conversation."""
        async with core.store.snapshot() as tx:
            left = await tx.notices.left_behind(LOOKED_FOR)
        for request_id in left:
            async with unit(core) as work:
                request = await work.tx.requests.get(request_id)
                answer = (await work.tx.answers.of_requests([request_id])).get(request_id)
                if (
                    end := wording.end_of(request, RequestEnd.of(request, answer) if request else None, work.now)
                ) is not None:
                    await work.tx.notices.end(request_id, end, work.now)

    async def _send_due(self, core: Core) -> float:
        """Begin to send what is due, as far as there is room; seconds until there is more to do."""
        now = core.clock.now()
        async with core.store.snapshot() as tx:
            due = [one for one in await tx.notices.due_channels(now) if self._room(one, now)]
        for channel_id in due:
            await self._claim(core, channel_id)
        now = core.clock.now()
        full = [one for one in {*self._under_way, *self._down_until} if not self._room(one, now)]
        async with core.store.snapshot() as tx:
            moments = [await tx.notices.next_due(full)]
        moments += [until for until in self._down_until.values() if until > now]
        waits = [(moment - now).total_seconds() for moment in moments if moment is not None]
        return min([max(wait, 0.0) for wait in waits] + [LONGEST_SLEEP])

    def _room(self, channel_id: str, now: datetime) -> int:
        if not self._misses[channel_id]:
            return AT_ONCE - self._under_way[channel_id]
        if self._down_until.get(channel_id, now) > now:
            return 0
        return max(1 - self._under_way[channel_id], 0)

    async def _claim(self, core: Core, channel_id: str) -> None:
        async with unit(core) as work:
            room = self._room(channel_id, work.now)
            until = work.now + CLAIM
            claimed = await work.tx.notices.claim_digests(channel_id, work.now, until, room)
            if room > len(claimed):
                single = await work.tx.notices.claim(channel_id, work.now, until, room - len(claimed))
                claimed += [[one] for one in single]
        for told_together in claimed:
            self._under_way[channel_id] += 1
            task = asyncio.create_task(self._send(core, told_together))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _send(self, core: Core, notices: Claimed) -> None:
        try:
            await self._try(core, notices)
        except StorageUnavailable as unavailable:
            logger.warning("notice %s was not recorded and is sent again: %s", notices[0].id, unavailable.message)
        finally:
            self._under_way[notices[0].channel_id] -= 1
            core.notice_written.set()

    async def _try(self, core: Core, notices: Claimed) -> None:
        channel_id = notices[0].channel_id
        try:
            statuses, ref = await self._deliver(core, notices)
        except OutOfReach as error:
            await self._put_off(core, notices, str(error))
            return
        except Unreachable as error:
            await self._pause(core, notices, error)
            return
        except AddressGone:
            await self._gone(core, notices)
            return
        except Refused as error:
            self._reached(channel_id)
            await self._fail(core, notices, None if isinstance(error, CutOff) else str(error))
            return
        except Unreadable as error:
            await self._fail(core, notices, error.message)
            return
        except Exception:
            logger.exception("notice %s could not be sent", notices[0].id)
            await self._fail(core, notices, "it could not be sent; the server's log says why")
            return
        self._reached(channel_id)
        failpoints.hit("notice.sent")
        async with unit(core) as work:
            await digests.record(work, notices, statuses, ref)

    async def _deliver(self, core: Core, notices: Claimed) -> tuple[digests.Recorded, str | None]:
        """Do what is to be done with them now, and what becomes of each."""
        notice = notices[0]
        if notice.digest is None:
            status, ref = await self._deliver_one(core, notice)
            return [status], ref
        async with core.store.snapshot() as tx:
            channel, address = await tx.channels.get(notice.channel_id), await tx.addresses.get(notice.address_id)
            if channel is None or channel.removed_at is not None or address is None or address.off_at is not None:
                return [NoticeStatus.GONE] * len(notices), None
            locale = locale_of(core, await tx.addresses.preferences(address.user_id))
        link = await self._link(core, channel)
        edits = kind_of(core, channel).abilities.edits
        return await digests.deliver(core, link, address, notices, locale, edits=edits)

    async def _deliver_one(self, core: Core, notice: Notice) -> tuple[NoticeStatus | None, str | None]:
        """The status that it has then, None where it is not sent any more."""
        async with core.store.snapshot() as tx:
            channel, address = await tx.channels.get(notice.channel_id), await tx.addresses.get(notice.address_id)
            if channel is None or channel.removed_at is not None or address is None or address.off_at is not None:
                return NoticeStatus.GONE, None
            request = await tx.requests.get(notice.request_id)
            found = (await tx.answers.of_requests([notice.request_id])).get(notice.request_id)
            wanted = await tx.addresses.preferences(address.user_id)
        locale = locale_of(core, wanted)
        end = notice.end or wording.end_of(
            request, RequestEnd.of(request, found) if request else None, core.clock.now()
        )
        if end is not None and not notice.may_have_arrived:
            return None, None
        link = await self._link(core, channel)
        if end is None:
            assert request is not None
            abilities = abilities_of(core, channel, wanted)
            draw = acts.linking_message_of if abilities.links else acts.message_of
            message = await draw(core, channel, abilities, notice, request, locale)
            return NoticeStatus.SENT, await link.send(address.external_id, message)
        url = request_url(core, notice.request_id)
        message = wording.ended(notice.id, notice.request_id, end, url, locale)
        await self._tell_end(core, link, channel, notice, address.external_id, message)
        return NoticeStatus.EDITED, None

    async def _tell_end(
        self, core: Core, link: OpenChannel, channel: Channel, notice: Notice, address: str, message: Message
    ) -> None:
        if kind_of(core, channel).abilities.edits and notice.ref is not None:
            try:
                await link.update(address, notice.ref, message)
                return
            except Unchangeable as error:
                logger.info("notice %s is followed by another message: %s", notice.id, error)
        await link.send(address, message)

    async def _link(self, core: Core, channel: Channel) -> OpenChannel:
        if channel.id not in self._open:
            async with core.store.snapshot() as tx:
                credentials = await tx.channels.credentials(channel.id)
            self._open[channel.id] = kind_of(core, channel).open(channel, credentials)
        return self._open[channel.id]

    def _reached(self, channel_id: str) -> None:
        self._misses.pop(channel_id, None)
        self._down_until.pop(channel_id, None)

    async def _pause(self, core: Core, notices: Claimed, why: Unreachable) -> None:
        channel_id, now = notices[0].channel_id, core.clock.now()
        self._misses[channel_id] += 1
        usual = DOWN_FOR[min(self._misses[channel_id], len(DOWN_FOR)) - 1]
        asked = timedelta(seconds=min(why.wait or 0.0, LONGEST_WAIT))
        self._down_until[channel_id] = now + max(usual, asked)
        logger.warning("channel %s cannot be reached: %s", channel_id, why)
        async with unit(core) as work:
            for notice in notices:
                await work.tx.notices.release(notice, work.now)
            await digests.resume(work, notices)

    async def _put_off(self, core: Core, notices: Claimed, why: str) -> None:
        """Its address cannot be reached: it waits, and others of the channel do not."""
        logger.info("notice %s waits: %s", notices[0].id, why)
        async with unit(core) as work:
            for notice in notices:
                await work.tx.notices.release(notice, work.now + DOWN_FOR[-1])

    async def _gone(self, core: Core, notices: Claimed) -> None:
        """Nothing more is sent to this address before its person links one again."""
        first = notices[0]
        self._reached(first.channel_id)
        async with unit(core) as work:
            for notice in notices:
                await work.tx.notices.settle(notice, NoticeStatus.GONE, work.now)
            await work.tx.addresses.switch_off(first.address_id, work.now)
        logger.warning("notice %s: address %s is gone and was switched off", first.id, first.address_id)

    async def _fail(self, core: Core, notices: Claimed, error: str | None) -> None:
        """An attempt failed: it is tried again later, and given up after the last one."""
        attempts = max(notice.attempts for notice in notices)
        wait = back_off(attempts, self._jitter()) if attempts < MOST_ATTEMPTS else None
        async with unit(core) as work:
            due_at = None if wait is None else work.now + wait
            for notice in notices:
                status = NoticeStatus.FAILED if wait is None else notice.status
                await work.tx.notices.settle(notice, status, work.now, due_at=due_at, last_error=error)
        level = logging.WARNING if wait is None else logging.INFO
        logger.log(level, "notice %s was not taken: %s", notices[0].id, error or "its sending was cut off")

    async def _end(self) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=LAST_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for link in self._open.values():
            with suppress(Exception):
                await link.close()
