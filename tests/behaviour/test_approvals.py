"""Approvals, at every face and on every database."""

from tests.behaviour.conftest import Persons
from tests.behaviour.driver import Person
from tests.support import hitl
from tests.support.people import People
from tests.support.puppet import calls, fails, says, script
from tests.support.waiting import wait_for
from tests.support.wire import at_once
from tests.support.witness import Witness


def test_what_is_approved_runs_once_and_the_agent_goes_on(
    person: Person, conversation: str, witness: Witness, fresh: str
) -> None:
    paused = person.say(conversation, script(calls(("guarded", {"name": fresh}))))
    assert paused.state == "paused"
    assert [(one.kind, one.data["args"]) for one in paused.asked] == [("approval", {"name": fresh})]
    assert witness.count(fresh) == 0
    done = person.approve(conversation)
    assert (done.state, done.text) == ("done", f"done {fresh}")
    assert witness.count(fresh) == 1
    assert person.pending(conversation) == ()


def test_what_is_refused_does_not_run_and_the_agent_is_told_why(
    person: Person, conversation: str, witness: Witness, fresh: str
) -> None:
    person.say(conversation, script(calls(("guarded", {"name": fresh}))))
    done = person.refuse(conversation, "not on a Friday")
    assert done.state == "done"
    assert "not on a Friday" in done.text
    assert witness.count(fresh) == 0


def test_calls_made_at_once_are_each_asked_for(person: Person, conversation: str, witness: Witness, fresh: str) -> None:
    names = [f"{fresh}-{number}" for number in range(3)]
    paused = person.say(conversation, script(calls(*(("guarded", {"name": name}) for name in names))))
    assert [one.data["args"]["name"] for one in paused.asked] == names
    assert len({one.id for one in paused.asked}) == 3
    assert person.approve(conversation).state == "done"
    assert [witness.count(name) for name in names] == [1, 1, 1]


def test_questions_in_sequence_are_each_their_own(
    person: Person, conversation: str, witness: Witness, fresh: str
) -> None:
    turns = [calls(("guarded", {"name": f"{fresh}-{number}"})) for number in range(3)]
    asked = person.say(conversation, script(*turns)).asked
    seen = [asked[0].id]
    for number in range(2):
        paused = person.approve(conversation, asked[0])
        assert paused.state == "paused"
        asked = paused.asked
        seen.append(asked[0].id)
        assert [witness.count(f"{fresh}-{later}") for later in range(number + 1, 3)] == [0] * (2 - number)
    assert person.approve(conversation, asked[0]).state == "done"
    assert len(set(seen)) == 3


def test_the_same_question_in_a_loop_is_asked_each_time(
    person: Person, conversation: str, witness: Witness, fresh: str
) -> None:
    person.say(conversation, script(*[calls(("guarded", {"name": fresh}))] * 3))
    assert [person.approve(conversation).state for _ in range(3)] == ["paused", "paused", "done"]
    assert witness.count(fresh) == 3


def test_of_many_answers_at_once_one_is_accepted_and_the_others_are_told(
    person: Person, conversation: str, witness: Witness, fresh: str
) -> None:
    asked = person.say(conversation, script(calls(("guarded", {"name": fresh})))).asked[0]
    clickers = [person.once_more() for _ in range(12)]

    def click(index: int) -> str:
        act = clickers[index].approve if index % 2 else clickers[index].refuse
        outcome = act(conversation, asked=asked)
        if outcome.state == "conflict":
            assert outcome.told["answered_by"] == person.name
            assert outcome.told["answered_at"]
            return outcome.told["answer"]["decision"]
        assert outcome.state == "done"
        return "won"

    told = at_once(12, click)
    won = [index for index, answer in enumerate(told) if answer == "won"]
    # Where the same answer again is a repeat, it is told what the first one was.
    assert len(won) == 1 or person.repeats
    assert len({index % 2 for index in won}) == 1
    approved = won[0] % 2 == 1
    assert {answer for answer in told if answer != "won"} == {"accept" if approved else "reject"}
    assert witness.count(fresh) == int(approved)


def test_a_late_answer_changes_nothing_and_reaches_no_later_question(
    person: Person, conversation: str, witness: Witness, fresh: str
) -> None:
    turns = [calls(("guarded", {"name": f"{fresh}-{where}"})) for where in ("staging", "PRODUCTION")]
    staging = person.say(conversation, script(*turns)).asked[0]
    person.approve(conversation, staging)
    assert person.approve(conversation, staging).state == ("paused" if person.repeats else "conflict")
    assert person.refuse(conversation, asked=staging).state == "conflict"
    pending = person.pending(conversation)
    assert pending is not None
    assert [one.data["args"]["name"] for one in pending] == [f"{fresh}-PRODUCTION"]
    assert (witness.count(f"{fresh}-staging"), witness.count(f"{fresh}-PRODUCTION")) == (1, 0)


def test_an_answer_whose_run_then_fails_is_not_asked_for_again(
    person: Person, conversation: str, witness: Witness, fresh: str
) -> None:
    asked = person.say(conversation, script(calls(("guarded", {"name": fresh})), fails("boom"))).asked[0]
    failed = person.approve(conversation, asked)
    assert failed.state == "failed"
    assert "boom" in failed.text
    assert witness.count(fresh) == 1
    assert person.approve(conversation, asked).state == ("failed" if person.repeats else "conflict")
    assert person.say(conversation, script(says("on we go"))).text == "on we go"
    assert witness.count(fresh) == 1


def test_nobody_else_sees_or_answers(persons: Persons, witness: Witness, fresh: str) -> None:
    owner, stranger = persons("alice"), persons("alice-x")
    conversation = owner.begin()
    asked = owner.say(conversation, script(calls(("guarded", {"name": fresh})))).asked[0]
    assert stranger.pending(conversation) is None
    assert stranger.approve(conversation, asked).state == "forbidden"
    assert stranger.say(conversation, script(says("hi"))).state == "forbidden"
    assert not stranger.delete(conversation)
    assert owner.pending(conversation) == (asked,)
    assert witness.count(fresh) == 0


def test_the_admin_may_answer_for_everybody(persons: Persons, witness: Witness, fresh: str) -> None:
    owner, admin = persons("alice"), persons("root")
    conversation = owner.begin()
    asked = owner.say(conversation, script(calls(("guarded", {"name": fresh})))).asked[0]
    assert admin.approve(conversation, asked).state == "done"
    late = owner.refuse(conversation, asked=asked)
    assert (late.state, late.told["answered_by"]) == ("conflict", "root")
    assert witness.count(fresh) == 1


def test_what_was_allowed_for_the_conversation_is_not_asked_again(
    person: Person, conversation: str, people: People, witness: Witness, fresh: str
) -> None:
    message = script(calls(("guarded", {"name": fresh})))
    assert person.say(conversation, message).state == "paused"
    remembered = {"granted": True, "remember": True, "scope": "this_tool", "duration": "session"}
    owner = people.named(person.name)
    with hitl.of(owner) as account:
        pending = account.everything(limit=200)["pending_requests"]
        [asked] = [one for one in pending if one["request_data"].get("args") == {"name": fresh}]
        account.respond(asked["request_id"], remembered)
    path = f"/threads/{asked['conversation_id']}"
    wait_for(lambda: owner.http.get(path).json()["status"], lambda status: status == "idle")
    done = person.say(conversation, message)
    assert (done.state, done.text) == ("done", f"done {fresh}")
    assert witness.count(fresh) == 2


def test_a_deleted_conversation_takes_no_answer(
    person: Person, conversation: str, witness: Witness, fresh: str
) -> None:
    asked = person.say(conversation, script(calls(("guarded", {"name": fresh})))).asked[0]
    assert person.delete(conversation)
    assert person.approve(conversation, asked).state == person.gone
    assert person.pending(conversation) == person.nowhere
    assert witness.count(fresh) == 0


def test_a_message_is_not_taken_while_an_answer_is_awaited(person: Person, conversation: str, fresh: str) -> None:
    person.say(conversation, script(calls(("guarded", {"name": fresh}))))
    assert person.say(conversation, script(says("hi"))).state == "conflict"
    assert person.refuse(conversation).state == "done"
    assert person.say(conversation, script(says("hi"))).state == "done"
