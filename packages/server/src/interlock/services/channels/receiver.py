"""What holds the long connections of channels, so that taps come back without a public address.

Of all servers one holds each: whoever has its hold, which is renewed every few seconds and taken over when that stops.
"""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from interlock.domain.channel import Channel, Tap
from interlock.domain.ids import new_id
from interlock.domain.tap import Said, TapResult
from interlock.ports.channels import AnsweringChannel, Unreachable
from interlock.services.channels.places import kind_of
from interlock.services.channels.taps import take_tap
from interlock.services.channels.words import take_words
from interlock.services.core import Core, unit

HELD_FOR = timedelta(seconds=20)
LOOK_SECONDS = 5.0
"""Whoever died is replaced within the two together."""
PAUSES = (1.0, 5.0, 15.0, 30.0)
"""After a connection that could not be had, or that ended, the first time and ever after."""
LONGEST_PAUSE = 300.0
LASTED_SECONDS = 5.0
"""A connection that was there for so long was a good one: the next one is opened at once."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Inlet:
    """Where what comes over one channel goes."""

    core: Core
    channel_id: str

    async def take_tap(self, tap: Tap) -> TapResult:
        return await take_tap(self.core, self.channel_id, tap)

    async def take_words(self, said: Said) -> str | None:
        return await take_words(self.core, self.channel_id, said)


async def open_answering(core: Core, channel: Channel) -> AnsweringChannel | None:
    """The channel, opened; None where no answer comes over it."""
    kind = kind_of(core, channel)
    if not kind.abilities.taps:
        return None
    async with core.store.snapshot() as tx:
        credentials = await tx.channels.credentials(channel.id)
    link = kind.open(channel, credentials)
    return link if isinstance(link, AnsweringChannel) else None


class Receiver:
    def __init__(self, look_seconds: float = LOOK_SECONDS) -> None:
        self._look_seconds = look_seconds
        self._holder = new_id("hold")
        self._held: dict[str, asyncio.Task[None]] = {}
        self._renewed: dict[str, float] = {}
        self._unusable: set[str] = set()

    async def run(self, core: Core) -> None:
        """Hold what nobody else does, until cancelled."""
        try:
            while True:
                try:
                    await self._look(core)
                except Exception:
                    logger.exception("the channels could not be looked at; trying again")
                    await self._drop_lost()
                await asyncio.sleep(self._look_seconds)
        finally:
            held = list(self._held)
            await asyncio.gather(*(self._drop(one) for one in held))
            with suppress(Exception):
                async with unit(core) as work:
                    for one in held:
                        await work.tx.channels.let_go(one, self._holder)

    async def _look(self, core: Core) -> None:
        async with core.store.snapshot() as tx:
            channels = {one.id: one for one in await tx.channels.live() if one.kind in core.channel_kinds}
        for channel_id in [one for one in self._held if one not in channels]:
            await self._drop(channel_id)
        for channel in channels.values():
            if channel.id not in self._held and not await self._is_listening(core, channel):
                continue
            async with unit(core) as work:
                now = await work.shared_time()
                is_held = await work.tx.channels.hold(channel.id, self._holder, now, now + HELD_FOR)
            if not is_held:
                await self._drop(channel.id)
                continue
            self._renewed[channel.id] = asyncio.get_running_loop().time()
            if channel.id not in self._held:
                self._held[channel.id] = asyncio.create_task(_keep_connected(core, channel))

    async def _is_listening(self, core: Core, channel: Channel) -> bool:
        try:
            link = await open_answering(core, channel)
        except Unreachable as error:
            if channel.id not in self._unusable:
                logger.warning("channel %s cannot be opened: %s", channel.id, error)
                self._unusable.add(channel.id)
            return False
        self._unusable.discard(channel.id)
        if link is None:
            return False
        await link.close()
        return link.is_listening

    async def _drop(self, channel_id: str) -> None:
        self._renewed.pop(channel_id, None)
        task = self._held.pop(channel_id, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _drop_lost(self) -> None:
        """Connections whose hold may be somebody else's by now."""
        before = asyncio.get_running_loop().time() - HELD_FOR.total_seconds()
        for channel_id in [one for one, at in self._renewed.items() if at < before]:
            await self._drop(channel_id)


async def _keep_connected(core: Core, channel: Channel) -> None:
    misses = 0
    while True:
        began, wait = asyncio.get_running_loop().time(), None
        try:
            await _connect(core, channel)
        except Unreachable as error:
            wait = error.wait
            logger.warning("channel %s has no connection: %s", channel.id, error)
        except Exception:
            logger.exception("the connection of channel %s broke", channel.id)
        misses = 0 if asyncio.get_running_loop().time() - began > LASTED_SECONDS else misses + 1
        pause = PAUSES[min(misses, len(PAUSES)) - 1] if misses else 0.0
        await asyncio.sleep(min(max(pause, wait or 0.0), LONGEST_PAUSE))


async def _connect(core: Core, channel: Channel) -> None:
    link = await open_answering(core, channel)
    if link is None:
        raise Unreachable("no answer comes over it")
    try:
        await link.receive(Inlet(core, channel.id))
    finally:
        with suppress(Exception):
            await link.close()
