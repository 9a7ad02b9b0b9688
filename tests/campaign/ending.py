"""What is there after everything: each thread's log and status, every request, every effect."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing

import httpx

from tests.campaign.follower import frame_of, opened
from tests.campaign.history import Effect, Ending, Frame
from tests.campaign.lane import Lane, Talk
from tests.campaign.log_model import PIECE
from tests.support import threads

READ_SECONDS = 30.0
Ends = Callable[[Sequence[threads.Frame]], bool]


def conclude(lane: Lane) -> None:
    """Everything that the checkers have to know of a person's conversations, once nothing breaks any more."""
    for asked in lane.history.asked:
        if any(asked.thread == talk.thread for talk in lane.talks):
            lane.look(asked.request)
    for talk in lane.talks:
        _conclude(lane, talk)


def _conclude(lane: Lane, talk: Talk) -> None:
    requests = {one.request for one in lane.history.asked if one.thread == talk.thread}
    told = _read(lane, talk, "threads", lambda frames: _is_over(frames, talk.last))
    asked = _read(lane, talk, "hitl", lambda frames: _are_settled(frames, requests)) if requests else []
    logs = {"threads": _frames(told), "hitl": _frames(asked)}
    for follower in talk.followers:
        log = logs[follower.face]
        follower.finish(log[-1].id if log else "0")
    failures = tuple(str(one.data["message"]) for one in told if one.event == "error")
    lane.history.add(Ending(talk.thread, talk.status, tuple(lane.said(talk)), logs, failures))
    results = Counter(one.data["output"] for one in told if one.event == "tool/end" and one.data["status"] == "success")
    for name in talk.effects:
        count = lane.stage.witness.count(name)
        lane.history.add(Effect(name, talk.thread, count, results[f"done {name}"]))


def _read(lane: Lane, talk: Talk, face: str, is_over: Ends) -> list[threads.Frame]:
    """The whole log over one connection, up to what is known to be its end; as far as it goes if that never comes."""
    deadline = time.monotonic() + READ_SECONDS
    frames: list[threads.Frame] = []
    while not is_over(frames) and time.monotonic() < deadline:
        frames = []
        try:
            with closing(opened(lane.clients[0], face, talk.thread, "0", READ_SECONDS)) as stream:
                for frame in stream:
                    frames.append(frame)
                    if is_over(frames) or time.monotonic() > deadline:
                        break
        except (httpx.HTTPError, AssertionError):
            time.sleep(0.1)
    return frames


def _is_over(frames: Sequence[threads.Frame], last: str) -> bool:
    """The last thing that was said, and the end of its run."""
    said = [n for n, one in enumerate(frames) if one.event == "messages/partial" and f"[{last}]" in one.data["content"]]
    return bool(said) and any(one.event == "end" for one in frames[said[0] :])


def _are_settled(frames: Sequence[threads.Frame], requests: set[str]) -> bool:
    """Each was asked, and then settled."""
    times = Counter(str(one.data.get("request_id")) for one in frames)
    return all(times[one] >= 2 for one in requests)


def _frames(told: Sequence[threads.Frame]) -> tuple[Frame, ...]:
    frames = [frame_of(one) for one in told]
    return tuple(one for one in frames if one and one.key != PIECE)
