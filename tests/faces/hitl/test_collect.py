"""Values for an agent that runs elsewhere: for who asked, once, and to be read nowhere else."""

import json

from tests.support.hitl import HITL, QUESTION, VARIABLES, HitlClient, data_of, error_of
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.wire import until

VALUE = "sk-for-the-asker-77aa"
GIVEN = {"values": {"API_KEY": VALUE, "REGION": "eu"}}


def test_the_asker_collects_the_values_once(agent: HitlClient, person: HitlClient) -> None:
    request_id = agent.ask("env_var", VARIABLES)["request_id"]
    person.respond(request_id, GIVEN)
    collected = agent.collect(request_id)
    assert data_of(collected) == GIVEN
    assert collected.headers["cache-control"] == "no-store"
    again = agent.collect(request_id)
    error_of(again, 409, "HITL_CONFLICT")
    assert VALUE not in again.text


def test_only_the_asker_collects(
    server: ServerProcess, agent: HitlClient, person: HitlClient, other: HitlClient, admin: HitlClient
) -> None:
    request_id = agent.ask("env_var", VARIABLES)["request_id"]
    person.respond(request_id, GIVEN)
    with HitlClient(server.url, person.new_key("second-agent", "agent")["key"]) as second:
        for client in (person, other, admin, second):
            reply = client.collect(request_id)
            error_of(reply, 403, "HITL_FORBIDDEN")
            assert VALUE not in reply.text
    assert data_of(agent.collect(request_id)) == GIVEN


def test_a_person_who_asked_collects_what_they_asked_for(person: HitlClient, admin: HitlClient) -> None:
    request_id = person.ask("env_var", VARIABLES)["request_id"]
    admin.respond(request_id, GIVEN)
    error_of(admin.collect(request_id), 403, "HITL_FORBIDDEN")
    assert data_of(person.collect(request_id)) == GIVEN


def test_the_value_is_in_no_other_reply_and_in_no_event(agent: HitlClient, person: HitlClient) -> None:
    asked = agent.ask("env_var", VARIABLES)
    request_id, conversation_id = asked["request_id"], asked["conversation_id"]
    with person.events(conversation_id) as frames:
        person.respond(request_id, GIVEN)
        told = until(frames, "env_var_provided")[-1].data
    assert told["data"]["response"]["values"] == {"API_KEY": "***", "REGION": "eu"}
    shown = agent.look(request_id)
    assert shown["response"] == {"values": {"API_KEY": "***", "REGION": "eu"}, "save": False}
    seen = [
        person.http.get(f"{HITL}/pending").text,
        person.http.get(f"{HITL}/conversations/{conversation_id}/pending").text,
        person.http.get(f"{HITL}/requests/{request_id}").text,
        person.try_respond(request_id, GIVEN).text,
        json.dumps(told),
    ]
    assert all(VALUE not in one for one in seen)


def test_there_is_nothing_to_collect_before_an_answer_or_after_none(agent: HitlClient, person: HitlClient) -> None:
    pending = agent.ask("env_var", VARIABLES)["request_id"]
    error_of(agent.collect(pending), 409, "HITL_CONFLICT")
    person.try_cancel(pending)
    error_of(agent.collect(pending), 409, "HITL_CONFLICT")
    question = agent.ask("clarification", QUESTION)["request_id"]
    person.respond(question, {"answer": "A"})
    error_of(agent.collect(question), 409, "HITL_CONFLICT")
    error_of(agent.collect("envv_unknown"), 404, "HITL_REQUEST_NOT_FOUND", "REQUEST_NOT_FOUND")


def test_collecting_is_in_the_audit_with_the_names_only(
    agent: HitlClient, person: HitlClient, admin: HitlClient
) -> None:
    asked = agent.ask("env_var", VARIABLES)
    person.respond(asked["request_id"], GIVEN)
    agent.collect(asked["request_id"])
    (entry,) = admin.audit(asked["conversation_id"], "secret.collected")
    assert entry["data"]["names"] == ["API_KEY", "REGION"]
    assert VALUE not in json.dumps(admin.audit(asked["conversation_id"], "request.answered"))


def test_a_value_answered_on_the_threads_face_reaches_the_asker_too(alice: ThreadsClient, agent: HitlClient) -> None:
    asked = agent.ask("env_var", VARIABLES)
    reply = alice.resume(asked["conversation_id"], "answer", answers=[VALUE, "eu"], request_id=asked["request_id"])
    assert reply.status == 200, reply.body
    assert data_of(agent.collect(asked["request_id"])) == GIVEN
