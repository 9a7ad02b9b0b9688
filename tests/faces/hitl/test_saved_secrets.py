"""Values that people let be kept: they answer the next ask of the same owner and agent, until they are deleted."""

import hashlib
from typing import Any

import pytest

from tests.faces.threads.asking import KEY, variables
from tests.support.hitl import HitlClient, asked_by_agent, chatted, data_of, finished, wrong_fields
from tests.support.puppet import Call, calls, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

USE: Call = ("use_key", {"name": "API_KEY"})
SECRET: dict[str, Any] = {"fields": [{"name": "API_KEY"}]}


def used(value: str) -> str:
    return f"key:{hashlib.sha256(value.encode()).hexdigest()}"


def given(owner: ThreadsClient, theirs: HitlClient, value: str, **fields: Any) -> str:
    """Let the agent ask for the key and use it; the conversation."""
    thread_id = owner.new_thread("puppet")
    asked_by_agent(owner, thread_id, variables(KEY), then=(calls(USE),))
    theirs.respond(theirs.one_pending(thread_id)["request_id"], {"values": {"API_KEY": value}, **fields})
    finished(owner, thread_id)
    return thread_id


def is_asked(owner: ThreadsClient, thread_id: str) -> bool:
    reply = chatted(owner, thread_id, script(calls(variables(KEY)), calls(USE)))
    if "interrupt" not in reply.events:
        return False
    assert owner.resume(thread_id, "cancel").status == 200
    return True


def test_a_saved_value_answers_the_next_ask_in_any_conversation_with_the_agent(
    owner: ThreadsClient, theirs: HitlClient, witness: Witness
) -> None:
    here = given(owner, theirs, "kept-value-1", save=True)
    assert witness.count(used("kept-value-1")) == 1
    elsewhere = owner.new_thread("puppet")
    assert not is_asked(owner, here)
    assert not is_asked(owner, elsewhere)
    assert witness.count(used("kept-value-1")) == 3


@pytest.mark.parametrize("fields", [{}, {"save": False}])
def test_a_value_that_is_not_to_be_saved_is_asked_for_again(
    owner: ThreadsClient, theirs: HitlClient, fields: dict[str, Any]
) -> None:
    here = given(owner, theirs, "passing-value", **fields)
    assert theirs.saved() == []
    assert is_asked(owner, here)


def test_where_the_value_comes_from_is_in_the_request_the_event_and_the_audit(
    owner: ThreadsClient, theirs: HitlClient, admin: HitlClient
) -> None:
    given(owner, theirs, "kept-value-2", save=True)
    elsewhere = owner.new_thread("puppet")
    assert not is_asked(owner, elsewhere)
    event = theirs.told(elsewhere, "env_var_provided")
    assert event["data"]["source"] == "saved"
    assert event["data"]["provenance"] == {"saved": ["API_KEY"], "saved_by": [owner.username]}
    shown = theirs.look(event["request_id"])
    assert (shown["status"], shown["source"]) == ("answered", "saved")
    assert shown["response"]["values"] == {"API_KEY": "***"}
    (entry,) = admin.audit(elsewhere, "request.answered")
    assert (entry["data"]["origin"], entry["data"]["source"]) == ("saved", "saved")
    assert "kept-value-2" not in str(entry)


def test_saved_values_are_listed_without_the_values_and_deleted_at_once(
    owner: ThreadsClient, theirs: HitlClient, other: HitlClient, admin: HitlClient
) -> None:
    here = given(owner, theirs, "kept-value-3", save=True)
    listed = theirs.http.get("/api/v1/secrets")
    assert "kept-value-3" not in listed.text
    (saved,) = listed.json()["secrets"]
    assert (saved["name"], saved["agent"], saved["sensitive"]) == ("API_KEY", "puppet", True)
    assert saved["saved_by"] == owner.username
    assert other.http.delete(f"/api/v1/secrets/{saved['id']}").status_code == 404
    assert other.http.get("/api/v1/secrets", params={"all": True}).status_code == 403
    assert saved["id"] in admin.http.get("/api/v1/secrets", params={"all": True}).text
    assert theirs.http.delete(f"/api/v1/secrets/{saved['id']}").status_code == 200
    assert theirs.http.delete(f"/api/v1/secrets/{saved['id']}").status_code == 404
    assert is_asked(owner, here)
    assert saved["id"] in [one["data"]["secret_id"] for one in admin.audit("server", "secret.deleted")]


def test_a_value_saved_again_takes_the_place_of_the_earlier_one(theirs: HitlClient) -> None:
    first = theirs.ask("env_var", SECRET | {"allow_save": True}, agent="twice")["request_id"]
    second = theirs.ask("env_var", SECRET, agent="twice")["request_id"]
    theirs.respond(first, {"values": {"API_KEY": "earlier"}, "save": True})
    theirs.respond(second, {"values": {"API_KEY": "later"}, "save": True})
    assert len(theirs.saved()) == 1
    asked = theirs.ask("env_var", SECRET, agent="twice")
    assert asked["source"] == "saved"
    assert data_of(theirs.collect(asked["request_id"])) == {"values": {"API_KEY": "later"}}


def test_a_saved_value_is_one_owners_and_one_agents(theirs: HitlClient, other: HitlClient) -> None:
    request_id = theirs.ask("env_var", SECRET, agent="one")["request_id"]
    theirs.respond(request_id, {"values": {"API_KEY": "of-one"}, "save": True})
    assert theirs.ask("env_var", SECRET, agent="one")["status"] == "answered"
    assert theirs.ask("env_var", SECRET, agent="two")["status"] == "pending"
    assert theirs.ask("env_var", SECRET)["status"] == "pending"
    assert other.ask("env_var", SECRET, agent="one")["status"] == "pending"


def test_an_agent_elsewhere_collects_a_saved_value_and_is_shown_none(server: ServerProcess, theirs: HitlClient) -> None:
    with HitlClient(server.url, theirs.new_key("collector", "agent")["key"]) as agent:
        theirs.respond(agent.ask("env_var", SECRET)["request_id"], {"values": {"API_KEY": "kept-4"}, "save": True})
        reply = agent.try_ask("env_var", SECRET)
        again = data_of(reply)
        assert (again["status"], again["source"]) == ("answered", "saved")
        assert again["response"] == {"values": {"API_KEY": "***"}, "save": False}
        assert "kept-4" not in reply.text
        assert data_of(agent.collect(again["request_id"])) == {"values": {"API_KEY": "kept-4"}}


def test_a_value_saved_for_one_key_is_not_handed_to_another_that_has_the_agents_name(
    server: ServerProcess, theirs: HitlClient
) -> None:
    first, second = (theirs.new_key(name, "agent", agent="namesake") for name in ("one", "two"))
    with HitlClient(server.url, first["key"]) as one, HitlClient(server.url, second["key"]) as two:
        theirs.respond(one.ask("env_var", SECRET)["request_id"], {"values": {"API_KEY": "of-key-one"}, "save": True})
        theirs.http.delete(f"/api/v1/keys/{first['id']}").raise_for_status()
        asked = two.ask("env_var", SECRET)
        assert asked["status"] == "pending"
        # Nor does the person get it back by asking themselves under that name, as anything of theirs could.
        assert theirs.ask("env_var", SECRET, agent="namesake")["status"] == "pending"
        theirs.respond(asked["request_id"], {"values": {"API_KEY": "of-key-two"}, "save": True})
        again = two.ask("env_var", SECRET)
        assert (again["status"], again["source"]) == ("answered", "saved")
        assert data_of(two.collect(again["request_id"])) == {"values": {"API_KEY": "of-key-two"}}
    listed = theirs.http.get("/api/v1/secrets").json()["secrets"]
    assert [(saved["agent"], saved["name"]) for saved in listed] == [("namesake", "API_KEY")] * 2


def test_a_value_given_in_confidence_is_not_handed_to_who_would_show_it(theirs: HitlClient) -> None:
    theirs.respond(theirs.ask("env_var", SECRET)["request_id"], {"values": {"API_KEY": "hidden-5"}, "save": True})
    plain = theirs.try_ask("env_var", {"fields": [{"name": "API_KEY", "sensitive": False}]})
    assert data_of(plain)["status"] == "pending"
    assert "hidden-5" not in plain.text
    mixed = theirs.ask(
        "env_var", {"fields": [{"name": "OTHER", "required": False}, {"name": "API_KEY", "sensitive": False}]}
    )
    assert mixed["status"] == "pending"


def test_a_person_is_asked_when_any_required_name_is_not_saved(theirs: HitlClient) -> None:
    theirs.respond(theirs.ask("env_var", SECRET)["request_id"], {"values": {"API_KEY": "kept-6"}, "save": True})
    assert theirs.ask("env_var", {"fields": ["API_KEY", "SECOND"]})["status"] == "pending"
    optional = theirs.ask("env_var", {"fields": ["API_KEY", {"name": "SECOND", "required": False}]})
    assert optional["status"] == "answered"
    assert optional["response"]["values"] == {"API_KEY": "***"}
    assert theirs.ask("env_var", SECRET | {"allow_save": False})["status"] == "pending"


def test_what_may_not_be_saved_is_not(theirs: HitlClient) -> None:
    request_id = theirs.ask("env_var", SECRET | {"allow_save": False})["request_id"]
    reply = theirs.try_respond(request_id, {"values": {"API_KEY": "x"}, "save": True})
    assert wrong_fields(reply) == ["response.save"]
    assert theirs.saved() == []
