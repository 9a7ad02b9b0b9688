"""Asks under a name of the asker's own: one conversation, found again without remembering its id."""

from concurrent.futures import ThreadPoolExecutor

from tests.support.hitl import CHOICE, HITL, PERMISSION, QUESTION, HitlClient, error_of, wrong_fields
from tests.support.threads import ThreadsClient


def title_of(person: ThreadsClient, conversation_id: str) -> str:
    listed = person.http.get("/api/v1/inbox/conversations").raise_for_status().json()["conversations"]
    return next(one["title"] for one in listed if one["conversation_id"] == conversation_id)


def test_asks_under_one_key_share_a_conversation_and_another_key_begins_another(agent: HitlClient) -> None:
    first = agent.ask("clarification", QUESTION, conversation_key="session 1")
    second = agent.ask("decision", CHOICE, conversation_key="session 1")
    third = agent.ask("decision", CHOICE, conversation_key="session 2")
    assert first["conversation_id"] == second["conversation_id"] != third["conversation_id"]
    assert first["conversation_id"].startswith("alice-")


def test_asks_at_the_same_moment_begin_one_conversation(agent: HitlClient) -> None:
    with ThreadPoolExecutor(4) as aside:
        asking = [aside.submit(agent.ask, "permission", PERMISSION, conversation_key="at once") for _ in range(4)]
        asked = [one.result(30) for one in asking]
    assert len({one["conversation_id"] for one in asked}) == 1
    assert len({one["request_id"] for one in asked}) == 4


def test_the_same_key_of_another_asker_is_another_conversation(agent: HitlClient, person: HitlClient) -> None:
    theirs = agent.ask("clarification", QUESTION, conversation_key="shared")["conversation_id"]
    own = person.ask("clarification", QUESTION, conversation_key="shared")["conversation_id"]
    assert own != theirs
    error_of(agent.http.get(f"{HITL}/conversations/{own}/pending"), 403, "HITL_FORBIDDEN")


def test_a_conversation_is_begun_with_the_title_that_the_ask_gives(alice: ThreadsClient, agent: HitlClient) -> None:
    titled = agent.ask("permission", PERMISSION, conversation_key="titled", title="my-project")["conversation_id"]
    agent.ask("permission", PERMISSION, conversation_key="titled", title="another")
    assert title_of(alice, titled) == "my-project"
    plain = agent.ask("clarification", QUESTION, title="  ")["conversation_id"]
    assert title_of(alice, plain) == QUESTION["question"]


def test_after_a_conversation_is_deleted_its_key_begins_another(alice: ThreadsClient, agent: HitlClient) -> None:
    gone = agent.ask("clarification", QUESTION, conversation_key="tidied")["conversation_id"]
    assert alice.http.delete(f"/api/sessions/{gone}").status_code == 200
    begun = agent.ask("clarification", QUESTION, conversation_key="tidied")["conversation_id"]
    again = agent.ask("clarification", QUESTION, conversation_key="tidied")["conversation_id"]
    assert gone != begun == again


def test_a_key_and_an_id_together_are_refused(agent: HitlClient) -> None:
    begun = agent.ask("clarification", QUESTION)["conversation_id"]
    reply = agent.try_ask("clarification", QUESTION, conversation_id=begun, conversation_key="both")
    assert wrong_fields(reply) == ["conversation_key"]
    for key in ("", "x" * 201, 7):
        assert wrong_fields(agent.try_ask("clarification", QUESTION, conversation_key=key)) == ["conversation_key"]


def test_half_a_character_in_a_key_is_refused(agent: HitlClient) -> None:
    body = b'{"type": "clarification", "request_data": {"question": "Well?"}, "conversation_key": "half \\ud83d"}'
    reply = agent.http.post(f"{HITL}/requests", content=body, headers={"content-type": "application/json"})
    assert wrong_fields(reply) == ["conversation_key"]


def test_who_answers_what_was_settled_at_the_terminal_is_told_so(agent: HitlClient, person: HitlClient) -> None:
    asked = agent.ask("permission", PERMISSION, conversation_key="terminal")
    assert agent.try_cancel(asked["request_id"], reason="answered_at_the_terminal").status_code == 200
    reply = person.try_respond(asked["request_id"], {"granted": True})
    details = error_of(reply, 400, "HITL_REQUEST_NOT_PENDING", "REQUEST_NOT_PENDING")
    assert (details["current_status"], details["reason"]) == ("cancelled", "answered_at_the_terminal")


def test_a_conversation_without_a_title_is_named_by_the_call_as_lists_spell_it(
    alice: ThreadsClient, agent: HitlClient
) -> None:
    call = {"tool_name": "scale", "args": {"to": {"eu": [3, None]}, "now": True}}
    for action in ({}, {"action": "more room"}):
        asked = agent.ask("permission", {**call, **action})["conversation_id"]
        assert title_of(alice, asked) == 'scale → {"eu": [3, null]} · true'
