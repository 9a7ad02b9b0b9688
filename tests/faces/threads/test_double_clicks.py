"""The same reply twice never settles the question after the one it was meant for."""

import pytest

from tests.support.people import People
from tests.support.puppet import calls, fails, gate, script
from tests.support.threads import Reply, ThreadsClient
from tests.support.wire import at_once, opened, until
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P8")


def two_questions(name: str) -> str:
    """May staging be deleted, and, when that is done and the gate is open: may PRODUCTION?"""
    return script(
        calls(("guarded", {"name": f"{name} staging"})),
        calls(("guarded", {"name": f"{name} PRODUCTION"}), say=["staging is gone", gate(name)]),
    )


def test_a_second_click_while_the_first_is_worked_on_is_refused(
    alice: ThreadsClient, thread: str, witness: Witness
) -> None:
    alice.chat(thread, two_questions("twice"))
    with opened(alice, f"/api/resume/{thread}", {"action": "continue"}) as frames:
        until(frames, "messages/partial")
        second = alice.resume(thread, "continue")
        assert (second.status, second.body["status"]) == (409, "running")
        witness.release("twice")
        until(frames, "end")
    assert alice.status(thread)["status"] == "interrupted"
    assert (witness.count("twice staging"), witness.count("twice PRODUCTION")) == (1, 0)


def test_clicks_at_once_approve_one_question_once(
    people: People, alice: ThreadsClient, thread: str, witness: Witness
) -> None:
    alice.chat(thread, two_questions("at-once"))

    def click(index: int) -> Reply:
        if index == 0:
            # The gate opens when every other click has had its reply, or is what the reply is waited for.
            alice.wait_for(lambda: witness.count("at:at-once"), lambda count: count == 1)
            alice.wait_for(lambda: len(refused), lambda count: count == 9)
            witness.release("at-once")
            return Reply(0)
        reply = clickers[index].resume(thread, "continue")
        if reply.status == 409:
            refused.append(reply)
        return reply

    clickers = [people.again("alice") for _ in range(11)]
    refused: list[Reply] = []
    replies = at_once(11, click)
    accepted = [reply for reply in replies[1:] if reply.status == 200]
    assert len(accepted) == 1
    assert "interrupt" in accepted[0].events
    assert len(refused) == 9
    assert (witness.count("at-once staging"), witness.count("at-once PRODUCTION")) == (1, 0)
    assert alice.status(thread)["status"] == "interrupted"


def test_a_reply_sent_before_the_present_question_was_shown_is_not_used(
    alice: ThreadsClient, root: ThreadsClient, thread: str, witness: Witness
) -> None:
    alice.chat(thread, two_questions("unseen"))
    witness.release("unseen")
    root.status(thread)
    assert "interrupt" in root.resume(thread, "continue").events
    late = alice.resume(thread, "continue")
    assert late.status == 409
    assert late.body["code"] == "not_shown"
    assert (late.body["status"], len(late.body["pending"])) == ("interrupted", 1)
    assert witness.count("unseen PRODUCTION") == 0
    assert alice.status(thread)["has_pending_tasks"]
    assert alice.resume(thread, "continue").events[-1] == "end"
    assert witness.count("unseen PRODUCTION") == 1


def test_a_reply_that_names_its_request_reaches_no_other(alice: ThreadsClient, thread: str, witness: Witness) -> None:
    witness.release("named")
    staging = alice.chat(thread, two_questions("named")).first("interrupt")["request_id"]
    alice.resume(thread, "continue", request_id=staging)
    for action in ("continue", "cancel"):
        again = alice.resume(thread, action, request_id=staging)
        assert (again.status, again.body["request_id"]) == (409, staging)
    assert alice.status(thread)["interrupt_info"]["requests"][0]["request_data"]["args"]["name"] == "named PRODUCTION"
    assert witness.count("named PRODUCTION") == 0


def test_who_comes_second_is_told_who_answered_when_and_with_what(
    alice: ThreadsClient, root: ThreadsClient, thread: str
) -> None:
    asked = alice.chat(thread, script(calls(("guarded", {"name": "second"})))).first("interrupt")["request_id"]
    alice.resume(thread, "cancel", request_id=asked, reason="not today")
    late = root.resume(thread, "continue", request_id=asked)
    assert late.status == 409
    assert late.body["answered_by"] == "alice"
    assert late.body["answer"] == {"decision": "reject", "message": "not today"}
    assert late.body["current_status"] == "answered"
    assert late.body["answered_at"]


def test_a_value_that_is_secret_is_not_told_to_who_comes_second(people: People, root: ThreadsClient) -> None:
    person = people.named("keeper")
    thread_id = person.new_thread()
    fields = {"fields": [{"name": "API_KEY"}]}
    asked = person.chat(thread_id, script(calls(("request_env_vars", fields)))).first("interrupt")["request_id"]
    person.resume(thread_id, "answer", answers=["hunter2-is-secret"])
    late = root.resume(thread_id, "answer", answers=["other"], request_id=asked)
    assert late.status == 409
    assert late.body["answer"]["values"] == {"API_KEY": "***"}
    assert "hunter2" not in str(late.body)


def test_the_second_half_of_a_double_click_does_not_retry_what_has_just_failed(
    alice: ThreadsClient, thread: str, witness: Witness
) -> None:
    alice.chat(thread, script(calls(("guarded", {"name": "failing"})), fails("the model is down")))
    assert "error" in alice.resume(thread, "continue").events
    again = alice.resume(thread, "continue")
    assert (again.status, again.body["code"]) == (409, "not_shown")
    retried = alice.wait_for(lambda: alice.resume(thread, "continue"), lambda reply: reply.status == 200)
    assert "the model is down" in retried.first("error")["message"]
    assert witness.count("failing") == 1


def test_a_double_click_in_a_browser_does_not_approve_a_question_that_came_up_in_between(
    alice: ThreadsClient, thread: str, witness: Witness
) -> None:
    witness.release("browser")
    alice.chat(thread, two_questions("browser"))
    click = {"sec-fetch-site": "same-origin"}
    assert "interrupt" in alice.resume_as(thread, "continue", click).events
    second = alice.resume_as(thread, "continue", click)
    assert (second.status, second.body["code"]) == (409, "not_shown")
    assert (witness.count("browser staging"), witness.count("browser PRODUCTION")) == (1, 0)
    meant = alice.wait_for(lambda: alice.resume_as(thread, "continue", click), lambda reply: reply.status == 200)
    assert meant.events[-1] == "end"
    assert witness.count("browser PRODUCTION") == 1
