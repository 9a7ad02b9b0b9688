"""Asks of agents that run elsewhere: what is asked, on which conversation, for how long."""

import threading
import uuid
from typing import Any

import pytest
from typer.testing import CliRunner

from interlock_client.cli.main import app
from tests.support.hitl import (
    ASKED,
    CHOICE,
    HITL,
    PERMISSION,
    QUESTION,
    VARIABLES,
    HitlClient,
    data_of,
    error_of,
    of,
    wrong_fields,
)
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.wire import until


@pytest.mark.parametrize("kind", ASKED)
def test_every_kind_is_asked_seen_by_the_person_and_read_back_by_the_agent(
    agent: HitlClient, person: HitlClient, kind: str
) -> None:
    request_type, asked, response = ASKED[kind]
    made = agent.ask(request_type, asked)
    assert (made["type"], made["status"], made["timeout_seconds"]) == (request_type, "pending", 300)
    assert made["conversation_id"].startswith("alice-")
    assert made["request_data"].keys() >= asked.keys()
    assert person.pending(made["conversation_id"])[0]["request_id"] == made["request_id"]
    person.respond(made["request_id"], response)
    told = agent.look(made["request_id"], wait=10)
    assert (told["status"], told["answered_by"], told["source"]) == ("answered", "alice", "hitl")
    assert told["response"]


def test_a_wait_holds_until_it_is_answered(agent: HitlClient, person: HitlClient) -> None:
    request_id = agent.ask("decision", CHOICE)["request_id"]
    told: list[dict[str, Any]] = []
    waiting = threading.Thread(target=lambda: told.append(agent.look(request_id, wait=20)), daemon=True)
    waiting.start()
    assert person.look(request_id, wait=0)["status"] == "pending"
    person.respond(request_id, {"decision": "cancel", "reason": "no"})
    waiting.join(20)
    assert told[0]["status"] == "answered"
    assert told[0]["response"] == {"decision": "cancel", "reason": "no"}


def test_a_wait_that_ends_shows_what_is_still_pending(agent: HitlClient) -> None:
    request_id = agent.ask("decision", CHOICE)["request_id"]
    assert agent.look(request_id, wait=0.2)["status"] == "pending"


@pytest.mark.parametrize("wait", ["-1", "61", "nan", "inf", "long"])
def test_a_wait_has_its_bounds(agent: HitlClient, wait: str) -> None:
    assert wrong_fields(agent.http.get(f"{HITL}/requests/clar_1", params={"wait": wait})) == ["wait"]


def test_a_conversation_is_asked_on_again(agent: HitlClient) -> None:
    first = agent.ask("clarification", QUESTION)
    second = agent.ask("decision", CHOICE, conversation_id=first["conversation_id"])
    assert second["conversation_id"] == first["conversation_id"]
    pending = [one["request_id"] for one in agent.pending(first["conversation_id"])]
    assert pending == [first["request_id"], second["request_id"]]


def test_an_answer_to_one_of_several_leaves_the_others(agent: HitlClient, person: HitlClient) -> None:
    first = agent.ask("clarification", QUESTION)
    second = agent.ask("permission", PERMISSION, conversation_id=first["conversation_id"])
    person.respond(second["request_id"], {"granted": False})
    assert agent.look(first["request_id"])["status"] == "pending"
    assert [one["request_id"] for one in person.pending(first["conversation_id"])] == [first["request_id"]]


def test_an_unused_id_of_the_persons_own_makes_the_conversation(person: HitlClient) -> None:
    wanted = f"alice-{uuid.uuid4()}"
    assert person.ask("clarification", QUESTION, conversation_id=wanted)["conversation_id"] == wanted
    assert person.ask("clarification", QUESTION, conversation_id=wanted)["conversation_id"] == wanted


def test_a_conversation_of_somebody_else_or_of_a_hosted_agent_is_not_asked_on(
    person: HitlClient, other: HitlClient, agent: HitlClient, thread: str
) -> None:
    hers = person.ask("clarification", QUESTION)["conversation_id"]
    tried = [
        other.try_ask("clarification", QUESTION, conversation_id=hers),
        agent.try_ask("clarification", QUESTION, conversation_id=hers),
        person.try_ask("clarification", QUESTION, conversation_id=thread),
        agent.try_ask("clarification", QUESTION, conversation_id=thread),
        person.try_ask("clarification", QUESTION, conversation_id=f"bob-{uuid.uuid4()}"),
        person.try_ask("clarification", QUESTION, conversation_id="anything"),
    ]
    for reply in tried:
        error_of(reply, 403, "HITL_FORBIDDEN")
    assert len(person.pending(hers)) == 1
    assert person.pending(thread) == []


def test_a_deleted_conversation_is_not_asked_on_again(alice: ThreadsClient, person: HitlClient) -> None:
    gone = person.ask("clarification", QUESTION)["conversation_id"]
    assert alice.http.delete(f"/api/sessions/{gone}").status_code == 200
    error_of(person.try_ask("clarification", QUESTION, conversation_id=gone), 403, "HITL_FORBIDDEN")


def test_a_conversation_keeps_the_name_of_its_agent(person: HitlClient) -> None:
    first = person.ask("clarification", QUESTION, agent="deployer")
    assert first["agent"] == "deployer"
    again = person.ask("clarification", QUESTION, conversation_id=first["conversation_id"])
    assert again["agent"] == "deployer"
    reply = person.try_ask("clarification", QUESTION, conversation_id=first["conversation_id"], agent="other")
    assert wrong_fields(reply) == ["agent"]


def test_an_agents_key_asks_under_its_own_name(person: HitlClient, server: ServerProcess) -> None:
    made = person.new_key("a key", "agent", agent="named-agent")
    assert made["agent"] == "named-agent"
    with HitlClient(server.url, made["key"]) as agent:
        assert agent.ask("clarification", QUESTION)["agent"] == "named-agent"
        assert agent.ask("clarification", QUESTION, agent="named-agent")["agent"] == "named-agent"
        assert wrong_fields(agent.try_ask("clarification", QUESTION, agent="other")) == ["agent"]


@pytest.mark.parametrize("name", ["puppet", "demo", "with space", "", "x" * 65])
def test_a_name_that_is_hosted_here_or_is_none_is_not_taken(person: HitlClient, name: str) -> None:
    assert wrong_fields(person.try_ask("clarification", QUESTION, agent=name)) == ["agent"]


def test_a_key_that_has_a_hosted_agents_name_all_the_same_asks_nothing(
    server: ServerProcess, alice: ThreadsClient
) -> None:
    arguments = ["--user", "alice", "--role", "agent", "--agent", "puppet", *server.where]
    key = CliRunner().invoke(app, ["keys", "create", "sly", *arguments]).stdout.strip()
    with HitlClient(server.url, key) as sly:
        assert wrong_fields(sly.try_ask("env_var", VARIABLES)) == ["agent"]


def test_null_as_the_timeout_waits_for_as_long_as_it_takes(agent: HitlClient) -> None:
    asked = agent.ask("permission", PERMISSION, timeout_seconds=None)
    assert (asked["timeout_seconds"], asked["expires_at"]) == (None, None)
    assert asked["request_data"]["timeout_seconds"] is None


@pytest.mark.parametrize("timeout", [0, -1, True, "300", 31_536_001])
def test_a_timeout_that_cannot_be_is_named(agent: HitlClient, timeout: object) -> None:
    assert wrong_fields(agent.try_ask("clarification", QUESTION, timeout_seconds=timeout)) == ["timeout_seconds"]


EXPIRING: list[tuple[str, dict[str, Any], dict[str, Any] | None]] = [
    ("clarification", QUESTION, None),
    ("clarification", QUESTION | {"default_answer": "B"}, {"answer": "B"}),
    ("decision", CHOICE, None),
    ("decision", CHOICE | {"default": "cancel"}, {"decision": "cancel"}),
    ("env_var", VARIABLES, None),
    ("permission", PERMISSION, None),
    ("permission", PERMISSION | {"default": "accept", "default_answer": "accept", "granted": True}, None),
]


@pytest.mark.parametrize(("kind", "asked", "default"), EXPIRING)
def test_at_the_deadline_the_default_is_used_if_there_is_one_and_never_a_yes(
    agent: HitlClient, person: HitlClient, kind: str, asked: dict[str, Any], default: dict[str, Any] | None
) -> None:
    made = agent.ask(kind, asked, timeout_seconds=0.05)
    told = agent.look(made["request_id"], wait=30)
    assert (told["status"], told["response"]) == ("expired", default)
    assert told["source"] == "deadline"
    assert told["answered_by"] != "alice"
    _, _, response = ASKED[kind]
    details = error_of(person.try_respond(made["request_id"], response), 409, "HITL_REQUEST_EXPIRED", "REQUEST_EXPIRED")
    assert details["current_status"] == "expired"
    assert person.pending(made["conversation_id"]) == []
    event = person.told(made["conversation_id"], "request_expired")
    assert event["data"]["response"] == default


def test_a_default_that_was_not_offered_is_named(agent: HitlClient) -> None:
    reply = agent.try_ask("clarification", QUESTION | {"default_answer": "C"})
    assert wrong_fields(reply) == ["default_answer"]
    assert wrong_fields(agent.try_ask("decision", CHOICE | {"default": "perhaps"})) == ["default"]


def test_a_stream_on_the_conversation_hears_of_the_ask(agent: HitlClient) -> None:
    first = agent.ask("clarification", QUESTION)
    with agent.events(first["conversation_id"]) as frames:
        until(frames, "clarification_asked")
        second = agent.ask("permission", PERMISSION, conversation_id=first["conversation_id"])
        assert until(frames, "permission_asked")[-1].data["request_id"] == second["request_id"]


def test_the_person_sees_the_conversation_and_nobody_talks_to_its_agent(
    alice: ThreadsClient, agent: HitlClient
) -> None:
    asked = agent.ask("clarification", QUESTION)
    conversation_id = asked["conversation_id"]
    assert alice.status(conversation_id)["status"] == "interrupted"
    refused = alice.chat(conversation_id, "hello")
    assert 400 <= refused.status < 500
    with of(alice) as person:
        person.respond(asked["request_id"], {"answer": "A"})
    assert alice.status(conversation_id)["status"] == "idle"
    assert 400 <= alice.chat(conversation_id, "hello").status < 500


def test_an_ask_is_never_half_written(agent: HitlClient) -> None:
    before = agent.everything()["total"]
    assert agent.try_ask("permission", {"tool_name": "", "args": []}).status_code == 400
    assert agent.everything()["total"] == before
    assert data_of(agent.try_ask("permission", PERMISSION))["status"] == "pending"
