"""A thread's log: every stream is it, in order, over any number of connections, and every thread comes to its end."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from tests.campaign.history import Ending, Frame, History, Segment
from tests.campaign.violation import Violation

AT_REST = "idle"
PIECE, ANEW = "piece", "piece in place of those before"
LIVE_ONLY = (PIECE, ANEW)
"""The keys of what is not in the log."""


def check_logs(history: History) -> Iterator[Violation]:
    endings = {one.thread: one for one in history.endings}
    followed: defaultdict[tuple[str, str, str], list[Segment]] = defaultdict(list)
    for segment in history.segments:
        followed[segment.who, segment.face, segment.thread].append(segment)
    for (_, face, thread), segments in followed.items():
        ending = endings.get(thread)
        if ending is None:
            yield Violation("a thread that was followed is gone", thread, segments)
        else:
            yield from _check_stream(ending, face, segments)
    for ending in endings.values():
        yield from _check_ending(ending)
    yield from _check_messages(history, endings)


def number_of(frame_id: str) -> tuple[int, ...]:
    return tuple(int(part) for part in frame_id.split("."))


def _check_ending(ending: Ending) -> Iterator[Violation]:
    if ending.status != AT_REST:
        yield Violation("a thread never came to its end", ending.thread, [ending])
    if ending.failures:
        yield Violation("a run failed", ending.thread, [ending])
    for face, frames in ending.logs.items():
        if _is_disordered(frames):
            yield Violation(f"the log is not in order at {face}", ending.thread, [ending])


def _is_disordered(frames: Sequence[Frame]) -> bool:
    """One entry may be several frames of the same number."""
    numbers = [number_of(frame.id) for frame in frames]
    return numbers != sorted(numbers) or len(set(frames)) != len(frames)


def _check_stream(ending: Ending, face: str, segments: Sequence[Segment]) -> Iterator[Violation]:
    for segment in segments:
        if _jumps_back(segment.frames):
            yield Violation("a stream is out of order", ending.thread, [segment, ending])
            return
    seen = [frame for segment in segments for frame in segment.frames if frame.key not in LIVE_ONLY]
    start = number_of(segments[0].after)
    log = [frame for frame in ending.logs[face] if number_of(frame.id) > start]
    if seen == log[: len(seen)]:
        if len(seen) < len(log):
            yield Violation("a stream did not come to the end of the log", ending.thread, [*segments, ending])
        return
    yield Violation(_difference(seen, log), ending.thread, [*segments, ending])


def _jumps_back(frames: Sequence[Frame]) -> bool:
    """Pieces may begin anew where the stream says so: a run was broken off, and began again while it stayed open."""
    last: tuple[int, ...] = (0,)
    for frame in frames:
        number = number_of(frame.id)
        if number < last and not (frame.key == ANEW and number[0] == last[0]):
            return True
        last = number
    return False


def _difference(seen: Sequence[Frame], log: Sequence[Frame]) -> str:
    if len(set(seen)) < len(seen):
        return "a stream repeats an entry over a reconnect"
    if set(seen) - set(log):
        return "a stream told what is not in the log"
    return "a stream has a gap" if set(log) - set(seen) else "a stream is out of order"


def _check_messages(history: History, endings: dict[str, Ending]) -> Iterator[Violation]:
    """A message that was acknowledged is in its thread once, any other once or not at all."""
    for call in history.calls:
        ending = endings.get(call.about) if call.verb == "say" else None
        if call.verb != "say":
            continue
        times = ending.said.count(call.value) if ending else 0
        part = [call, *([ending] if ending else [])]
        if times > 1:
            yield Violation("a message was taken twice", call.about, part)
        elif call.came == "accepted" and times == 0:
            yield Violation("an acknowledged message was lost", call.about, part)
        elif call.came == "refused" and times:
            yield Violation("a message that was refused was taken", call.about, part)
