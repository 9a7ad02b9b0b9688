"""The streams of this face: one run for the POSTs, a whole thread for the GET."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from fastapi import Request

from interlock.domain.errors import StorageUnavailable
from interlock.domain.event import Event, Live, PauseOpened, ThreadDeleted
from interlock.domain.principal import Principal
from interlock.domain.request import PublicRequest
from interlock.domain.request import Request as Asked
from interlock.faces.http.locale import locale_of
from interlock.faces.http.server_state import state_of
from interlock.faces.http.sse import KEEP_ALIVE, Frame
from interlock.faces.http.watching import Watch
from interlock.faces.threads.frames import Frames
from interlock.services.threads.followers import count_follower
from interlock.services.threads.following import follow
from interlock.texts import threads_text as text


class Stream:
    """One open stream of one caller on one thread."""

    def __init__(self, request: Request, principal: Principal, thread_id: str, frames: Frames) -> None:
        self._request = request
        self._state = state_of(request)
        self._principal = principal
        self._thread_id = thread_id
        self._frames = frames
        self._watch = Watch(request)

    async def run(self, run_id: str, after: int) -> AsyncGenerator[bytes]:
        """What one run does, until it has ended or waits."""
        async for item, frames in self._follow(after):
            for frame in frames:
                yield frame
            if isinstance(item, Event) and item.ends(run_id):
                return

    async def thread(self, after: int) -> AsyncGenerator[bytes]:
        """Everything that happens on the thread, until it is deleted or the caller goes."""
        async for item, frames in self._follow(after):
            for frame in frames:
                yield frame
            if isinstance(item, Event) and isinstance(item.data, ThreadDeleted):
                return

    async def still_open(
        self, pause_id: str, requests: Sequence[Asked], info: str | None = None
    ) -> AsyncGenerator[bytes]:
        """After a reply that started no run: what is left open, where anything is, and what became of the reply."""
        if requests:
            self._note_shown(pause_id)
            public = [PublicRequest.of(request) for request in requests]
            yield self._frames.interrupt(pause_id, public, info).encode()
        yield self._frames.end().encode()

    def _note_shown(self, pause_id: str) -> None:
        self._state.core.seen_pauses.show(pause_id, self._principal.id)

    async def _follow(self, after: int) -> AsyncGenerator[tuple[Live | None, list[bytes]]]:
        core = self._state.core
        with count_follower(core, self._thread_id):
            try:
                async with aclosing(follow(core, self._thread_id, after)) as items:
                    async for item in items:
                        yield item, self._sign_of_life() if item is None else self._encode(item)
                        last_words = await self._last_words(is_idle=item is None)
                        if last_words is not None:
                            yield None, self._end_frames(last_words)
                            return
            except StorageUnavailable:
                yield None, self._end_frames(text("unavailable", locale_of(self._request)))

    def _end_frames(self, last_words: str) -> list[bytes]:
        return [self._frames.error(last_words).encode(), self._frames.end().encode()]

    def _encode(self, item: Live) -> list[bytes]:
        self._watch.spoke()
        if isinstance(item, Event) and isinstance(item.data, PauseOpened):
            self._note_shown(item.data.pause_id)
        return [frame.encode() for frame in self._frames.of(item)]

    async def _last_words(self, *, is_idle: bool) -> str | None:
        """Why the stream has to end now, if it has to."""
        reason = await self._watch.reason_to_end(self._thread_id, is_idle=is_idle)
        return text(reason, locale_of(self._request)) if reason else None

    def _sign_of_life(self) -> list[bytes]:
        return [KEEP_ALIVE] if self._watch.needs_sign_of_life() else []


async def of(*frames: Frame) -> AsyncGenerator[bytes]:
    """A stream that says what is known already, and ends."""
    for frame in frames:
        yield frame.encode()
