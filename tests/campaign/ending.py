"""What is there after everything: each thread's log and status, every request, every effect."""

from collections import Counter

from tests.campaign.history import Effect, Ending
from tests.campaign.lane import Lane, Talk
from tests.campaign.reading import logged, read_logs


def conclude(lane: Lane) -> None:
    """Everything that the checkers have to know of a person's conversations, once nothing breaks any more."""
    for talk in lane.talks:
        for request in lane.requests(talk):
            lane.look(request)
        _conclude(lane, talk)


def _conclude(lane: Lane, talk: Talk) -> None:
    told = read_logs(lane.any_client, talk.thread, talk.last, lane.requests(talk))
    logs = logged(told)
    for follower in talk.followers:
        follower.end_at(logs[follower.face])
        follower.join()
    failures = tuple(str(one.data["message"]) for one in told["threads"] if one.event == "error")
    lane.history.add(Ending(talk.thread, talk.status, tuple(lane.said(talk)), logs, failures))
    ended = [one.data for one in told["threads"] if one.event == "tool/end"]
    results = Counter(str(one["output"]) for one in ended if one["status"] == "success")
    for name in talk.effects:
        count = lane.stage.witness.count(name)
        lane.history.add(Effect(name, talk.thread, count, results[f"done {name}"]))
