"""`kill -9` at every step, and what the next start makes of it.

Each life of the server is armed for one crash and mends the one before it. The steps of a chain go backwards through a
run, so that mending a late crash does not come by the early point that is armed next; where it does, the point counts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import pytest

from tests.durability.lives import Lives, Talk
from tests.support.threads import parse

pytestmark = pytest.mark.promise("P1", "P4", "P6")

on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
on_postgres = pytest.mark.parametrize("database_url", ["postgres"], indirect=True)

GOES_WELL = ["interrupt", "end", "tool/start", "tool/end", "end"]
IN_A_NODE = ["interrupt", "end", "end"]


def sending(talk: Talk) -> None:
    with talk.lives.dying():
        talk.send()


def answering(talk: Talk) -> None:
    talk.is_asked()
    with talk.lives.dying():
        talk.approve()


def answering_then_claimed(talk: Talk) -> None:
    """The answered run is claimed by the next life, which dies of it."""
    answering(talk)
    talk.lives.start_and_die("run.claimed=kill")


def sending_then_claimed(talk: Talk) -> None:
    sending(talk)
    talk.lives.start_and_die("run.claimed=kill")


def killing_when_answered(talk: Talk) -> None:
    talk.is_asked()
    talk.lives.kill_when_told(f"/api/resume/{talk.thread_id}", {"action": "continue", "request_id": talk.request_id})


def killing_when_sent(talk: Talk) -> None:
    talk.lives.kill_when_told(f"/api/chat/{talk.thread_id}", {"message": talk.message})


def killing_when_shown(talk: Talk) -> None:
    """`kill -9` as soon as the question has reached the person."""
    body = {"message": talk.message}
    with talk.person.http.stream("POST", f"/api/chat/{talk.thread_id}", json=body) as response:
        frame = next(frame for frame in parse(response.iter_lines()) if frame.event == "interrupt")
        talk.lives.server.kill()
    talk.request_id = frame.data["request_id"]


def goes_on(talk: Talk) -> None:
    """Nobody has to do anything: what was told is kept, and is acted on once."""
    story = talk.finishes(runs=2)
    assert story in (GOES_WELL, IN_A_NODE)


def goes_on_when_let(talk: Talk) -> None:
    """The same; however late the kill came, the effect had not begun."""
    talk.release()
    goes_on(talk)


def tries_again(talk: Talk) -> None:
    """It was cut short, and may be repeated under its key."""
    assert talk.finishes(runs=2) == ["interrupt", "end", "tool/start", "tool/start", "tool/end", "end"]


def is_still_asked(talk: Talk) -> None:
    """The answer that nobody was told to be accepted was not: the same request waits, untouched."""
    assert talk.person.status(talk.thread_id)["status"] == "interrupted"
    assert talk.pending()["request_id"] == talk.request_id
    assert talk.effects == 0
    talk.approve()
    goes_on(talk)


def is_asked_once(talk: Talk) -> None:
    """The message is kept: the run comes to its one question without being sent again."""
    talk.request_id = talk.pending()["request_id"]
    assert [frame.event for frame in talk.log(runs=1)] == ["interrupt", "end"]
    assert talk.effects == 0
    talk.approve()
    goes_on(talk)


def was_not_sent(talk: Talk) -> None:
    """Nothing of the message is there, and it can be sent again."""
    assert talk.person.history(talk.thread_id) == []
    assert talk.person.status(talk.thread_id)["message_count"] == 0
    talk.is_asked()
    talk.approve()
    goes_on(talk)


def in_doubt(word: str, *, before: int, after: int, said: str = "finished") -> Callable[[Talk], None]:
    def mend(talk: Talk) -> None:
        """A person is asked, and what they say is done."""
        request = talk.pending()
        assert request["kind"] == "decision"
        assert request["request_data"]["decision_type"] == "effect_in_doubt"
        assert talk.effects == before
        assert talk.answer(word).status == 200
        talk.finishes(runs=3, effects=after, said=said)

    return mend


WRITTEN = in_doubt("done: it was written", before=1, after=1, said="finished: it was written")
SKIPPED = in_doubt("skip", before=1, after=1, said="finished: Skipped")
RETRIED = in_doubt("retry", before=0, after=1, said="finished: wrote")


@dataclass(frozen=True)
class Crash:
    point: str
    agent: str
    verb: str
    breaks: Callable[[Talk], None]
    mends: Callable[[Talk], None]


def survive(lives: Lives, crashes: list[Crash], **bystander: str) -> None:
    lives.start(crashes[0].point)
    lives.leave_bystander(**bystander)
    for crash, following in pairwise([*crashes, None]):
        assert crash is not None
        talk = Talk(lives, crash.agent, crash.verb)
        crash.breaks(talk)
        lives.start(following.point if following else "")
        try:
            crash.mends(talk)
        except Exception as error:
            error.add_note(f"after a crash at {crash.point}, {crash.agent} {crash.verb}")
            raise
    lives.answer_bystander()


@on_sqlite
def test_a_tool_cut_short_at_any_point_takes_effect_once_or_is_put_to_a_person(lives: Lives) -> None:
    survive(
        lives,
        [
            Crash("run.finishing=kill", "tools", "write", answering, goes_on),
            Crash("effect.done=kill", "tools", "write", answering, goes_on),
            Crash("effect.returned=kill", "tools", "write", answering, WRITTEN),
            Crash("effect.returned=kill", "tools", "write", answering, SKIPPED),
            Crash("effect.intended=kill", "tools", "write", answering, RETRIED),
            Crash("effect.returned=kill@2", "tools", "put", answering, tries_again),
            Crash("effect.intended=kill@2", "tools", "put", answering, tries_again),
        ],
        agent="tools",
        verb="put",
    )


@on_sqlite
def test_what_was_told_is_kept_and_what_was_not_told_is_whole_or_absent(lives: Lives) -> None:
    survive(
        lives,
        [
            Crash("effect.returned=kill", "deploy", "", answering, in_doubt("done", before=1, after=1)),
            Crash("answer.committed=kill@2", "deploy", "", answering_then_claimed, goes_on),
            Crash("", "deploy", "held", killing_when_answered, goes_on_when_let),
            Crash("answer.committing=kill", "deploy", "", answering, is_still_asked),
            Crash("", "deploy", "", killing_when_shown, is_still_asked),
            Crash("ask.committed=kill", "deploy", "", sending, is_asked_once),
            Crash("ask.committing=kill", "deploy", "", sending, is_asked_once),
            Crash("message.committed=kill@2", "deploy", "", sending_then_claimed, is_asked_once),
            Crash("", "deploy", "", killing_when_sent, is_asked_once),
            Crash("message.committing=kill@2", "deploy", "", sending, was_not_sent),
        ],
        agent="deploy",
    )


@on_postgres
def test_the_same_holds_on_postgresql(lives: Lives) -> None:
    survive(
        lives,
        [
            Crash("effect.intended=kill", "tools", "put", answering, tries_again),
            Crash("effect.returned=kill@2", "tools", "write", answering, WRITTEN),
            Crash("answer.committed=kill@2", "tools", "write", answering, goes_on),
            Crash("answer.committing=kill", "tools", "write", answering, is_still_asked),
            Crash("ask.committing=kill", "deploy", "", sending, is_asked_once),
            Crash("message.committed=kill@2", "deploy", "", sending, is_asked_once),
            Crash("message.committing=kill@2", "tools", "put", sending, was_not_sent),
        ],
        agent="tools",
        verb="write",
    )


def done(talk: Talk) -> tuple[int, int]:
    return talk.lives.witness.count(f"staging:{talk.name}"), talk.lives.witness.count(f"PRODUCTION:{talk.name}")


def asks_about_production(talk: Talk) -> None:
    """The answer about staging is used for staging alone, once, and the next question waits for its own."""
    talk.person.wait_for(lambda: done(talk), lambda seen: seen == (1, 0))
    request = talk.pending()
    assert request["request_data"]["args"]["what"] == "PRODUCTION"
    talk.refuses_a_second_answer()
    assert done(talk) == (1, 0)
    talk.request_id = request["request_id"]
    assert talk.approve().events[-1] == "end"
    assert done(talk) == (1, 1)
    talk.refuses_a_second_answer()
    assert talk.person.history(talk.thread_id)[-1]["content"] == f"finished {talk.name}"


def doubts_staging(talk: Talk) -> None:
    assert talk.pending()["request_data"]["decision_type"] == "effect_in_doubt"
    assert talk.answer("done").status == 200
    asks_about_production(talk)


@pytest.mark.parametrize(
    ("database_url", "agent"), [("sqlite", "one_node"), ("postgres", "two_nodes")], indirect=["database_url"]
)
def test_an_answer_is_used_for_its_own_question_through_any_crash(lives: Lives, agent: str) -> None:
    survive(
        lives,
        [
            Crash("effect.done=kill", agent, "", answering, asks_about_production),
            Crash("ask.committing=kill@3", agent, "", answering, asks_about_production),
            Crash("answer.committed=kill@2", agent, "", answering, asks_about_production),
            Crash("effect.returned=kill@3", agent, "", answering, doubts_staging),
        ],
        agent="deploy",
    )
