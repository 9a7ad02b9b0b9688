"""Following a stream over any number of connections: nothing is missed, nothing is told twice."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import ValidationError

from interlock_client._patience import OnTrouble, Patience
from interlock_client._transport import Call, Frame, Transport
from interlock_client.errors import Forbidden, NetworkError, NotFound, RateLimited, ServerFailed, ServerUnavailable

T = TypeVar("T")

EventReader = Callable[[str, Mapping[str, Any], str | None], T]
"""A frame's name, data and id as an event."""


class Follower:
    """One stream, from one place in the log on."""

    def __init__(
        self,
        transport: Transport,
        call: Call,
        last_event_id: str | None,
        *,
        is_log: bool = True,
        on_trouble: OnTrouble | None = None,
    ) -> None:
        self._transport = transport
        self._call = call
        self._last = last_event_id
        self._is_log = is_log
        """Whether the stream is a log of one conversation: its frames have numbers, and it may end."""
        self._on_trouble = on_trouble
        self._unnumbered: list[Frame] = []
        """Told since the last numbered frame: only the last frame of an entry of the log has its number."""
        self._again: list[Frame] = []
        """What therefore comes again on this connection."""

    async def frames(self) -> AsyncGenerator[Frame]:
        """Until the conversation is deleted, or what stands against it is more than a broken connection."""
        patience, reached = Patience(self._transport.patience), False
        while True:
            try:
                async with self._transport.stream(self._next_call()) as (_, frames):
                    if not reached:
                        # What was there once is waited for without end.
                        patience, reached = Patience(None, self._on_trouble), True
                    async for frame in frames:
                        if self._is_new(frame) and frame.data is not None:
                            patience.renew()
                            yield frame
                trouble = NetworkError(f"{self._transport.url} ended the stream")
            except (NetworkError, RateLimited, ServerUnavailable) as error:
                trouble = error
            except (Forbidden, NotFound):
                if not (reached and self._is_log):
                    raise
                return
            await patience.pause(trouble)

    def _next_call(self) -> Call:
        self._again, self._unnumbered = self._unnumbered, []
        headers = {} if self._last is None else {"last-event-id": self._last}
        return replace(self._call, headers=headers)

    def _is_new(self, frame: Frame) -> bool:
        if not self._is_log:
            return True
        if frame.id is not None:
            self._last, self._unnumbered = frame.id, []
        else:
            self._unnumbered.append(frame)
        if self._again and (frame.event, frame.data) == (self._again[0].event, self._again[0].data):
            self._again.pop(0)
            return False
        self._again = []
        return True


def event_of(read: EventReader[T], frame: Frame) -> T:
    try:
        return read(frame.event, frame.data or {}, frame.id)
    except (KeyError, TypeError, ValidationError) as error:
        raise ServerFailed(f"an event of the stream is not of the form: {frame.event}") from error


async def follow_events(follower: Follower, read: EventReader[T]) -> AsyncGenerator[T]:
    async with aclosing(follower.frames()) as frames:
        async for frame in frames:
            yield event_of(read, frame)
