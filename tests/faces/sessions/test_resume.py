"""`POST /agent/resume`: the four answers, on every kind of request that takes them, and what is refused."""

import hashlib
import json
import time
from typing import Any

import pytest

from interlock.services.memory import SETTLED_VIEW
from tests.support.puppet import Call, calls, fails, gate, says
from tests.support.sessions import SessionsClient, left_alone
from tests.support.waiting import wait_for
from tests.support.wire import at_once
from tests.support.witness import Witness

CLARIFY: Call = ("request_clarification", {"question": "Which?", "options": ["a", "b"], "allow_custom": False})
DECIDE: Call = ("request_decision", {"title": "Go?", "options": [{"key": "go", "label": "Go"}]})
KEYS: Call = ("request_env_vars", {"fields": [{"name": "TOKEN"}, {"name": "REGION", "required": False}]})
ASK: Call = ("ask_user", {"questions": [{"question": "How?", "options": []}, {"question": "Why?", "options": []}]})
ASK_ONE: Call = ("ask_user", {"questions": [{"question": "How?", "options": []}]})
QUESTIONS = {"clarification": CLARIFY, "decision": DECIDE, "env_var": KEYS, "questions": ASK}


def guarded(name: str) -> Any:
    return calls(("guarded", {"name": name}))


def test_accept_runs_what_was_asked(user: SessionsClient, witness: Witness, fresh: str) -> None:
    user.invoke(guarded(fresh))
    response = user.resume("accept")
    assert (response["status"], response["session_id"]) == ("completed", user.session_id)
    assert response["result"]["output"] == f"done {fresh}"
    assert witness.count(fresh) == 1


@pytest.mark.parametrize("args", [{"args": {"name": "other"}}, {"name": "other"}, {"text": "no"}], ids=repr)
def test_an_accept_that_also_says_something_else_is_refused_and_runs_nothing(
    user: SessionsClient, witness: Witness, fresh: str, args: dict[str, Any]
) -> None:
    user.invoke(guarded(fresh))
    refused = user.try_resume("accept", args)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "args")
    assert witness.count(fresh) == 0
    assert user.resume("accept", {"args": {"name": fresh}})["status"] == "completed"
    assert witness.count(fresh) == 1


@pytest.mark.parametrize(("args", "told"), [(None, "was not run"), ({"reason": "not on a Friday"}, "not on a Friday")])
def test_reject_runs_nothing_and_tells_the_agent(
    user: SessionsClient, witness: Witness, fresh: str, args: Any, told: str
) -> None:
    user.invoke(guarded(fresh))
    assert told in user.resume("reject", args)["result"]["output"]
    assert witness.count(fresh) == 0


@pytest.mark.parametrize("is_wrapped", [True, False])
def test_edit_runs_with_the_changed_arguments(
    user: SessionsClient, witness: Witness, fresh: str, is_wrapped: bool
) -> None:
    user.invoke(guarded(fresh))
    args = {"name": f"{fresh}-edited"}
    response = user.resume("edit", {"args": args} if is_wrapped else args)
    assert response["status"] == "completed"
    assert (witness.count(fresh), witness.count(f"{fresh}-edited")) == (0, 1)


@pytest.mark.parametrize("name", ["args", "text", "answer"])
def test_response_tells_the_agent_without_running_the_tool(
    user: SessionsClient, witness: Witness, fresh: str, name: str
) -> None:
    user.invoke(guarded(fresh))
    assert user.resume("response", {name: "use the other one"})["result"]["output"] == "use the other one"
    assert witness.count(fresh) == 0


@pytest.mark.parametrize(
    ("call", "args", "told"),
    [
        (CLARIFY, {"args": "b"}, "b"),
        (CLARIFY, {"answer": "a"}, "a"),
        (DECIDE, {"text": "go"}, '{"decision": "go", "reason": ""}'),
        (DECIDE, {"answer": "go: it is time"}, '{"decision": "go", "reason": "it is time"}'),
        (DECIDE, {"answer": "go", "reason": "why not"}, '{"decision": "go", "reason": "why not"}'),
    ],
)
def test_response_answers_a_question(user: SessionsClient, call: Call, args: dict[str, Any], told: str) -> None:
    user.invoke(calls(call))
    assert user.resume("response", args)["result"]["output"] == told


@pytest.mark.parametrize(
    ("call", "args", "told"),
    [
        (ASK, {"answers": ["fast", "because"]}, ["fast", "because"]),
        (ASK, {"args": ["fast", "because"]}, ["fast", "because"]),
        (ASK_ONE, {"args": "fast"}, ["fast"]),
    ],
)
def test_response_answers_several_questions(
    user: SessionsClient, call: Call, args: dict[str, Any], told: list[str]
) -> None:
    user.invoke(calls(call))
    answers = json.loads(user.resume("response", args)["result"]["output"])
    assert [item["answer"] for item in answers] == told


def test_response_gives_variables_that_only_the_tool_sees(user: SessionsClient, witness: Witness, fresh: str) -> None:
    user.invoke(calls(KEYS), calls(("use_key", {"name": "TOKEN"})))
    response = user.resume("response", {"values": {"TOKEN": fresh}})
    assert response["status"] == "completed"
    assert witness.count(f"key:{hashlib.sha256(fresh.encode()).hexdigest()}") == 1
    assert fresh not in json.dumps(user.status())


@pytest.mark.parametrize("kind", QUESTIONS)
def test_a_question_is_shown_with_the_one_answer_that_it_takes(user: SessionsClient, kind: str) -> None:
    asked = user.invoke(calls(QUESTIONS[kind]))["interrupt_data"]
    assert (asked["interrupt_type"], asked["action_request"]["action"]) == (kind, kind)
    assert asked["config"] == {
        "allow_accept": False,
        "allow_edit": False,
        "allow_respond": True,
        "allow_reject": False,
    }
    assert asked["action_request"]["args"] == asked["requests"][0]["request_data"]
    assert asked["description"]
    assert isinstance(asked["requests"][0]["expires_at"], float)
    for how in ("accept", "reject", "edit"):
        refused = user.try_resume(how, {})
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_answer")
        assert refused.json()["errors"][0]["field"] == "response_type"
    assert user.status()["last_response"]["interrupt_data"] == asked


@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        (CLARIFY, {"args": "c"}),
        (CLARIFY, {"args": " "}),
        (CLARIFY, {}),
        (CLARIFY, {"args": 1}),
        (CLARIFY, {"args": "a", "text": "b"}),
        (DECIDE, {"args": "stop"}),
        (KEYS, {"values": {}}),
        (KEYS, {"values": {"TOKEN": "t", "OTHER": "x"}}),
        (KEYS, {"args": "t"}),
        (ASK, {"answers": ["fast"]}),
        (ASK, {"args": "fast"}),
        (ASK, {"answers": ["fast", 1]}),
        (("guarded", {"name": "n"}), {}),
        (("guarded", {"name": "n"}), {"args": ""}),
    ],
)
def test_a_response_that_does_not_fit_leaves_the_request_open(
    user: SessionsClient, call: Call, wrong: dict[str, Any]
) -> None:
    user.invoke(calls(call))
    before = user.status()
    refused = user.try_resume("response", wrong)
    assert refused.status_code == 400
    assert refused.json()["detail"].startswith("回复无效: ")
    assert refused.json()["errors"]
    assert user.status() == before


@pytest.mark.parametrize(
    ("args", "fields"),
    [
        ({}, ["args.name"]),
        ({"name": 5}, ["args.name"]),
        ({"name": "x", "nmae": "y"}, ["args.nmae"]),
        ({"args": {"nmae": 1}}, ["args.name", "args.nmae"]),
        ({"args": "x"}, ["args"]),
    ],
)
def test_edited_arguments_that_the_tool_does_not_take_leave_the_request_open(
    user: SessionsClient, witness: Witness, fresh: str, args: dict[str, Any], fields: list[str]
) -> None:
    user.invoke(guarded(fresh))
    before = user.status()
    refused = user.try_resume("edit", args)
    assert refused.status_code == 400
    assert [error["field"] for error in refused.json()["errors"]] == fields
    assert user.status() == before
    assert user.resume("edit", {"name": f"{fresh}-right"})["status"] == "completed"
    assert (witness.count(fresh), witness.count(f"{fresh}-right")) == (0, 1)


def test_accept_and_reject_settle_all_approvals_and_the_question_stays(
    user: SessionsClient, witness: Witness, fresh: str
) -> None:
    names = [f"{fresh}-{number}" for number in range(2)]
    response = user.invoke(calls(*(("guarded", {"name": name}) for name in names), CLARIFY))
    assert [one["interrupt_type"] for one in response["interrupt_data"]["requests"]] == [
        *("approval", "approval", "clarification")
    ]
    left = user.resume("accept")
    assert (left["status"], left["interrupt_data"]["interrupt_type"]) == ("interrupted", "clarification")
    assert len(left["interrupt_data"]["requests"]) == 1
    assert user.status()["status"] == "interrupted"
    done = user.resume("response", {"args": "a"})
    assert done["result"]["output"] == " | ".join([*(f"done {name}" for name in names), "a"])
    assert [witness.count(name) for name in names] == [1, 1]


@pytest.mark.parametrize(
    ("how", "args"), [("edit", {"name": "x"}), ("response", {"args": "x"}), ("edit", {"args": {"name": "x"}})]
)
def test_with_several_open_an_edit_or_a_response_has_to_name_its_request(
    user: SessionsClient, fresh: str, how: str, args: dict[str, Any]
) -> None:
    user.invoke(calls(("guarded", {"name": f"{fresh}-0"}), ("guarded", {"name": f"{fresh}-1"})))
    before = user.status()
    refused = user.try_resume(how, args)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "args.request_id")
    assert user.status() == before


def test_each_of_several_requests_can_be_answered_by_its_name(
    user: SessionsClient, witness: Witness, fresh: str
) -> None:
    names = [f"{fresh}-{number}" for number in range(4)]
    asked = user.invoke(calls(*(("guarded", {"name": name}) for name in names)))["interrupt_data"]["requests"]
    ids = [one["request_id"] for one in asked]
    user.resume("accept", {"request_id": ids[0]})
    user.resume("reject", {"request_id": ids[1], "reason": "no"})
    user.resume("edit", {"request_id": ids[2], "name": f"{fresh}-edited"})
    left = user.status()["last_response"]["interrupt_data"]
    assert [one["request_id"] for one in left["requests"]] == ids[3:]
    assert user.resume("response", {"request_id": ids[3], "args": "said"})["status"] == "completed"
    assert [witness.count(name) for name in (*names, f"{fresh}-edited")] == [1, 0, 0, 0, 1]


def test_an_unknown_request_is_not_found(user: SessionsClient, fresh: str) -> None:
    user.invoke(guarded(fresh))
    refused = user.try_resume("accept", {"request_id": "perm_0123456789abcdef"})
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
    assert refused.json()["detail"] == "该会话没有请求 perm_0123456789abcdef"


def test_a_resumed_run_that_asks_again_is_interrupted_again(user: SessionsClient, witness: Witness, fresh: str) -> None:
    first = user.invoke(guarded(fresh), guarded(fresh))["interrupt_data"]["request_id"]
    again = user.resume("accept")
    assert again["status"] == "interrupted"
    assert again["interrupt_data"]["request_id"] != first
    assert witness.count(fresh) == 1
    assert user.resume("accept")["status"] == "completed"
    assert witness.count(fresh) == 2


def test_a_resumed_run_that_fails_is_an_error(user: SessionsClient, witness: Witness, fresh: str) -> None:
    user.invoke(guarded(fresh), fails("boom"))
    response = user.resume("accept")
    assert response["status"] == "error"
    assert response["message"].startswith("处理请求时出错: ")
    assert "boom" in response["message"]
    assert user.status()["last_response"] == response
    assert witness.count(fresh) == 1


def test_without_a_session_there_is_nothing_to_resume(user: SessionsClient) -> None:
    user.session_id = "none"
    refused = user.try_resume("accept")
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
    assert refused.json()["detail"] == f"用户会话 {user.user_id} 不存在"


def test_another_session_id_is_an_old_request(user: SessionsClient, fresh: str) -> None:
    user.invoke(guarded(fresh))
    refused = user.try_resume("accept", session_id="a1b4e28b-0000-4000-8000-000000000000")
    assert (refused.status_code, refused.json()["code"]) == (400, "wrong_session")
    assert refused.json()["detail"] == "会话ID不匹配，可能是过期的请求"
    assert user.status()["status"] == "interrupted"


def test_only_an_interrupted_session_can_be_resumed(user: SessionsClient) -> None:
    user.invoke(says("hi"))
    refused = user.try_resume("accept")
    assert (refused.status_code, refused.json()["status"]) == (400, "completed")
    assert refused.json()["detail"] == "会话当前状态为 completed，无法恢复非中断状态的会话"


def test_errors_are_told_in_english_to_who_asks_for_it(user: SessionsClient) -> None:
    user.invoke(says("hi"))
    user.http.headers["accept-language"] = "en"
    assert (
        user.try_resume("accept").json()["detail"] == "The session is completed: only an interrupted one can be resumed"
    )


@pytest.mark.parametrize("how", ["ignore", "", None, 1])
def test_an_unknown_response_type_is_unprocessable(user: SessionsClient, fresh: str, how: Any) -> None:
    user.invoke(guarded(fresh))
    assert user.try_resume(how).status_code == 422
    assert user.status()["status"] == "interrupted"


def test_of_several_resumes_at_once_one_wins_and_the_others_are_told(
    user: SessionsClient, witness: Witness, fresh: str
) -> None:
    asked = user.invoke(guarded(fresh))["interrupt_data"]["request_id"]
    senders = [user.again() for _ in range(8)]

    def send(index: int) -> Any:
        return senders[index].try_resume("accept" if index % 2 else "reject", {"request_id": asked})

    replies = at_once(8, send)
    won = [index for index, reply in enumerate(replies) if reply.status_code == 200]
    assert len(won) == 1
    decision = "accept" if won[0] % 2 else "reject"
    for reply in (reply for reply in replies if reply.status_code != 200):
        told = reply.json()
        assert (reply.status_code, told["code"], told["answered_by"]) == (409, "already_settled", user.user_id)
        assert (told["source"], told["answer"]["decision"]) == ("sessions", decision)
        assert told["answered_at"]
    assert witness.count(fresh) == int(decision == "accept")


def test_a_reply_sent_again_because_its_response_was_lost_reaches_no_later_question(
    user: SessionsClient, witness: Witness, fresh: str
) -> None:
    later = calls(("guarded", {"name": f"{fresh}-PRODUCTION"}), say=[gate(fresh)])
    user.invoke(guarded(f"{fresh}-staging"), later)
    reply = {"user_id": user.user_id, "session_id": user.session_id, "response_type": "accept"}
    with left_alone(user, "/agent/resume", reply):
        wait_for(lambda: witness.count(f"{fresh}-staging"), lambda count: count == 1)
    witness.release(fresh)
    wait_for(lambda: user.try_resume("accept"), lambda reply: reply.json().get("code") == "not_shown")
    # Longer than a question takes to count as seen by those who never replied here.
    until = time.monotonic() + SETTLED_VIEW.total_seconds() + 0.5
    while time.monotonic() < until:
        again = user.try_resume("accept")
        assert (again.status_code, again.json()["code"]) == (409, "not_shown")
    assert witness.count(f"{fresh}-PRODUCTION") == 0
    assert user.status()["status"] == "interrupted"
    assert user.resume("accept")["status"] == "completed"
    assert witness.count(f"{fresh}-PRODUCTION") == 1


def test_of_two_bare_resumes_at_once_the_second_reaches_no_later_question(
    user: SessionsClient, witness: Witness, fresh: str
) -> None:
    later = calls(("guarded", {"name": f"{fresh}-PRODUCTION"}), say=[gate(fresh)])
    user.invoke(guarded(f"{fresh}-staging"), later)
    senders = [user.again() for _ in range(2)]

    def send(index: int) -> Any:
        reply = senders[index].try_resume("accept")
        witness.release(fresh)
        return reply

    first, second = sorted(at_once(2, send), key=lambda reply: reply.status_code)
    assert (first.status_code, first.json()["status"]) == (200, "interrupted")
    assert (second.status_code, second.json()["code"]) in ((400, "nothing_pending"), (409, "already_settled"))
    assert (witness.count(f"{fresh}-staging"), witness.count(f"{fresh}-PRODUCTION")) == (1, 0)
    assert user.status()["status"] == "interrupted"
