"""Resume: continue, cancel and answer, and what is refused without being settled."""

import json
from typing import Any

import pytest

from tests.faces.threads.asking import COLOURS, FREE, HOW, KEY, REGION, clarification, decision, questions, variables
from tests.support.puppet import Call, calls, fails, gate, says, script
from tests.support.threads import Reply, ThreadsClient
from tests.support.wire import opened, post, until
from tests.support.witness import Witness


def ask(client: ThreadsClient, thread_id: str, *named: Call) -> dict[str, Any]:
    return client.chat(thread_id, script(calls(*named))).first("interrupt")


def assert_refused(client: ThreadsClient, thread_id: str, reply: Reply, message: str | None = None) -> None:
    """An error event and `end` with the action `error`; the pause is as it was."""
    assert reply.status == 200
    assert reply.events == ["error", "end"]
    assert reply.frames[-1].data["action"] == "error"
    if message is not None:
        assert reply.first("error")["message"] == message
    assert client.status(thread_id)["status"] == "interrupted"


def test_continue_runs_the_tool_and_names_the_action_at_the_end(
    alice: ThreadsClient, thread: str, witness: Witness
) -> None:
    ask(alice, thread, ("guarded", {"name": "resume-1"}))
    reply = alice.resume(thread, "continue")
    assert reply.frames[-1].data["action"] == "continue"
    assert reply.headers["x-thread-id"] == thread
    assert witness.count("resume-1") == 1
    assert alice.status(thread)["status"] == "idle"


def test_cancel_refuses_the_tool_and_the_agent_is_told_and_goes_on(
    alice: ThreadsClient, thread: str, witness: Witness
) -> None:
    ask(alice, thread, ("guarded", {"name": "resume-2"}))
    reply = alice.resume(thread, "cancel", reason="too early")
    assert reply.frames[-1].data["action"] == "cancel"
    assert "refused" in reply.text
    assert "too early" in reply.text
    assert reply.first("tool/end")["output"] == "too early"
    assert witness.count("resume-2") == 0
    assert alice.status(thread)["status"] == "idle"


@pytest.mark.parametrize("beside", [{"answers": ["no"]}, {"answers": [False]}, {"reason": "too early"}], ids=repr)
def test_a_continue_that_also_says_something_else_is_refused_and_runs_nothing(
    alice: ThreadsClient, thread: str, witness: Witness, beside: dict[str, Any]
) -> None:
    fresh = f"beside-{thread}"
    ask(alice, thread, ("guarded", {"name": fresh}))
    reply = alice.resume(thread, "continue", **beside)
    assert reply.status == 400
    assert [error["field"] for error in reply.body["errors"]] == list(beside)
    assert alice.status(thread)["status"] == "interrupted"
    assert witness.count(fresh) == 0
    assert alice.resume(thread, "continue", answers=[]).events[-1] == "end"
    assert witness.count(fresh) == 1


@pytest.mark.parametrize("call", [clarification("a"), decision(), variables(KEY), questions(FREE)])
def test_cancel_cancels_what_is_no_approval_and_the_agent_goes_on(
    alice: ThreadsClient, thread: str, call: Call
) -> None:
    ask(alice, thread, call)
    reply = alice.resume(thread, "cancel")
    assert reply.events[-1] == "end"
    assert "error" not in reply.events
    assert reply.text.startswith("Not answered")
    assert alice.status(thread)["status"] == "idle"


@pytest.mark.parametrize("action", ["continue", "cancel"])
def test_one_reply_settles_all_approvals_of_a_pause(
    alice: ThreadsClient, thread: str, witness: Witness, action: str
) -> None:
    names = [f"all-{action}-1", f"all-{action}-2"]
    ask(alice, thread, *(("guarded", {"name": name}) for name in names))
    reply = alice.resume(thread, action)
    wanted = 1 if action == "continue" else 0
    assert [witness.count(name) for name in names] == [wanted, wanted]
    assert reply.events.count("tool/end") == 2


def test_answers_reach_the_agent_in_the_order_of_the_questions(alice: ThreadsClient, thread: str) -> None:
    ask(alice, thread, questions(COLOURS, HOW, FREE))
    reply = alice.resume(thread, "answer", answers=["purple", "now", "no, thanks"])
    assert reply.frames[-1].data["action"] == "answer"
    given = [item["answer"] for item in json.loads(reply.first("tool/end")["output"])]
    assert given == ["purple", "now", "no, thanks"]


@pytest.mark.parametrize(
    ("call", "answer", "told"),
    [
        (clarification("dev", "prod"), "dev", "dev"),
        (clarification("dev", "prod"), "somewhere else", "somewhere else"),
        (clarification(), "anything", "anything"),
        (decision(), "go", '{"decision": "go", "reason": ""}'),
        (decision(), "stop: not on a Friday", '{"decision": "stop", "reason": "not on a Friday"}'),
        (variables(KEY), "s3cret", '{"provided": ["API_KEY"]}'),
    ],
)
def test_an_answer_of_every_kind_reaches_the_agent(giver: ThreadsClient, call: Call, answer: str, told: str) -> None:
    thread = giver.new_thread()
    ask(giver, thread, call)
    assert giver.resume(thread, "answer", answers=[answer]).text == told


def test_an_optional_variable_may_be_left_empty(giver: ThreadsClient) -> None:
    thread = giver.new_thread()
    ask(giver, thread, variables(KEY, REGION))
    assert_refused(giver, thread, giver.resume(thread, "answer", answers=["", "eu"]), "answer at index 0 is empty")
    assert giver.resume(thread, "answer", answers=["k", ""]).text == '{"provided": ["API_KEY"]}'


@pytest.mark.parametrize("answers", [["red", "now"], ["red", "now", "x", "y"]])
def test_another_number_of_answers_is_refused_in_the_seeds_words(
    alice: ThreadsClient, thread: str, answers: list[str]
) -> None:
    ask(alice, thread, questions(COLOURS, HOW, FREE))
    wanted = f"answers count ({len(answers)}) does not match questions count (3)"
    assert_refused(alice, thread, alice.resume(thread, "answer", answers=answers), wanted)


@pytest.mark.parametrize("empty", ["", "  \n", "__custom__", " __custom__ "])
def test_an_empty_answer_is_refused_in_the_seeds_words(alice: ThreadsClient, thread: str, empty: str) -> None:
    ask(alice, thread, questions(COLOURS, COLOURS))
    reply = alice.resume(thread, "answer", answers=["red", empty])
    assert_refused(alice, thread, reply, "answer at index 1 is empty")
    assert "error" not in alice.resume(thread, "answer", answers=["red", "green"]).events


@pytest.mark.parametrize("call", [questions(HOW), clarification("dev", "prod", allow_custom=False), decision()])
def test_a_value_that_was_not_offered_is_refused(alice: ThreadsClient, thread: str, call: Call) -> None:
    ask(alice, thread, call)
    assert_refused(alice, thread, alice.resume(thread, "answer", answers=["something else"]))


@pytest.mark.parametrize("call", [questions(HOW), clarification("a"), decision(), variables(KEY)])
def test_continue_does_not_answer_a_question(alice: ThreadsClient, thread: str, call: Call) -> None:
    ask(alice, thread, call)
    assert_refused(alice, thread, alice.resume(thread, "continue"))


def test_answer_does_not_settle_an_approval(alice: ThreadsClient, thread: str, witness: Witness) -> None:
    ask(alice, thread, ("guarded", {"name": "resume-3"}))
    assert_refused(alice, thread, alice.resume(thread, "answer", answers=["yes"]))
    assert witness.count("resume-3") == 0


@pytest.mark.parametrize(
    "body",
    [
        {"action": "approve"},
        {"action": ""},
        {"action": "Continue"},
        {"action": "answer"},
        {"action": "answer", "answers": []},
        {"action": "answer", "answers": None},
    ],
)
def test_a_bad_action_and_an_answer_without_answers_are_bad_requests(
    alice: ThreadsClient, thread: str, body: dict[str, Any]
) -> None:
    ask(alice, thread, questions(HOW))
    reply = post(alice, f"/api/resume/{thread}", body)
    assert reply.status == 400
    assert isinstance(reply.body["detail"], str)
    assert alice.status(thread)["status"] == "interrupted"


@pytest.mark.parametrize(
    "body", [{}, {"action": 1}, {"action": "answer", "answers": 1}, {"action": "answer", "answers": "red"}]
)
def test_a_body_of_another_form_is_unprocessable(alice: ThreadsClient, thread: str, body: dict[str, Any]) -> None:
    assert post(alice, f"/api/resume/{thread}", body).status == 422


@pytest.mark.parametrize("answer", [1, False, None, ["red"], {"text": "red"}])
def test_only_a_text_answers_a_question_of_an_agents(alice: ThreadsClient, thread: str, answer: Any) -> None:
    ask(alice, thread, questions(HOW))
    reply = alice.resume(thread, "answer", answers=[answer])
    assert reply.events == ["error", "end"]
    assert reply.first("error")["message"] == "answer at index 0 must be a string"
    assert reply.first("end")["action"] == "error"
    assert alice.status(thread)["status"] == "interrupted"


@pytest.mark.parametrize("action", ["continue", "cancel", "answer"])
def test_a_reply_when_nothing_is_pending_is_a_conflict(alice: ThreadsClient, thread: str, action: str) -> None:
    alice.chat(thread, script(says("hi")))
    reply = alice.resume(thread, action, **({"answers": ["x"]} if action == "answer" else {}))
    assert reply.status == 409
    assert (reply.body["detail"], reply.body["status"], reply.body["pending"]) == ("没有待处理的请求", "idle", [])


def test_a_reply_while_the_thread_runs_is_a_conflict(alice: ThreadsClient, thread: str, witness: Witness) -> None:
    message = {"message": script(says("one", gate("resume-running")))}
    with opened(alice, f"/api/chat/{thread}", message) as frames:
        until(frames, "messages/partial")
        reply = alice.resume(thread, "continue")
        assert (reply.status, reply.body["status"]) == (409, "running")
        witness.release("resume-running")
        until(frames, "end")


def test_a_reply_can_name_its_request(alice: ThreadsClient, thread: str) -> None:
    first = ask(alice, thread, ("guarded", {"name": "named"}))
    assert "tool/start" in alice.resume(thread, "continue", request_id=first["request_id"]).events
    alice.chat(thread, script(calls(("guarded", {"name": "named"}))))
    late = alice.resume(thread, "continue", request_id=first["request_id"])
    assert late.status == 409
    assert late.body["request_id"] == first["request_id"]
    assert (late.body["answered_by"], late.body["source"]) == ("alice", "threads")
    assert late.body["answer"] == {"decision": "accept"}
    assert late.body["answered_at"]
    assert late.body["status"] == "interrupted"
    assert len(late.body["pending"]) == 1


def test_a_reply_to_a_request_of_another_thread_is_not_found(alice: ThreadsClient, thread: str) -> None:
    elsewhere = ask(alice, alice.new_thread(), ("guarded", {"name": "elsewhere"}))
    ask(alice, thread, ("guarded", {"name": "here"}))
    for request_id in (elsewhere["request_id"], "perm_unknown", "\0"):
        assert alice.resume(thread, "continue", request_id=request_id).status == 404
    assert alice.status(thread)["status"] == "interrupted"


def test_what_a_reply_leaves_open_is_shown_again(alice: ThreadsClient, thread: str, witness: Witness) -> None:
    asked = ask(alice, thread, ("guarded", {"name": "mixed"}), questions(HOW))
    assert [request["kind"] for request in asked["requests"]] == ["approval", "questions"]
    partly = alice.resume(thread, "continue")
    assert partly.events == ["interrupt", "end"]
    assert [request["kind"] for request in partly.first("interrupt")["requests"]] == ["questions"]
    assert partly.frames[-1].data["action"] == "continue"
    assert witness.count("mixed") == 0
    done = alice.resume(thread, "answer", answers=["now"])
    assert done.events[-1] == "end"
    assert witness.count("mixed") == 1


def test_an_interrupt_after_a_resume_comes_in_its_stream(alice: ThreadsClient, thread: str) -> None:
    alice.chat(thread, script(calls(("guarded", {"name": "a"})), calls(("guarded", {"name": "b"}))))
    reply = alice.resume(thread, "continue")
    assert reply.events == ["tool/start", "tool/end", "interrupt", "end"]
    assert reply.first("interrupt")["requests"][0]["request_data"]["args"] == {"name": "b"}


def test_an_answer_whose_run_fails_is_not_lost(alice: ThreadsClient, thread: str) -> None:
    alice.chat(thread, script(calls(("guarded", {"name": "c"})), fails("boom")))
    failed = alice.resume(thread, "continue")
    assert failed.events == ["tool/start", "tool/end", "error", "end"]
    assert alice.status(thread)["status"] == "idle"
    assert alice.chat(thread, script(says("on we go"))).text == "on we go"
