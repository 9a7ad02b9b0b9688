"""What cannot be taken: an event says so, the connection stays, and nothing is lost."""

import json
from typing import Any

import pytest

from interlock_client.confirm import AgentEvents, ErrorTypes, SystemEvents, UserEvents
from tests.support.confirm import ConfirmClient, Told, of, only
from tests.support.people import People
from tests.support.puppet import calls, gate, says, script
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness


def error_of(told: Told, error_type: str, event: str = SystemEvents.ERROR) -> dict[str, Any]:
    assert (told["event"], told["metadata"]["error_type"]) == (event, error_type)
    assert told["content"]
    return told["metadata"]


GARBAGE: list[str | bytes] = [
    "",
    "{",
    "null",
    "[]",
    '"user.message"',
    "{}",
    '{"event": null}',
    '{"event": 1}',
    '{"event": "user.unknown"}',
    '{"event": "agent.final_answer"}',
    '{"event": "user.message"}',
    '{"event": "user.message", "content": 7}',
    '{"event": "user.message", "content": {"text": "x"}}',
    '{"event": "user.message", "content": "x", "session_id": 7}',
    '{"event": "user.message", "content": "x", "metadata": []}',
    '{"event": "user.create_session", "metadata": {"agent": 7}}',
    '{"event": "user.create_session", "metadata": {"agent": "nobody"}}',
    '{"event": "user.create_session", "metadata": {"batch_size": 0}}',
    '{"event": "user.create_session", "metadata": {"batch_size": true}}',
    '{"event": "user.create_session", "metadata": {"batch_size": "many"}}',
    '{"event": "user.create_session", "metadata": {"x": NaN}}',
    '{"event": "user.create_session", "metadata": {"x": 1e999}}',
    "[" * 100 + "]" * 100,
    b"\xff\xfe\x00",
    b"\x00\x01\x02",
    "\ud83d".encode("utf-8", "surrogatepass"),
]


@pytest.mark.parametrize("garbage", GARBAGE, ids=repr)
def test_garbage_is_an_error_and_the_connection_stays(person: ConfirmClient, garbage: str | bytes) -> None:
    person.send_raw(garbage)
    error_of(person.next(), ErrorTypes.INVALID_MESSAGE)
    assert person.create().startswith("sess_")


def test_a_message_that_is_too_large_closes_the_connection_and_the_session_goes_on(
    person: ConfirmClient, alice: ThreadsClient, fresh: str
) -> None:
    asked = person.ask(script(calls(("guarded", {"name": fresh}))))
    person.send_raw("x" * (1024 * 1024 + 1))
    closed = person.closed()
    assert closed.rcvd is not None
    assert closed.rcvd.code == 1009
    assert person.session_id is not None
    with of(alice) as again:
        again.reconnect(person.session_id)
        assert again.wait_for(AgentEvents.USER_CONFIRM)["step_id"] == asked["step_id"]


def test_unknown_fields_are_accepted(person: ConfirmClient) -> None:
    person.send_raw(
        json.dumps(
            {
                "event": "user.message",
                "content": script(says("ok")),
                "timestamp": 12,
                "connection_id": None,
                "step_id": None,
                "version": [1],
                "userId": "somebody else, who has no say with accounts on",
            }
        )
    )
    assert person.wait_for(AgentEvents.FINAL_ANSWER)["content"] == "ok"


@pytest.mark.parametrize("content", ["", " \n\t"])
def test_an_empty_message_is_an_error_of_the_agent(person: ConfirmClient, content: str) -> None:
    person.send(UserEvents.MESSAGE, content=content)
    error_of(person.next(), ErrorTypes.EMPTY_MESSAGE, AgentEvents.ERROR)


def test_a_message_while_the_agent_works_is_an_error_of_the_agent(
    person: ConfirmClient, witness: Witness, fresh: str
) -> None:
    person.say(script(says("a", gate(fresh))))
    person.wait_for(AgentEvents.PARTIAL_ANSWER)
    person.say(script(says("b")))
    metadata = error_of(person.next(), ErrorTypes.BUSY, AgentEvents.ERROR)
    assert (metadata["status"], metadata["pending"]) == ("running", [])
    witness.release(fresh)
    assert person.wait_for(AgentEvents.FINAL_ANSWER)["content"] == "a"


def test_a_message_while_a_confirmation_is_awaited_says_which(person: ConfirmClient, fresh: str) -> None:
    asked = person.ask(script(calls(("guarded", {"name": fresh}))))
    person.say(script(says("b")))
    metadata = error_of(person.next(), ErrorTypes.BUSY, AgentEvents.ERROR)
    assert (metadata["status"], metadata["pending"]) == ("paused", [asked["step_id"]])


def test_a_step_that_is_not_spelled_exactly_is_unknown(person: ConfirmClient, witness: Witness, fresh: str) -> None:
    asked = person.ask(script(calls(("guarded", {"name": fresh}))))
    step, seq = asked["step_id"], asked["seq"]
    wrong: list[Any] = [
        "invalid_step_123",
        f"{step} ",
        f" {step}",
        step.upper(),
        f"{step}_",
        f"step_{seq}_confirm_execute",
        f"step_0{seq}_confirm_guarded",
        f"step_{seq}_0_confirm_guarded",
        f"step_{seq}_1_confirm_guarded",
        f"step_{seq + 1}_confirm_guarded",
        f"step_{'9' * 40}_confirm_guarded",
        f"step_-{seq}_confirm_guarded",
        f"step_{seq}_confirm_",
        "",
        asked["metadata"]["request_id"],
    ]
    for one in wrong:
        person.confirm(one)
        told = person.next()
        assert error_of(told, ErrorTypes.INVALID_STEP_ID)["received_step_id"] == one
        assert told["content"] == "Invalid step_id in user response"
        assert "status" not in told["metadata"]
    assert witness.count(fresh) == 0
    person.confirm(step)
    person.wait_for(AgentEvents.FINAL_ANSWER)
    assert witness.count(fresh) == 1


def test_a_response_without_a_step_is_an_error(person: ConfirmClient) -> None:
    person.create()
    person.send(UserEvents.RESPONSE, session_id=person.session_id, content={"confirmed": True})
    assert error_of(person.next(), ErrorTypes.INVALID_STEP_ID)["received_step_id"] is None


def test_a_step_of_another_session_is_unknown(person: ConfirmClient, fresh: str) -> None:
    asked = person.ask(script(calls(("guarded", {"name": fresh}))))
    other = person.create()
    person.confirm(asked["step_id"], other)
    error_of(person.next(), ErrorTypes.INVALID_STEP_ID)


def test_a_step_that_is_settled_says_by_whom_when_and_with_what(person: ConfirmClient, fresh: str) -> None:
    asked = person.ask(script(calls(("guarded", {"name": fresh}))))
    person.refuse(asked["step_id"], "no")
    person.wait_for(AgentEvents.FINAL_ANSWER)
    person.confirm(asked["step_id"])
    metadata = error_of(person.next(), ErrorTypes.INVALID_STEP_ID)
    assert metadata.pop("answered_at")
    assert metadata == {
        "error_type": "invalid_step_id",
        "received_step_id": asked["step_id"],
        "request_id": asked["metadata"]["request_id"],
        "status": "answered",
        "current_status": "answered",
        "reason": None,
        "answered_by": "alice",
        "source": "confirm",
        "answer": {"decision": "reject", "message": "no"},
    }


@pytest.mark.parametrize("event", [UserEvents.MESSAGE, UserEvents.RESPONSE, UserEvents.CANCEL, UserEvents.RECONNECT])
def test_a_session_that_is_unknown_or_anothers_is_not_found(
    person: ConfirmClient, stranger: ConfirmClient, witness: Witness, fresh: str, event: str
) -> None:
    asked = person.ask(script(calls(("guarded", {"name": fresh}))))
    content: Any = "hi" if event == UserEvents.MESSAGE else {"confirmed": True}
    told: list[Told] = []
    for session in ("sess_abc123", person.session_id):
        stranger.send(event, session_id=session, step_id=asked["step_id"], content=content)
        told.append(stranger.next())
        error_of(told[-1], ErrorTypes.SESSION_NOT_FOUND)
        assert (told[-1]["session_id"], told[-1]["content"]) == (session, "Session not found")
    assert told[0]["metadata"] == told[1]["metadata"]
    assert witness.count(fresh) == 0
    person.refuse(asked["step_id"])
    person.wait_for(AgentEvents.FINAL_ANSWER)


@pytest.mark.parametrize("event", [UserEvents.RESPONSE, UserEvents.CANCEL, UserEvents.RECONNECT])
def test_what_needs_a_session_says_so_where_there_is_none(person: ConfirmClient, event: str) -> None:
    person.send(event, step_id="step_1_confirm_x", content={"confirmed": True})
    error_of(person.next(), ErrorTypes.SESSION_NOT_FOUND)


MALFORMED: list[Any] = [
    None,
    True,
    "yes",
    [],
    {},
    {"confirmed": None},
    {"confirmed": "true"},
    {"confirmed": 1},
    {"confirmed": True, "reason": 7},
    {"confirmed": True, "metadata": "x"},
    {"confirmed": True, "metadata": {"args": "x"}},
    {"confirmed": True, "metadata": {"args": {"nonsense": 1}}},
    {"confirmed": True, "metadata": {"response": {"granted": False}}},
]


@pytest.mark.parametrize("content", MALFORMED, ids=repr)
def test_a_malformed_reply_leaves_the_step_open(
    person: ConfirmClient, witness: Witness, fresh: str, content: Any
) -> None:
    asked = person.ask(script(calls(("guarded", {"name": fresh}))))
    person.respond(asked["step_id"], content)
    metadata = error_of(person.next(), ErrorTypes.INVALID_MESSAGE)
    assert (metadata["step_id"], metadata["attempts_left"]) == (asked["step_id"], 2)
    assert metadata["errors"]
    assert witness.count(fresh) == 0
    person.confirm(asked["step_id"])
    person.wait_for(AgentEvents.FINAL_ANSWER)
    assert witness.count(fresh) == 1


def test_after_three_malformed_replies_of_its_owner_a_step_is_refused(
    person: ConfirmClient, alice: ThreadsClient, witness: Witness, fresh: str
) -> None:
    asked = person.ask(script(calls(("guarded", {"name": fresh}))))
    assert person.session_id is not None
    for left in (2, 1):
        person.respond(asked["step_id"], {"confirmed": "yes"})
        assert error_of(person.next(), ErrorTypes.INVALID_MESSAGE)["attempts_left"] == left
    with of(alice) as other:
        # Who connects again has no more tries than before.
        other.respond(asked["step_id"], {"confirmed": "yes"}, person.session_id)
        assert other.wait_for(SystemEvents.ERROR)["metadata"]["attempts_left"] == 0
    told = person.until(AgentEvents.FINAL_ANSWER)
    (result,) = only(told, AgentEvents.TOOL_RESULT)
    assert (result["metadata"]["status"], result["step_id"]) == ("failed", asked["step_id"])
    assert "无效回复" in told[-1]["content"]
    person.confirm(asked["step_id"])
    assert error_of(person.next(), ErrorTypes.INVALID_STEP_ID)["status"] == "answered"
    assert witness.count(fresh) == 0


def test_nobody_uses_up_the_tries_of_another(
    person: ConfirmClient, people: People, witness: Witness, fresh: str
) -> None:
    asked = person.ask(script(calls(("guarded", {"name": fresh}))))
    with of(people.named("root")) as admin:
        for _ in range(5):
            admin.respond(asked["step_id"], {}, person.session_id)
            assert "attempts_left" not in error_of(admin.wait_for(SystemEvents.ERROR), ErrorTypes.INVALID_MESSAGE)
    person.confirm(asked["step_id"])
    person.wait_for(AgentEvents.FINAL_ANSWER)
    assert witness.count(fresh) == 1
