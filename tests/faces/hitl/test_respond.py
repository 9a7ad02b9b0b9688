"""Answering: the first valid answer wins, whoever comes second is told who did, and nothing wrong is lost."""

import pytest

from tests.faces.threads.asking import clarification, decision
from tests.support.hitl import HITL, PERMISSION, QUESTION, HitlClient, asked_by_agent, error_of, finished, of
from tests.support.people import People
from tests.support.puppet import calls, script
from tests.support.threads import ThreadsClient
from tests.support.wire import at_once
from tests.support.witness import Witness


def not_pending(client: HitlClient, request_id: str, response: object) -> dict[str, object]:
    reply = client.try_respond(request_id, response)
    details = error_of(reply, 400, "HITL_REQUEST_NOT_PENDING", "REQUEST_NOT_PENDING")
    assert reply.json()["error"]["message"] == "HITL request is not in pending status"
    told = {"request_id", "current_status", "answered_by", "answered_at", "source", "answer", "reason"}
    assert details.keys() == {"alias", *told}
    return details


def test_whoever_comes_second_is_told_who_answered_when_and_where(
    alice: ThreadsClient, person: HitlClient, admin: HitlClient, thread: str
) -> None:
    asked_by_agent(alice, thread, clarification("A", "B"))
    request_id = person.one_pending(thread)["request_id"]
    first = person.respond(request_id, {"answer": "A"})
    told = not_pending(admin, request_id, {"answer": "B"})
    assert told["request_id"] == request_id
    assert (told["current_status"], told["answered_by"], told["source"]) == ("answered", "alice", "hitl")
    assert (told["answered_at"], told["answer"]) == (first["answered_at"], {"answer": "A"})
    assert person.look(request_id)["response"] == {"answer": "A"}


def test_who_comes_second_after_the_deadline_is_told_the_winner_too(person: HitlClient) -> None:
    asked = person.ask("permission", PERMISSION, timeout_seconds=6)
    person.respond(asked["request_id"], {"granted": False})
    waited = person.ask("permission", PERMISSION, timeout_seconds=6)
    assert person.look(waited["request_id"], wait=30)["status"] == "expired"
    assert not_pending(person, asked["request_id"], {"granted": True})["current_status"] == "answered"


def test_an_answer_to_what_was_cancelled_is_told_so(person: HitlClient) -> None:
    request_id = person.ask("clarification", QUESTION)["request_id"]
    assert person.try_cancel(request_id).status_code == 200
    assert not_pending(person, request_id, {"answer": "A"})["current_status"] == "cancelled"


def test_of_ten_answers_at_once_one_is_taken_and_the_agent_acts_once(
    alice: ThreadsClient, people: People, person: HitlClient, thread: str, witness: Witness
) -> None:
    asked_by_agent(alice, thread, ("guarded", {"name": "contested"}))
    request_id = person.one_pending(thread)["request_id"]
    clients = [of(alice) for _ in range(10)]
    replies = at_once(10, lambda n: clients[n].try_respond(request_id, {"granted": n % 2 == 0}))
    winners = [n for n, reply in enumerate(replies) if reply.status_code == 200]
    assert len(winners) == 1
    for reply in replies:
        if reply.status_code != 200:
            details = error_of(reply, 400, "HITL_REQUEST_NOT_PENDING", "REQUEST_NOT_PENDING")
            assert details["answered_by"] == "alice"
    finished(alice, thread)
    assert witness.count("contested") == (1 if winners[0] % 2 == 0 else 0)
    for client in clients:
        client.http.close()


def test_an_answer_touches_only_its_own_request(alice: ThreadsClient, person: HitlClient, thread: str) -> None:
    asked_by_agent(alice, thread, ("guarded", {"name": "own-a"}), ("guarded", {"name": "own-b"}))
    first, second = person.pending(thread)
    person.respond(first["request_id"], {"granted": True})
    assert [one["request_id"] for one in person.pending(thread)] == [second["request_id"]]
    assert person.look(second["request_id"])["response"] is None
    person.respond(second["request_id"], {"granted": False, "reason": "not this one"})
    assert "done own-a" in finished(alice, thread)
    assert "not this one" in finished(alice, thread)


def test_what_was_asked_here_is_answered_on_the_threads_face_and_the_other_way(
    alice: ThreadsClient, person: HitlClient, thread: str
) -> None:
    asked_by_agent(alice, thread, ("guarded", {"name": "there"}), then=(calls(clarification("A")),))
    request_id = person.one_pending(thread)["request_id"]
    assert alice.resume(thread, "continue").status == 200
    assert person.look(request_id)["source"] == "threads"
    assert not_pending(person, request_id, {"granted": False})["source"] == "threads"
    asked = person.one_pending(thread)["request_id"]
    person.respond(asked, {"answer": "A"})
    assert "A" in finished(alice, thread)
    assert alice.resume(thread, "answer", answers=["A"]).status == 409


def test_the_senders_metadata_is_in_the_audit_and_in_no_reply(person: HitlClient, admin: HitlClient) -> None:
    asked = person.ask("clarification", QUESTION)
    metadata = {"source": "web_ui", "user_agent": "Mozilla/5.0 marked", "key_id": "forged"}
    person.respond(asked["request_id"], {"answer": "A"}, metadata=metadata)
    assert "marked" not in person.http.get(f"{HITL}/requests/{asked['request_id']}").text
    (entry,) = admin.audit(asked["conversation_id"], "request.answered")
    assert entry["data"]["metadata"] == {"source": "web_ui", "user_agent": "Mozilla/5.0 marked"}


def test_metadata_has_a_bound(person: HitlClient) -> None:
    request_id = person.ask("clarification", QUESTION)["request_id"]
    reply = person.try_respond(request_id, {"answer": "A"}, metadata={"note": "x" * 20_000})
    assert error_of(reply, 400, "HITL_INVALID_RESPONSE", "INVALID_REQUEST")["errors"][0]["field"] == "metadata"
    assert person.look(request_id)["status"] == "pending"


def test_an_unknown_request_is_not_found_and_named(person: HitlClient) -> None:
    reply = person.try_respond("clar_12345678", {"answer": "A"})
    assert error_of(reply, 404, "HITL_REQUEST_NOT_FOUND", "REQUEST_NOT_FOUND")["request_id"] == "clar_12345678"
    assert reply.json()["error"]["message"] == "HITL request not found"


def test_what_is_not_yours_is_forbidden_with_nothing_about_it(
    alice: ThreadsClient, person: HitlClient, other: HitlClient, thread: str
) -> None:
    asked_by_agent(alice, thread, decision())
    request_id = person.one_pending(thread)["request_id"]
    replies = [
        other.try_respond(request_id, {"decision": "go"}),
        other.try_respond(request_id, {"nonsense": 1}),
        other.try_cancel(request_id),
        other.http.get(f"{HITL}/requests/{request_id}"),
        other.collect(request_id),
    ]
    for reply in replies:
        assert error_of(reply, 403, "HITL_FORBIDDEN") == {}
        assert "Deploy" not in reply.text
        assert request_id not in reply.text
    assert person.look(request_id)["status"] == "pending"


def test_an_agents_key_never_answers_not_even_its_own(agent: HitlClient, person: HitlClient) -> None:
    own = agent.ask("permission", PERMISSION)["request_id"]
    hers = person.ask("clarification", QUESTION)["request_id"]
    error_of(agent.try_respond(own, {"granted": True}), 403, "HITL_FORBIDDEN")
    error_of(agent.try_respond(hers, {"answer": "A"}), 403, "HITL_FORBIDDEN")
    error_of(agent.try_respond("perm_unknown", {"granted": True}), 403, "HITL_FORBIDDEN")
    assert person.look(own)["status"] == "pending"
    assert person.look(hers)["status"] == "pending"


@pytest.mark.parametrize("response", [{"granted": True}, {"granted": True, "args": {"name": "edited-name"}}])
def test_what_a_person_approved_is_what_runs(
    alice: ThreadsClient, person: HitlClient, thread: str, witness: Witness, response: dict[str, object]
) -> None:
    alice.chat(thread, script(calls(("guarded", {"name": f"asked-{thread[-8:]}"}))))
    person.respond(person.one_pending(thread)["request_id"], response)
    finished(alice, thread)
    if "args" in response:
        assert witness.count(f"asked-{thread[-8:]}") == 0
        assert witness.count("edited-name") == 1
    else:
        assert witness.count(f"asked-{thread[-8:]}") == 1
