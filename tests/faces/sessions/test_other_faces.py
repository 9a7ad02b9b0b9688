"""One core behind all faces: what is asked in a session is answered on the others, and the other way round."""

import json
from collections.abc import Generator
from itertools import count

import pytest

from tests.support import hitl
from tests.support.hitl import HitlClient, wrong_fields
from tests.support.people import People
from tests.support.puppet import calls, says, script
from tests.support.sessions import SessionsClient, of, response_of
from tests.support.threads import ThreadsClient
from tests.support.wire import at_once
from tests.support.witness import Witness

_numbers = count(1)


@pytest.fixture
def person(people: People) -> ThreadsClient:
    """Somebody new, at the threads face."""
    return people.named(f"everywhere-{next(_numbers)}")


@pytest.fixture
def user(person: ThreadsClient) -> Generator[SessionsClient]:
    client = of(person)
    yield client
    client.close()


@pytest.fixture
def answerer(person: ThreadsClient) -> Generator[HitlClient]:
    with hitl.of(person) as client:
        yield client


def test_what_a_session_asks_is_answered_on_hitl(
    user: SessionsClient, answerer: HitlClient, witness: Witness, fresh: str
) -> None:
    asked = user.invoke(calls(("guarded", {"name": fresh})))["interrupt_data"]["request_id"]
    assert answerer.one_pending(user.session_id)["request_id"] == asked
    answerer.respond(asked, {"granted": True})
    assert user.wait_for("completed")["last_response"]["result"]["output"] == f"done {fresh}"
    late = user.try_resume("reject", {"request_id": asked})
    assert (late.status_code, late.json()["code"]) == (409, "already_settled")
    assert (late.json()["answered_by"], late.json()["source"]) == (user.user_id, "hitl")
    assert late.json()["answer"] == {"decision": "accept"}
    assert witness.count(fresh) == 1


def test_what_a_session_asks_is_answered_on_threads(
    user: SessionsClient, person: ThreadsClient, witness: Witness, fresh: str
) -> None:
    asked = user.invoke(calls(("guarded", {"name": fresh})))["interrupt_data"]["request_id"]
    info = person.status(user.session_id)["interrupt_info"]
    assert [one["request_id"] for one in info["requests"]] == [asked]
    assert person.resume(user.session_id, "continue").text == f"done {fresh}"
    assert user.status()["last_response"]["result"]["output"] == f"done {fresh}"
    refused = user.try_resume("accept")
    assert (refused.status_code, refused.json()["status"]) == (400, "completed")
    assert witness.count(fresh) == 1


def test_what_is_asked_after_a_message_on_threads_is_answered_in_the_session(
    user: SessionsClient, person: ThreadsClient, witness: Witness, fresh: str
) -> None:
    user.invoke(says("hi"))
    message = script(calls(("guarded", {"name": fresh})))
    person.chat(user.session_id, message)
    status = user.status()
    assert (status["status"], status["last_query"]) == ("interrupted", message)
    assert user.resume("accept")["result"]["output"] == f"done {fresh}"
    assert (person.status(user.session_id)["status"], witness.count(fresh)) == ("idle", 1)


def test_an_answer_given_in_a_session_is_told_on_hitl(user: SessionsClient, answerer: HitlClient, fresh: str) -> None:
    asked = user.invoke(calls(("guarded", {"name": fresh})))["interrupt_data"]["request_id"]
    user.resume("edit", {"name": f"{fresh}-edited"})
    settled = answerer.look(asked)
    assert (settled["status"], settled["answered_by"], settled["source"]) == ("answered", user.user_id, "sessions")
    assert settled["response"] == {"granted": True, "args": {"name": f"{fresh}-edited"}}


def test_of_answers_from_two_faces_at_once_one_wins(
    user: SessionsClient, answerer: HitlClient, witness: Witness, fresh: str
) -> None:
    asked = user.invoke(calls(("guarded", {"name": fresh})))["interrupt_data"]["request_id"]
    acts = [
        lambda: user.try_resume("accept", {"request_id": asked}),
        lambda: answerer.try_respond(asked, {"granted": False}),
    ]
    codes = [reply.status_code for reply in at_once(2, lambda index: acts[index]())]
    assert codes in ([200, 400], [409, 200])
    assert witness.count(fresh) == int(codes[0] == 200)
    assert user.wait_for("completed")["last_response"]["status"] == "completed"


def test_who_answers_half_of_a_pause_is_told_of_the_other_half_wherever_that_was_answered(
    user: SessionsClient, answerer: HitlClient, witness: Witness, fresh: str
) -> None:
    names = [f"{fresh}-{number}" for number in range(2)]
    asked = user.invoke(calls(*(("guarded", {"name": name}) for name in names)))["interrupt_data"]["requests"]
    answerer.respond(asked[0]["request_id"], {"granted": True})
    left = user.status()["last_response"]["interrupt_data"]["requests"]
    assert [one["request_id"] for one in left] == [asked[1]["request_id"]]
    assert user.resume("accept")["status"] == "completed"
    assert [witness.count(name) for name in names] == [1, 1]


def test_the_hitl_face_holds_edited_arguments_against_the_tool_too(
    user: SessionsClient, answerer: HitlClient, witness: Witness, fresh: str
) -> None:
    asked = user.invoke(calls(("guarded", {"name": fresh})))["interrupt_data"]["request_id"]
    wrong = answerer.try_respond(asked, {"granted": True, "args": {"name": 5, "nmae": "x"}})
    assert wrong_fields(wrong) == ["response.args.name", "response.args.nmae"]
    assert user.status()["status"] == "interrupted"
    answerer.respond(asked, {"granted": True, "args": {"name": f"{fresh}-right"}})
    assert user.wait_for("completed")
    assert (witness.count(fresh), witness.count(f"{fresh}-right")) == (0, 1)


def test_a_session_that_is_deleted_on_threads_is_gone(user: SessionsClient, person: ThreadsClient) -> None:
    user.invoke(says("hi"))
    assert person.http.delete(f"/api/sessions/{user.session_id}").status_code == 200
    assert user.status()["status"] == "not_found"
    assert user.invoke(says("again"))["status"] == "completed"


def test_halves_of_characters_do_not_keep_anybody_from_being_asked(user: SessionsClient, witness: Witness) -> None:
    asked = response_of(user.try_invoke(json.dumps([calls(("guarded", {"name": "half \ud800"}))])))
    user.session_id = asked["session_id"]
    assert asked["interrupt_data"]["action_request"]["args"]["name"].startswith("half ")
    assert user.try_invoke(script(says("hi"))).status_code == 409
    # What was kept of it has a question mark there, and is the same for all that.
    assert user.resume("reject")["status"] == "completed"
    assert witness.count("half") == 0
