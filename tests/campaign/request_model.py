"""A request as a variable that is assigned once: what clients saw has to have one order in which that is so.

For a variable that keeps its first value it is enough to look at pairs. An answer without a reply may have counted at
any moment after it was sent, or never.
"""

from collections import defaultdict
from collections.abc import Iterator

from tests.campaign.history import SETTLED, Call, History
from tests.campaign.violation import Violation

MAY_COUNT = ("accepted", "unknown")


def check_requests(history: History) -> Iterator[Violation]:
    by_request: defaultdict[str, list[Call]] = defaultdict(list)
    for call in history.calls:
        if call.verb != "say":
            by_request[call.about].append(call)
    for asked in history.asked:
        by_request.setdefault(asked.request, [])
    for request, calls in by_request.items():
        yield from _check_request(request, sorted(calls, key=lambda call: call.sent))


def winner_of(history: History, request: str) -> str | None:
    """What counts, as far as anybody was told."""
    calls = [call for call in history.calls if call.about == request and call.verb != "say"]
    return next((value for call in calls if (value := _known_winner(call)) is not None), None)


def _known_winner(call: Call) -> str | None:
    """Which answer counts, as this call's sender knows from its reply."""
    if call.verb == "answer":
        return call.value if call.came == "accepted" else call.told if call.came == "lost" else None
    return call.told if call.came == "accepted" and call.told not in ("", "pending") else None


def _check_request(request: str, calls: list[Call]) -> Iterator[Violation]:
    answers = [call for call in calls if call.verb == "answer"]
    accepted = [call for call in answers if call.came == "accepted"]
    first = {call.value: call for call in accepted}
    if len(first) > 1 or sum(not call.repeats for call in accepted) > 1:
        yield Violation("two answers were accepted", request, accepted)
        return
    knowing = [call for call in calls if _known_winner(call) is not None]
    told = {_known_winner(call) for call in knowing}
    if len(told) > 1:
        yield Violation("clients were told different winners", request, knowing)
        return
    yield from _check_end(request, calls, knowing)
    if told:
        (value,) = told
        assert value is not None
        yield from _check_order(request, value, calls)


def _check_end(request: str, calls: list[Call], knowing: list[Call]) -> Iterator[Violation]:
    """Everybody asked after the end: who was told yes is not forgotten, and nothing is left open."""
    last = next((call for call in reversed(calls) if call.verb == "look" and call.came == "accepted"), None)
    if last is None:
        yield Violation("a request that was shown is gone", request, calls)
    elif last.told in ("", "pending"):
        what = "an acknowledged answer was lost" if knowing else "a request was never settled"
        yield Violation(what, request, [*knowing, last])


def _check_order(request: str, value: str, calls: list[Call]) -> Iterator[Violation]:
    given = [call for call in calls if call.value == value and call.verb == "answer" and call.came in MAY_COUNT]
    if not given:
        if value not in SETTLED:
            yield Violation("the answer that counts was sent by nobody", request, calls)
        return
    settled_by = min(call.returned or float("inf") for call in calls if _known_winner(call) == value)
    begun = min(call.sent for call in given)
    early = [call for call in calls if _known_winner(call) and (call.returned or 0.0) < begun]
    if early:
        yield Violation("somebody was told of an answer before it was sent", request, [*early, *given])
    stale = [call for call in calls if call.verb == "look" and call.told == "pending" and call.sent > settled_by]
    if stale:
        yield Violation("a request was open again after it had been settled", request, [*given, *stale])
