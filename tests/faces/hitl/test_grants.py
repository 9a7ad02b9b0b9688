"""Remembered answers, end to end: they hold exactly what was said, say where they come from, and end at once."""

from collections.abc import Generator
from itertools import product
from pathlib import Path

import pytest

from tests.faces.hitl.changing_agent import VARIANT
from tests.faces.hitl.granting import (
    GUARDED,
    OTHER_ARGS,
    OTHER_TOOL,
    granted,
    is_asked,
    remembered,
)
from tests.support.hitl import PERMISSION, HitlClient, asked_by_agent, chatted, data_of, finished, of
from tests.support.people import People
from tests.support.puppet import Call, calls, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P11")


@pytest.fixture(scope="module")
def keeper(people: People) -> ThreadsClient:
    """For whom the whole table below is tried; each row is taken back after it."""
    return people.named("keeper")


@pytest.mark.parametrize(
    ("scope", "duration", "allow"),
    list(product(["this_action", "this_tool", "all_tools"], ["once", "session", "forever"], [True, False])),
)
def test_a_remembered_answer_holds_its_scope_its_duration_and_its_owner(
    keeper: ThreadsClient, bob: ThreadsClient, scope: str, duration: str, allow: bool
) -> None:
    with of(keeper) as mine:
        here = granted(keeper, mine, remembered(scope, duration, allow=allow))
        elsewhere = keeper.new_thread("puppet")
        held_here, held_elsewhere = duration != "once", duration == "forever"
        wide, wider = scope != "this_action", scope == "all_tools"
        found = {
            "same": is_asked(keeper, here, GUARDED),
            "args": is_asked(keeper, here, OTHER_ARGS),
            "tool": is_asked(keeper, here, OTHER_TOOL),
            "thread": is_asked(keeper, elsewhere, GUARDED),
            "thread and args": is_asked(keeper, elsewhere, OTHER_ARGS),
            "owner": is_asked(bob, bob.new_thread("puppet"), GUARDED),
        }
        assert found == {
            "same": not held_here,
            "args": not (held_here and wide),
            "tool": not (held_here and wider),
            "thread": not held_elsewhere,
            "thread and args": not (held_elsewhere and wide),
            "owner": True,
        }
        assert len(mine.grants()) == (0 if duration == "once" else 1)
        for grant in mine.grants():
            assert (grant["scope"], grant["duration"], grant["allow"]) == (scope, duration, allow)
            assert grant["uses"] >= 1
            assert mine.http.delete(f"/api/v1/grants/{grant['id']}").status_code == 200


def test_what_is_not_to_be_remembered_is_not(owner: ThreadsClient, theirs: HitlClient) -> None:
    here = granted(owner, theirs, {"granted": True, "duration": "forever", "scope": "all_tools"})
    assert theirs.grants() == []
    assert is_asked(owner, here, GUARDED)


def test_a_streaming_chat_goes_on_to_its_end_without_an_interrupt(
    owner: ThreadsClient, theirs: HitlClient, witness: Witness
) -> None:
    call: Call = ("guarded", {"name": "streamed"})
    here = granted(owner, theirs, remembered("this_action", "session"), call)
    reply = chatted(owner, here, script(calls(call), calls(call)))
    assert "interrupt" not in reply.events
    assert reply.events.count("tool/end") == 2
    assert reply.events[-1] == "end"
    assert "done streamed" in reply.text
    assert witness.count("streamed") == 3


def test_a_remembered_refusal_refuses_in_the_same_stream(
    owner: ThreadsClient, theirs: HitlClient, witness: Witness
) -> None:
    call: Call = ("guarded", {"name": "denied"})
    here = granted(owner, theirs, remembered("this_tool", "forever", allow=False), call)
    reply = chatted(owner, here, script(calls(call)))
    assert "interrupt" not in reply.events
    assert reply.events[-1] == "end"
    assert "refused" in reply.text
    assert witness.count("denied") == 0


def test_a_refusal_counts_before_a_permission(owner: ThreadsClient, theirs: HitlClient, witness: Witness) -> None:
    here = granted(owner, theirs, remembered("this_action", "session", allow=False), ("guarded", {"name": "never"}))
    asked_by_agent(owner, here, OTHER_ARGS)
    theirs.respond(theirs.one_pending(here)["request_id"], remembered("all_tools", "forever"))
    finished(owner, here)
    assert not is_asked(owner, here, ("guarded", {"name": "never"}))
    assert witness.count("never") == 0


def test_where_an_answer_comes_from_is_in_the_request_the_event_and_the_audit(
    owner: ThreadsClient, theirs: HitlClient, admin: HitlClient
) -> None:
    granted(owner, theirs, remembered("this_tool", "forever"))
    (grant,) = theirs.grants()
    assert grant["granted_by"] == owner.username
    elsewhere = owner.new_thread("puppet")
    assert not is_asked(owner, elsewhere, OTHER_ARGS)
    event = theirs.told(elsewhere, "permission_replied")
    assert (event["data"]["source"], event["data"]["answered_by"]) == ("grant", owner.username)
    assert event["data"]["provenance"]["grant_id"] == grant["id"]
    shown = theirs.look(event["request_id"])
    assert (shown["status"], shown["source"], shown["answered_by"]) == ("answered", "grant", owner.username)
    assert shown["response"] == {"granted": True}
    (entry,) = admin.audit(elsewhere, "request.answered")
    assert (entry["data"]["origin"], entry["data"]["provenance"]["grant_id"]) == ("grant", grant["id"])
    first = theirs.look(grant["request_id"])
    assert first["source"] == "hitl"
    remembered_as = theirs.told(first["conversation_id"], "permission_replied")["data"]["remembered"]
    said = {"scope": "this_tool", "duration": "forever", "ceiling": "medium", "owner_id": grant["owner_id"]}
    assert remembered_as == {"grant_id": grant["id"], **said}


def test_a_revoked_grant_ends_at_once(
    owner: ThreadsClient, theirs: HitlClient, other: HitlClient, admin: HitlClient
) -> None:
    here = granted(owner, theirs, remembered("all_tools", "forever"))
    (grant,) = theirs.grants()
    assert not is_asked(owner, here, OTHER_TOOL)
    assert other.http.delete(f"/api/v1/grants/{grant['id']}").status_code == 404
    assert grant["id"] not in other.http.get("/api/v1/grants").text
    assert other.http.get("/api/v1/grants", params={"all": True}).status_code == 403
    assert grant["id"] in admin.http.get("/api/v1/grants", params={"all": True}).text
    assert not is_asked(owner, here, OTHER_TOOL)
    assert theirs.http.delete(f"/api/v1/grants/{grant['id']}").status_code == 200
    assert is_asked(owner, here, OTHER_TOOL)
    assert is_asked(owner, here, GUARDED)
    assert theirs.grants() == []
    assert grant["id"] in [one["data"]["grant_id"] for one in admin.audit("server", "grant.revoked")]


def test_of_several_calls_at_once_only_what_was_not_granted_is_asked(
    owner: ThreadsClient, theirs: HitlClient, witness: Witness
) -> None:
    known: Call = ("guarded", {"name": "known"})
    new: Call = ("guarded", {"name": "new"})
    here = granted(owner, theirs, remembered("this_action", "session"), known)
    reply = chatted(owner, here, script(calls(known, new)))
    assert len(reply.first("interrupt")["requests"]) == 1
    asked = theirs.one_pending(here)
    assert asked["request_data"]["args"] == {"name": "new"}
    theirs.respond(asked["request_id"], {"granted": False})
    assert "done known" in finished(owner, here)
    assert (witness.count("known"), witness.count("new")) == (2, 0)


def test_a_deleted_conversation_takes_its_grants_with_it(owner: ThreadsClient, theirs: HitlClient) -> None:
    here = granted(owner, theirs, remembered("all_tools", "session"))
    assert len(theirs.grants()) == 1
    assert owner.http.delete(f"/api/sessions/{here}").status_code == 200
    assert theirs.grants() == []


def test_a_grant_for_an_agent_elsewhere_answers_its_next_ask_at_once(server: ServerProcess, theirs: HitlClient) -> None:
    with (
        HitlClient(server.url, theirs.new_key("outsider", "agent")["key"]) as agent,
        HitlClient(server.url, theirs.new_key("another", "agent")["key"]) as another,
    ):
        first = agent.ask("permission", PERMISSION)["request_id"]
        theirs.respond(first, remembered("this_action", "forever"))
        again = agent.ask("permission", PERMISSION)
        assert (again["status"], again["source"], again["response"]) == ("answered", "grant", {"granted": True})
        for change in (
            {"args": {"path": "/etc"}},
            {"action": "delete /etc"},
            {"risk_level": "low"},
            {"tool_name": "x"},
        ):
            assert agent.ask("permission", PERMISSION | change)["status"] == "pending"
        assert agent.ask("permission", PERMISSION | {"allow_remember": False})["status"] == "pending"
        assert another.ask("permission", PERMISSION)["status"] == "pending"
        theirs.respond(agent.ask("permission", {"tool_name": "y"})["request_id"], remembered("all_tools", "forever"))
        assert agent.ask("permission", {"tool_name": "z"})["status"] == "answered"
        assert another.ask("permission", {"tool_name": "z"})["status"] == "pending"


@pytest.mark.parametrize("scope", ["this_action", "this_tool", "all_tools"])
def test_a_grant_for_an_agent_elsewhere_answers_no_other_key_of_its_name(
    server: ServerProcess, theirs: HitlClient, scope: str
) -> None:
    first, beside = (theirs.new_key(name, "agent", agent="deployer") for name in ("first", "beside"))
    with HitlClient(server.url, first["key"]) as agent, HitlClient(server.url, beside["key"]) as other:
        theirs.respond(agent.ask("permission", PERMISSION)["request_id"], remembered(scope, "forever"))
        assert agent.ask("permission", PERMISSION)["status"] == "answered"
        assert other.ask("permission", PERMISSION)["status"] == "pending"
        theirs.http.delete(f"/api/v1/keys/{first['id']}").raise_for_status()
        later = theirs.new_key("later", "agent", agent="deployer")
        with HitlClient(server.url, later["key"]) as successor:
            for one in (successor, other):
                assert one.ask("permission", PERMISSION)["status"] == "pending"
    assert theirs.ask("permission", PERMISSION, agent="deployer")["status"] == "pending"


def test_a_grant_for_a_tool_elsewhere_ends_with_what_was_said_of_it(server: ServerProcess, theirs: HitlClient) -> None:
    said = PERMISSION | {"description": "sends a reminder", "tool_schema": {"type": "object"}}
    with HitlClient(server.url, theirs.new_key("describing", "agent")["key"]) as agent:
        theirs.respond(agent.ask("permission", said)["request_id"], remembered("this_tool", "forever"))
        assert agent.ask("permission", said | {"args": {"path": "/tmp/b.txt"}})["status"] == "answered"
        for change in (
            {"description": "sends money"},
            {"description": ""},
            {"tool_display_name": "x"},
            {"tool_schema": {"type": "string"}},
            {"risk_level": "low"},
        ):
            assert agent.ask("permission", said | change)["status"] == "pending"


@pytest.fixture
def changing(tmp_path: Path, own_database: str | None) -> Generator[ServerProcess]:
    agent = f"puppet={Path(__file__).with_name('changing_agent.py')}:agent"
    process = ServerProcess(tmp_path / "data", [agent], own_database, environment={VARIANT: "plain"})
    try:
        yield process
    finally:
        process.close()


def test_a_changed_definition_of_the_tool_asks_again(changing: ServerProcess) -> None:
    thread_id = ""
    asked: list[bool] = []
    for variant in ("plain", "described", "wider"):
        changing.environment = {VARIANT: variant}
        changing.start()
        with People(changing.url) as people, of(people.named("root")) as client:
            thread_id = thread_id or granted(people.named("root"), client, remembered("this_tool", "forever"))
            asked.append(is_asked(people.named("root"), thread_id, GUARDED))
        changing.kill()
    assert asked == [False, True, True]


def test_a_grant_is_never_given_for_what_may_not_be_remembered(theirs: HitlClient) -> None:
    request_id = theirs.ask("permission", PERMISSION | {"allow_remember": False})["request_id"]
    reply = theirs.try_respond(request_id, remembered("this_action", "forever"))
    assert reply.status_code == 400
    assert theirs.grants() == []
    assert data_of(theirs.try_respond(request_id, {"granted": True}))["status"] == "answered"
