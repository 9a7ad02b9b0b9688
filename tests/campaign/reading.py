"""A thread's whole log as a face tells it, over one connection, up to what is known to be its end."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing

import httpx

from tests.campaign.follower import frame_of, opened
from tests.campaign.history import Frame
from tests.campaign.log_model import LIVE_ONLY
from tests.support import threads
from tests.support.threads import ThreadsClient

READ_SECONDS = 60.0
Told = Sequence[threads.Frame]
Choose = Callable[[], ThreadsClient]


def read_logs(choose: Choose, thread: str, last: str, requests: set[str]) -> dict[str, Told]:
    """At each face that is followed; `last` is the mark of the last thing said, `requests` all that were asked."""
    asked: Told = _read(choose, "hitl", thread, lambda frames: _are_settled(frames, requests)) if requests else []
    return {"threads": _read(choose, "threads", thread, lambda frames: _is_over(frames, last)), "hitl": asked}


def logged(told: Mapping[str, Told]) -> dict[str, tuple[Frame, ...]]:
    frames = {face: [frame_of(one) for one in log] for face, log in told.items()}
    return {face: tuple(one for one in log if one and one.key not in LIVE_ONLY) for face, log in frames.items()}


def _read(choose: Choose, face: str, thread: str, is_over: Callable[[Told], bool]) -> Told:
    """As far as it goes where the end never comes."""
    deadline = time.monotonic() + READ_SECONDS
    frames: list[threads.Frame] = []
    while not is_over(frames) and time.monotonic() < deadline:
        frames = []
        try:
            with closing(opened(choose(), face, thread, "0", READ_SECONDS)) as stream:
                for frame in stream:
                    frames.append(frame)
                    if is_over(frames) or time.monotonic() > deadline:
                        break
        except (httpx.HTTPError, AssertionError):
            time.sleep(0.1)
    return frames


def _is_over(frames: Told, last: str) -> bool:
    """The last thing that was said, and the end of its run."""
    if not frames or frames[-1].event != "end":
        return False
    return any(one.event == "messages/partial" and f"[{last}]" in one.data["content"] for one in frames)


def _are_settled(frames: Told, requests: set[str]) -> bool:
    """Each was asked, and then settled."""
    times = Counter(str(one.data.get("request_id")) for one in frames)
    return all(times[one] >= 2 for one in requests)
