"""Every event of the face, as a client is told it."""

import re

from interlock_client.confirm import AgentEvents, ErrorTypes, SystemEvents, UserEvents
from tests.support.confirm import ConfirmClient, names, of, only
from tests.support.people import People
from tests.support.puppet import calls, fails, gate, says, script
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\Z")


def test_the_names_of_the_events_are_those_of_the_document() -> None:
    assert {event.name: event.value for event in UserEvents} == {
        "MESSAGE": "user.message",
        "RESPONSE": "user.response",
        "CANCEL": "user.cancel",
        "CREATE_SESSION": "user.create_session",
        "RECONNECT": "user.reconnect",
    }
    assert {event.name: event.value for event in AgentEvents} == {
        "THINKING": "agent.thinking",
        "TOOL_CALL": "agent.tool_call",
        "TOOL_RESULT": "agent.tool_result",
        "PARTIAL_ANSWER": "agent.partial_answer",
        "FINAL_ANSWER": "agent.final_answer",
        "USER_CONFIRM": "agent.user_confirm",
        "ERROR": "agent.error",
        "TIMEOUT": "agent.timeout",
        "INTERRUPTED": "agent.interrupted",
        "SESSION_CREATED": "agent.session_created",
        "SESSION_END": "agent.session_end",
    }
    assert (SystemEvents.CONNECTED, SystemEvents.ERROR) == ("system.connected", "system.error")


def test_who_connects_is_told_so(person: ConfirmClient) -> None:
    told = person.connected
    assert (told["event"], told["session_id"], told["seq"]) == ("system.connected", None, 0)
    assert told["connection_id"]
    assert MOMENT.match(told["timestamp"])


def test_a_session_is_made_with_an_id_of_its_own(person: ConfirmClient) -> None:
    sessions = [person.create(), person.create()]
    assert all(re.match(r"sess_[0-9a-f]{8,}\Z", session) for session in sessions)
    assert len(set(sessions)) == 2
    created = person.told[-1]
    assert created["metadata"] == {"agent": "puppet", "batch_size": 1}
    assert created["connection_id"] == person.connected["connection_id"]


def test_a_session_may_name_its_agent(person: ConfirmClient) -> None:
    person.create(agent="demo")
    assert person.told[-1]["metadata"]["agent"] == "demo"
    person.say("hello")
    assert person.wait_for(AgentEvents.FINAL_ANSWER)["content"]


def test_a_message_without_a_session_makes_one_and_the_next_goes_there_too(person: ConfirmClient) -> None:
    person.send(UserEvents.MESSAGE, content=script(says("one")))
    told = person.until(AgentEvents.FINAL_ANSWER)
    assert names(told)[:2] == ["agent.session_created", "agent.thinking"]
    person.send(UserEvents.MESSAGE, content=script(says("two")))
    assert person.until(AgentEvents.FINAL_ANSWER)[-1]["session_id"] == told[0]["session_id"]


def test_a_whole_turn_is_told_in_order(person: ConfirmClient, fresh: str) -> None:
    person.create()
    turns = script(calls(("guarded", {"name": fresh}), say=["let me ", "see"]), says("it is ", "done"))
    asked = person.ask(turns)
    before = names(person.told)[2:]
    assert before == ["agent.thinking", "agent.partial_answer", "agent.partial_answer", "agent.user_confirm"]
    person.confirm(asked["step_id"])
    told = person.until(AgentEvents.FINAL_ANSWER)
    assert names(told) == [
        "agent.thinking",
        "agent.tool_call",
        "agent.tool_result",
        "agent.partial_answer",
        "agent.partial_answer",
        "agent.final_answer",
    ]
    call, result, final = told[1], told[2], told[-1]
    assert call["metadata"].items() >= {"tool": "guarded", "args": {"name": fresh}, "status": "running"}.items()
    assert result["content"] == f"done {fresh}"
    assert result["metadata"].items() >= {"tool": "guarded", "status": "success", "error": None}.items()
    assert final["content"] == "it is done"
    assert {one["session_id"] for one in told} == {person.session_id}
    assert all(MOMENT.match(one["timestamp"]) for one in told)


def test_a_confirmation_has_every_field_of_the_document(person: ConfirmClient, fresh: str) -> None:
    person.create()
    asked = person.ask(script(calls(("guarded", {"name": fresh}))))
    assert asked["step_id"] == f"step_{asked['seq']}_confirm_guarded"
    assert asked["content"] == "确认执行工具: guarded"
    assert (
        asked["metadata"].items()
        >= {
            "tool_name": "guarded",
            "tool_description": "Do something that a person has to allow.",
            "tool_args": {"name": fresh},
            "requires_confirmation": True,
            "kind": "approval",
            "timeout_seconds": 300,
        }.items()
    )
    assert MOMENT.match(asked["metadata"]["expires_at"])


def test_what_is_confirmed_runs_once(person: ConfirmClient, witness: Witness, fresh: str) -> None:
    asked = person.ask(script(calls(("guarded", {"name": fresh}))))
    assert witness.count(fresh) == 0
    person.confirm(asked["step_id"], reason="用户确认执行", user_id="user_123", metadata={"from": "a test"})
    assert person.wait_for(AgentEvents.FINAL_ANSWER)["content"] == f"done {fresh}"
    assert witness.count(fresh) == 1


def test_what_is_refused_fails_with_the_reason_and_the_agent_goes_on(
    person: ConfirmClient, witness: Witness, fresh: str
) -> None:
    asked = person.ask(script(calls(("guarded", {"name": fresh}))))
    person.refuse(asked["step_id"], "文件太重要，不能删除")
    told = person.until(AgentEvents.FINAL_ANSWER)
    (result,) = only(told, AgentEvents.TOOL_RESULT)
    assert (
        result["metadata"].items() >= {"tool": "guarded", "status": "failed", "error": "文件太重要，不能删除"}.items()
    )
    assert result["step_id"] == asked["step_id"]
    assert only(told, AgentEvents.TOOL_CALL) == []
    assert "文件太重要，不能删除" in told[-1]["content"]
    assert witness.count(fresh) == 0


def test_what_is_refused_without_a_reason_fails_too(person: ConfirmClient, fresh: str) -> None:
    asked = person.ask(script(calls(("guarded", {"name": fresh}))))
    person.refuse(asked["step_id"])
    result = person.wait_for(AgentEvents.TOOL_RESULT)
    assert (result["metadata"]["status"], result["content"]) == ("failed", "用户拒绝了该操作")


def test_the_arguments_may_be_changed_with_the_confirmation(
    person: ConfirmClient, witness: Witness, fresh: str
) -> None:
    asked = person.ask(script(calls(("guarded", {"name": fresh}))))
    person.confirm(asked["step_id"], metadata={"args": {"name": f"{fresh}-changed"}})
    call = person.wait_for(AgentEvents.TOOL_CALL)
    assert call["metadata"]["args"] == {"name": f"{fresh}-changed"}
    person.wait_for(AgentEvents.FINAL_ANSWER)
    assert (witness.count(fresh), witness.count(f"{fresh}-changed")) == (0, 1)


def test_a_tool_that_needs_no_confirmation_is_told_of_and_one_that_fails_says_so(person: ConfirmClient) -> None:
    person.say(script(calls(("note", {"name": "n"})), calls(("broken", {"name": "b"}))))
    told = person.until(AgentEvents.FINAL_ANSWER)
    results = [one["metadata"] for one in only(told, AgentEvents.TOOL_RESULT)]
    assert [(one["tool"], one["status"], one["error"]) for one in results] == [
        ("note", "success", None),
        ("broken", "failed", "broken b"),
    ]


def test_the_answer_comes_piece_by_piece_and_then_whole(person: ConfirmClient, witness: Witness, fresh: str) -> None:
    person.create()
    person.say(script(says("你好 ", gate(fresh), "🦊")))
    first = person.wait_for(AgentEvents.PARTIAL_ANSWER)
    assert first["content"] == "你好 "
    assert "reset" not in first["metadata"]
    witness.release(fresh)
    rest = person.until(AgentEvents.FINAL_ANSWER)
    assert [one["content"] for one in rest] == ["🦊", "你好 🦊"]
    thinking = only(person.told, AgentEvents.THINKING)[-1]
    assert [one["seq"] for one in (first, rest[0])] == [thinking["seq"]] * 2


def test_a_run_that_fails_is_an_error_and_the_session_goes_on(person: ConfirmClient) -> None:
    person.say(script(fails("no luck")))
    failed = person.wait_for(AgentEvents.ERROR)
    assert failed["metadata"]["error_type"] == ErrorTypes.AGENT_FAILED
    assert "no luck" in failed["content"]
    person.say(script(says("better")))
    assert person.wait_for(AgentEvents.FINAL_ANSWER)["content"] == "better"


def test_cancel_stops_the_run_after_the_tool_under_way(person: ConfirmClient, witness: Witness, fresh: str) -> None:
    person.say(script(calls(("hold", {"name": fresh})), calls(("note", {"name": f"{fresh}-after"}))))
    person.wait_for(AgentEvents.TOOL_CALL)
    wait_for(lambda: witness.count(fresh), lambda count: count == 1)
    person.cancel()
    witness.release(fresh)
    told = person.until(AgentEvents.INTERRUPTED)
    assert only(told, AgentEvents.TOOL_RESULT)[0]["content"] == f"held {fresh}"
    assert witness.count(f"{fresh}-after") == 0
    person.say(script(says("on")))
    assert person.wait_for(AgentEvents.FINAL_ANSWER)["content"] == "on"


def test_cancel_refuses_what_is_pending_and_nothing_of_it_runs(
    person: ConfirmClient, alice: ThreadsClient, witness: Witness, fresh: str
) -> None:
    wanted = [("guarded", {"name": f"{fresh}-{number}"}) for number in range(2)]
    first = person.ask(script(calls(*wanted)))
    person.confirm(first["step_id"])
    second = person.wait_for(AgentEvents.USER_CONFIRM)
    person.cancel()
    told = person.until(AgentEvents.INTERRUPTED)
    assert [one["step_id"] for one in only(told, AgentEvents.TOOL_RESULT)] == [second["step_id"]]
    assert person.session_id is not None
    assert alice.status(person.session_id)["status"] == "idle"
    person.say(script(says("something else")))
    assert person.wait_for(AgentEvents.FINAL_ANSWER)["content"] == "something else"
    assert [witness.count(f"{fresh}-{number}") for number in range(2)] == [0, 0]
    person.confirm(second["step_id"])
    assert person.wait_for(SystemEvents.ERROR)["metadata"]["status"] == "cancelled"


def test_cancel_of_a_run_that_comes_to_a_confirmation_before_its_end_cancels_that_too(
    person: ConfirmClient, alice: ThreadsClient, witness: Witness, fresh: str
) -> None:
    person.say(script(calls(("hold", {"name": fresh}), ("guarded", {"name": f"{fresh}-2"}))))
    wait_for(lambda: witness.count(fresh), lambda count: count == 1)
    person.wait_for(AgentEvents.TOOL_CALL)
    person.cancel()
    person.cancel()
    witness.release(fresh)
    person.wait_for(AgentEvents.INTERRUPTED)
    alice.wait_for_rest(str(person.session_id))
    person.say(script(says("on")))
    assert person.wait_for(AgentEvents.FINAL_ANSWER)["content"] == "on"
    assert witness.count(f"{fresh}-2") == 0


def test_cancel_where_nothing_runs_is_told_as_well(person: ConfirmClient) -> None:
    person.create()
    person.cancel()
    assert person.next()["event"] == AgentEvents.INTERRUPTED


def test_a_session_that_is_deleted_has_ended(person: ConfirmClient, alice: ThreadsClient, fresh: str) -> None:
    asked = person.ask(script(calls(("guarded", {"name": fresh}))))
    alice.http.delete(f"/api/sessions/{person.session_id}").raise_for_status()
    ended = person.wait_for(AgentEvents.SESSION_END)
    assert ended["metadata"] == {"reason": "deleted", "by": "alice"}
    person.confirm(asked["step_id"])
    assert person.wait_for(SystemEvents.ERROR)["metadata"]["error_type"] == ErrorTypes.SESSION_NOT_FOUND
    person.session_id = None
    person.say(script(says("a new one")))
    assert person.wait_for(AgentEvents.FINAL_ANSWER)["content"] == "a new one"


def test_several_sessions_of_one_connection_do_not_mix(person: ConfirmClient, witness: Witness, fresh: str) -> None:
    sessions = [person.create() for _ in range(3)]
    for number, session in enumerate(sessions):
        person.say(script(calls(("guarded", {"name": f"{fresh}-{number}"}))), session)
    asked = [person.wait_for(AgentEvents.USER_CONFIRM) for _ in sessions]
    for one in asked:
        person.confirm(one["step_id"], one["session_id"])
    finals = [person.wait_for(AgentEvents.FINAL_ANSWER) for _ in sessions]
    told = {one["session_id"]: one["content"] for one in finals}
    assert told == {session: f"done {fresh}-{number}" for number, session in enumerate(sessions)}
    assert [witness.count(f"{fresh}-{number}") for number in range(3)] == [1, 1, 1]


def test_texts_are_english_for_who_prefers_it(alice: ThreadsClient, fresh: str) -> None:
    with of(alice, **{"accept-language": "en"}) as person:
        asked = person.ask(script(calls(("guarded", {"name": fresh}))))
        assert asked["content"] == "Confirm running the tool: guarded"
        person.refuse(asked["step_id"])
        assert person.wait_for(AgentEvents.TOOL_RESULT)["content"] == "A person refused this"


def test_every_number_of_a_session_stays_or_grows(people: People, fresh: str) -> None:
    with of(people.named("alice")) as person:
        asked = person.ask(script(calls(("guarded", {"name": fresh}), say=["a", "b"]), says("c", "d")))
        person.confirm(asked["step_id"])
        person.wait_for(AgentEvents.FINAL_ANSWER)
        numbers = [one["seq"] for one in person.told]
        assert numbers == sorted(numbers)
