"""Who follows a thread through everything: comes back wherever the stream broke off, and also leaves by itself."""

import random
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from typing import Any

import httpx

from tests.campaign.history import Frame, History, Segment
from tests.campaign.log_model import ANEW, PIECE, number_of
from tests.support import threads
from tests.support.http import client as http_client
from tests.support.threads import ThreadsClient

SILENT_SECONDS = 2.0
"""After which a follower looks whether it is done, and comes back."""
CATCH_UP_SECONDS = 60.0
MOST_FRAMES = 30
PATHS: dict[str, Callable[[str], str]] = {
    "threads": lambda thread: f"/api/stream/{thread}",
    "hitl": lambda thread: f"/api/v1/agent/stream?conversation_id={thread}",
}


def frame_of(frame: threads.Frame) -> Frame | None:
    """None for what is not in the log: the server's own words on the connection."""
    if frame.id is None:
        return None
    if frame.event == "messages/partial":
        return Frame(frame.id, ANEW if frame.data.get("reset") else PIECE)
    return Frame(frame.id, f"{frame.event} {_subject(frame.data)}".strip())


def _subject(data: dict[str, Any]) -> str:
    return str(data.get("request_id") or data.get("call_id") or "")


def opened(client: ThreadsClient, face: str, thread: str, after: str, seconds: float) -> Generator[threads.Frame]:
    """The stream from there on, until it ends, breaks, or is silent for so long."""
    with (
        http_client(client.http.base_url, headers=client.http.headers, timeout=seconds) as http,
        http.stream("GET", PATHS[face](thread), headers={"last-event-id": after}) as response,
    ):
        response.raise_for_status()
        yield from threads.parse(threads.bounded(response.iter_lines()))


class Follower:
    """Of one thread at one face; `clients` are the same person at each server."""

    def __init__(
        self, history: History, clients: list[ThreadsClient], face: str, thread: str, chance: random.Random
    ) -> None:
        self.face, self.thread = face, thread
        self._history, self._clients, self._chance = history, clients, chance
        self._last = "0"
        self._goal: tuple[int, ...] | None = None
        self._deadline = float("inf")
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end_at(self, log: Sequence[Frame]) -> None:
        """Go on to the end of what the log is by now, and end."""
        self._deadline = time.monotonic() + CATCH_UP_SECONDS
        self._goal = number_of(log[-1].id if log else "0")

    def join(self) -> None:
        self._thread.join(CATCH_UP_SECONDS + 2 * SILENT_SECONDS)

    @property
    def _is_done(self) -> bool:
        return time.monotonic() > self._deadline or (self._goal is not None and number_of(self._last) >= self._goal)

    def _run(self) -> None:
        while not self._is_done:
            segment = Segment(self.face, self.face, self.thread, self._last)
            with suppress(httpx.HTTPError, AssertionError):
                self._read(segment)
            if segment.frames:
                self._history.add(segment)
            else:
                time.sleep(0.1)

    def _read(self, segment: Segment) -> None:
        leaves_after = self._chance.randint(1, MOST_FRAMES)
        client = self._chance.choice(self._clients)
        with closing(opened(client, self.face, self.thread, self._last, SILENT_SECONDS)) as stream:
            for told in stream:
                frame = frame_of(told)
                if frame is None:
                    continue
                segment.frames.append(frame)
                self._last = frame.id
                if len(segment.frames) >= leaves_after or self._is_done:
                    return
