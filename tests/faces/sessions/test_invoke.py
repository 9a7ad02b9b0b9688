"""`POST /agent/invoke`: the row of the contract, and what it says of waiting and of one session per user."""

import uuid
from typing import Any

import pytest

from interlock_client.sessions import SYSTEM_MESSAGE
from tests.faces.sessions.conftest import Users
from tests.support.puppet import calls, fails, gate, says, script
from tests.support.sessions import SessionsClient
from tests.support.wire import at_once
from tests.support.witness import Witness


def test_a_query_is_answered_with_the_completed_result(user: SessionsClient) -> None:
    query = script(calls(("note", {"name": "n"}), say=["let me see"]))
    response = user.invoke(calls(("note", {"name": "n"}), say=["let me see"]))
    assert (response["status"], response["message"], response["interrupt_data"]) == ("completed", None, None)
    assert str(uuid.UUID(response["session_id"])) == response["session_id"]
    (call,) = response["result"]["messages"][2].pop("tool_calls")
    assert (call.keys(), call["name"], call["args"]) == ({"id", "name", "args"}, "note", {"name": "n"})
    assert response["result"] == {
        "messages": [
            {"type": "system", "role": "system", "content": SYSTEM_MESSAGE},
            {"type": "human", "role": "user", "content": query},
            {"type": "ai", "role": "assistant", "content": "let me see"},
            {"type": "tool", "role": "tool", "content": "noted n"},
            {"type": "ai", "role": "assistant", "content": "noted n"},
        ],
        "output": "noted n",
    }


def test_the_default_system_message_is_the_contracts(user: SessionsClient) -> None:
    response = user.invoke(says("hi"))
    assert response["result"]["messages"][0]["content"] == "你会使用工具来帮助用户。如果工具使用被拒绝，请提示用户。"


@pytest.mark.parametrize(("given", "kept"), [("Be brief.", ["Be brief."]), (None, []), ("", [])])
def test_a_system_message_is_heeded_once_and_not_added_again(
    user: SessionsClient, given: str | None, kept: list[str]
) -> None:
    user.invoke(says("one"), system_message=given)
    user.invoke(says("two"), system_message=given)
    messages = user.invoke(says("three"), system_message="Another.")["result"]["messages"]
    assert [one["content"] for one in messages if one["type"] == "system"] == kept
    assert [one["content"] for one in messages if one["type"] == "ai"] == ["one", "two", "three"]
    assert messages[0]["type"] == ("system" if kept else "human")


def test_a_pause_is_answered_with_the_interrupt(user: SessionsClient, witness: Witness, fresh: str) -> None:
    response = user.invoke(calls(("guarded", {"name": fresh})))
    assert (response["status"], response["message"], response["result"]) == ("interrupted", None, None)
    asked = response["interrupt_data"]
    assert asked.keys() == {"action_request", "config", "description", "interrupt_type", "request_id", "requests"}
    assert asked["action_request"] == {"action": "guarded", "args": {"name": fresh}}
    assert asked["config"] == dict.fromkeys(("allow_accept", "allow_edit", "allow_respond", "allow_reject"), True)
    assert (asked["description"], asked["interrupt_type"]) == ("Do something that a person has to allow.", "approval")
    assert asked["request_id"].startswith("perm_")
    (only,) = asked["requests"]
    assert {name: only[name] for name in asked.keys() - {"requests"}} == {
        name: asked[name] for name in asked.keys() - {"requests"}
    }
    assert isinstance(only["created_at"], float)
    assert only["expires_at"] is None
    assert witness.count(fresh) == 0


def test_a_failure_of_the_agent_is_told_as_such(user: SessionsClient) -> None:
    response = user.invoke(fails("no luck"))
    assert (response["status"], response["result"], response["interrupt_data"]) == ("error", None, None)
    assert response["message"].startswith("处理请求时出错: ")
    assert "no luck" in response["message"]
    assert user.invoke(says("better"))["result"]["output"] == "better"


def test_a_failure_is_told_in_english_to_who_asks_for_it(user: SessionsClient) -> None:
    user.http.headers["accept-language"] = "en"
    assert user.invoke(fails("no luck"))["message"].startswith("The request could not be handled: ")


def test_every_query_of_a_user_is_of_the_same_session(users: Users) -> None:
    one, other = users(), users()
    assert one.invoke(says("a"))["session_id"] == one.invoke(says("b"))["session_id"]
    assert other.invoke(says("c"))["session_id"] != one.session_id


def test_a_query_to_an_interrupted_session_is_a_conflict(user: SessionsClient, fresh: str) -> None:
    asked = user.invoke(calls(("guarded", {"name": fresh})))["interrupt_data"]
    refused = user.try_invoke(script(says("hi")))
    body = refused.json()
    assert refused.status_code == 409
    assert body["detail"] == "会话当前状态为 interrupted，无法开始新的调用"
    assert (body["code"], body["status"], body["session_id"]) == ("thread_busy", "interrupted", user.session_id)
    assert body["pending"] == asked["requests"]
    assert user.resume("accept")["status"] == "completed"


def test_a_query_to_a_running_session_is_a_conflict(user: SessionsClient, witness: Witness, fresh: str) -> None:
    def do(index: int) -> Any:
        if index == 0:
            return user.again().invoke(says(gate(fresh), "through"))
        status = user.wait_for("running")
        assert status["last_response"] is None
        refused = user.try_invoke(script(says("hi")))
        witness.release(fresh)
        return refused

    response, refused = at_once(2, do)
    assert refused.status_code == 409
    assert (refused.json()["status"], refused.json()["pending"]) == ("running", [])
    assert response["result"]["output"] == "through"
    assert len([one for one in response["result"]["messages"] if one["type"] == "human"]) == 1


def test_of_several_first_queries_at_once_one_begins_the_session(user: SessionsClient, fresh: str) -> None:
    senders = [user.again() for _ in range(8)]
    query = script(calls(("guarded", {"name": fresh})))
    replies = at_once(8, lambda index: senders[index].try_invoke(query))
    assert sorted(reply.status_code for reply in replies) == [200] + [409] * 7
    assert len({reply.json()["session_id"] for reply in replies}) == 1


def test_users_do_not_wait_for_each_other(users: Users, witness: Witness, fresh: str) -> None:
    slow, quick = users(), [users() for _ in range(3)]

    def do(index: int) -> Any:
        if index == 0:
            return slow.invoke(says(gate(fresh), "slow"))["result"]["output"]
        slow.again().wait_for("running")
        told = quick[index - 1].invoke(says("quick"))["result"]["output"]
        if index == 1:
            assert slow.again().status()["status"] == "running"
            witness.release(fresh)
        return told

    assert at_once(4, do) == ["slow", "quick", "quick", "quick"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": "x"},
        {"user_id": "ann"},
        {"user_id": "ann", "query": ""},
        {"user_id": "ann", "query": 1},
        {"user_id": 1, "query": "x"},
        {"user_id": "ann", "query": "x", "system_message": 1},
        ["ann"],
    ],
)
def test_a_body_that_is_not_of_the_form_is_unprocessable(user: SessionsClient, body: Any) -> None:
    reply = user.http.post("/agent/invoke", json=body)
    assert reply.status_code == 422
    assert all(error.keys() == {"loc", "msg", "type"} for error in reply.json()["detail"])


def test_a_blank_query_is_refused_and_begins_nothing(user: SessionsClient) -> None:
    reply = user.try_invoke("  \n")
    assert (reply.status_code, reply.json()["code"]) == (400, "invalid_input")
    assert user.status()["status"] == "not_found"
