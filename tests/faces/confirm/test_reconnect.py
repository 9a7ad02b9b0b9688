"""Connections that drop, and those who come back: nothing is lost, and nothing that waits has stopped."""

import pytest

from interlock_client.confirm import AgentEvents, SystemEvents
from tests.support.confirm import ConfirmClient, Told, names, of, only
from tests.support.puppet import calls, flood, gate, says, script
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P14")


def numbered(told: list[Told]) -> list[tuple[int, str]]:
    """What stands in the log: every event but the tokens, which repeat a number, and what is of one connection."""
    left_out = (AgentEvents.PARTIAL_ANSWER, AgentEvents.USER_CONFIRM, AgentEvents.SESSION_CREATED)
    return [(one["seq"], one["event"]) for one in told if one["seq"] and one["event"] not in left_out]


def test_who_comes_back_is_told_what_they_missed_and_asked_again(
    alice: ThreadsClient, witness: Witness, fresh: str
) -> None:
    with of(alice) as first:
        first.say(script(calls(("hold", {"name": fresh})), calls(("guarded", {"name": f"{fresh}-2"}))))
        first.wait_for(AgentEvents.TOOL_CALL)
        session, last_seq = str(first.session_id), first.last_seq
        first.drop()
    witness.release(fresh)
    alice.wait_for_status(session, "interrupted")
    with of(alice) as again:
        back = again.reconnect(session, last_seq)
        assert back["metadata"].items() >= {"reconnected": True, "last_seq": last_seq}.items()
        assert (back["session_id"], back["seq"]) == (session, last_seq)
        told = again.until(AgentEvents.USER_CONFIRM)
        assert names(told) == ["agent.tool_result", "agent.user_confirm"]
        again.confirm(told[-1]["step_id"])
        assert again.wait_for(AgentEvents.FINAL_ANSWER)["content"] == f"held {fresh} | done {fresh}-2"
    assert (witness.count(fresh), witness.count(f"{fresh}-2")) == (1, 1)


def test_the_missed_events_are_those_that_another_connection_was_told(alice: ThreadsClient, fresh: str) -> None:
    with of(alice) as watching:
        asked = watching.ask(script(calls(("note", {"name": "a"})), calls(("guarded", {"name": fresh})), says("done")))
        watching.confirm(asked["step_id"])
        watching.wait_for(AgentEvents.FINAL_ANSWER)
        session = str(watching.session_id)
        everything = numbered(watching.told)
        for seq in {0, *(number for number, _ in everything)}:
            with of(alice) as late:
                late.reconnect(session, seq)
                late.say(script(says("that was all")), session)
                late.wait_for(AgentEvents.ERROR, AgentEvents.FINAL_ANSWER)
                wanted = [one for one in everything if one[0] > seq]
                assert numbered(late.told)[: len(wanted)] == wanted
            everything = [one for one in everything if one[0] <= everything[-1][0]]


def test_a_confirmation_that_was_settled_meanwhile_is_not_asked_again(
    alice: ThreadsClient, witness: Witness, fresh: str
) -> None:
    with of(alice) as first:
        asked = first.ask(script(calls(("guarded", {"name": fresh}))))
        session, last_seq = str(first.session_id), asked["seq"] - 1
        first.drop()
    with of(alice) as second:
        second.confirm(asked["step_id"], session)
        second.wait_for(AgentEvents.FINAL_ANSWER)
    with of(alice) as again:
        again.reconnect(session, last_seq)
        told = again.until(AgentEvents.FINAL_ANSWER)
        assert only(told, AgentEvents.USER_CONFIRM) == []
        assert told[-1]["content"] == f"done {fresh}"
    assert witness.count(fresh) == 1


def test_a_refusal_and_its_step_are_told_to_who_was_not_there(alice: ThreadsClient, fresh: str) -> None:
    with of(alice) as first:
        asked = first.ask(script(calls(("guarded", {"name": fresh}))))
        session, last_seq = str(first.session_id), first.last_seq
        first.drop()
    with of(alice) as second:
        second.refuse(asked["step_id"], "no", session)
        second.wait_for(AgentEvents.FINAL_ANSWER)
    with of(alice) as again:
        again.reconnect(session, last_seq)
        (result,) = only(again.until(AgentEvents.FINAL_ANSWER), AgentEvents.TOOL_RESULT)
        assert (result["step_id"], result["content"]) == (asked["step_id"], "no")


@pytest.mark.parametrize("last_seq", [None, 10**9, "10000"])
def test_who_names_no_number_or_one_that_the_log_has_not_reached_is_asked_what_is_pending(
    alice: ThreadsClient, fresh: str, last_seq: int | str | None
) -> None:
    with of(alice) as first:
        asked = first.ask(script(calls(("guarded", {"name": fresh}))))
    with of(alice) as again:
        again.reconnect(str(first.session_id), last_seq)
        assert again.next()["step_id"] == asked["step_id"]


@pytest.mark.parametrize("last_seq", [-1, "x", 1.5, True, "1" * 40])
def test_a_number_that_is_none_is_an_error(person: ConfirmClient, last_seq: int | str) -> None:
    session = person.create()
    told = person.reconnect(session, last_seq)
    assert (told["event"], told["metadata"]["error_type"]) == (SystemEvents.ERROR, "invalid_message")


def test_who_comes_back_in_the_middle_of_an_answer_gets_the_text_so_far(
    alice: ThreadsClient, witness: Witness, fresh: str
) -> None:
    with of(alice) as first:
        first.say(script(says("one ", gate(fresh), "two")))
        first.wait_for(AgentEvents.PARTIAL_ANSWER)
        session, last_seq = str(first.session_id), first.last_seq
        first.drop()
    with of(alice) as again:
        again.reconnect(session, last_seq)
        partial = again.next()
        assert (partial["event"], partial["content"]) == (AgentEvents.PARTIAL_ANSWER, "one ")
        assert partial["metadata"]["reset"] is True
        witness.release(fresh)
        told = again.until(AgentEvents.FINAL_ANSWER)
        assert [one["content"] for one in told] == ["two", "one two"]


def test_the_final_answer_is_whole_also_for_who_comes_between_it_and_its_text(alice: ThreadsClient, fresh: str) -> None:
    with of(alice) as first:
        first.say(script(says("the text")))
        first.wait_for(AgentEvents.FINAL_ANSWER)
        session, end = str(first.session_id), first.last_seq
    for seq in range(end):
        with of(alice) as again:
            again.reconnect(session, seq)
            assert again.wait_for(AgentEvents.FINAL_ANSWER)["content"] == "the text"


def test_a_run_goes_on_when_its_connection_is_gone(alice: ThreadsClient, witness: Witness, fresh: str) -> None:
    with of(alice) as first:
        first.say(script(calls(("hold", {"name": fresh})), calls(("note", {"name": f"{fresh}-after"}))))
        first.wait_for(AgentEvents.TOOL_CALL)
        session = str(first.session_id)
        first.drop()
    # Longer than a run of the threads face would be left alone.
    alice.wait_for(lambda: witness.count(fresh), lambda count: count == 1)
    witness.release(fresh)
    wait_for(lambda: alice.history(session)[-1]["role"], lambda role: role == "assistant")
    assert witness.count(f"{fresh}-after") == 1


def test_an_old_connection_and_a_new_one_are_told_the_same(alice: ThreadsClient, fresh: str) -> None:
    with of(alice) as first, of(alice) as second:
        asked = first.ask(script(calls(("guarded", {"name": fresh}))))
        second.reconnect(str(first.session_id), 0)
        assert second.wait_for(AgentEvents.USER_CONFIRM)["step_id"] == asked["step_id"]
        second.confirm(asked["step_id"])
        finals = [client.wait_for(AgentEvents.FINAL_ANSWER) for client in (first, second)]
        assert [one["content"] for one in finals] == [f"done {fresh}"] * 2
        assert numbered(first.told) == numbered(second.told)


def test_reconnecting_on_the_same_connection_tells_again_and_goes_on_once(person: ConfirmClient) -> None:
    person.say(script(says("one")))
    person.wait_for(AgentEvents.FINAL_ANSWER)
    session = str(person.session_id)
    for _ in range(2):
        person.reconnect(session, 0)
        assert person.wait_for(AgentEvents.FINAL_ANSWER)["content"] == "one"
    person.say(script(says("two")))
    told = person.until(AgentEvents.FINAL_ANSWER)
    assert names(told) == ["agent.thinking", "agent.partial_answer", "agent.final_answer"]


def test_a_long_story_is_told_whole(alice: ThreadsClient) -> None:
    many = 700
    with of(alice) as person:
        session = person.create()
        person.say(script(calls(*(("note", {"name": f"n{number}"}) for number in range(many)))))
        person.wait_for(AgentEvents.FINAL_ANSWER)
        person.say(script(says(flood(3000, "x" * 100))))
        whole = person.wait_for(AgentEvents.FINAL_ANSWER)["content"]
    with of(alice) as again:
        again.reconnect(session, 0)
        told = [*again.until(AgentEvents.FINAL_ANSWER), *again.until(AgentEvents.FINAL_ANSWER)]
        assert len(only(told, AgentEvents.TOOL_RESULT)) == many
        assert told[-1]["content"] == whole
