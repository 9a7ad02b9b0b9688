"""The client of the face's source document: its calls, its headers and its four answers, against requests of a hosted
agent."""

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.faces.threads.asking import KEY, REGION, clarification, decision, questions, variables
from tests.support.hitl import HitlClient, asked_by_agent, data_of, finished, of
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.wire import until
from tests.support.witness import Witness

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\Z")


class SeedClient:
    """As the document writes one: a connection for each call, and a key."""

    def __init__(self, url: str, key: str) -> None:
        self.base = f"{url}/api/v1/agent/hitl"
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    async def get_pending_requests(self, conversation_id: str) -> dict[str, Any]:
        async with httpx.AsyncClient() as client:
            path = f"{self.base}/conversations/{conversation_id}/pending"
            return (await client.get(path, headers=self.headers)).json()

    async def submit_response(self, request_id: str, response_data: dict[str, Any]) -> dict[str, Any]:
        async with httpx.AsyncClient() as client:
            body = {"request_id": request_id, "response": response_data}
            return (await client.post(f"{self.base}/respond", headers=self.headers, json=body)).json()


@pytest.fixture(scope="module")
def key(server: ServerProcess, people: People) -> Iterator[str]:
    with of(people.named("alice")) as client:
        yield client.new_key("laptop")["key"]


def curl(url: str, key: str, path: str, body: str | None = None) -> httpx.Response:
    """What `curl -X METHOD URL -H ... -H ... -d BODY` sends."""
    headers = {"Authorization": f"Bearer {key}", "User-Agent": "curl/8.5.0", "Accept": "*/*"}
    address = f"{url}/api/v1/agent/hitl{path}"
    if body is None:
        return httpx.get(address, headers=headers)
    return httpx.post(address, headers=headers | {"Content-Type": "application/json"}, content=body.encode())


def test_the_python_client_finds_what_is_pending_and_answers_it(
    server: ServerProcess, alice: ThreadsClient, thread: str, key: str
) -> None:
    asked_by_agent(alice, thread, clarification("选项A", "选项B"))
    client = SeedClient(server.url, key)
    pending = asyncio.run(client.get_pending_requests(thread))
    assert pending["success"] is True
    assert pending["data"]["total"] == 1
    request = pending["data"]["pending_requests"][0]
    assert request.keys() >= {"request_id", "type", "status", "created_at", "expires_at", "request_data"}
    assert (request["type"], request["status"]) == ("clarification", "pending")
    assert re.match(r"clar_[0-9a-f]{8,}\Z", request["request_id"])
    assert MOMENT.match(request["created_at"])
    assert MOMENT.match(request["expires_at"])
    assert request["request_data"]["options"] == ["选项A", "选项B"]
    assert request["request_data"]["allow_custom"] is True
    result = asyncio.run(client.submit_response(request["request_id"], {"answer": "选项A"}))
    assert result["success"] is True
    assert result["message"] == "Response submitted successfully"
    assert result["data"].keys() == {"request_id", "status", "answered_at"}
    assert (result["data"]["request_id"], result["data"]["status"]) == (request["request_id"], "answered")
    assert MOMENT.match(result["data"]["answered_at"])
    assert finished(alice, thread) == "选项A"
    assert asyncio.run(client.get_pending_requests(thread))["data"] == {"pending_requests": [], "total": 0}


def test_the_first_curl_line_lists_what_is_pending(server: ServerProcess, alice: ThreadsClient, key: str) -> None:
    assert curl(server.url, key, "/conversations/abc123/pending").json()["data"] == {"pending_requests": [], "total": 0}


def test_a_curl_line_answers_a_clarification_in_ones_own_words(
    server: ServerProcess, alice: ThreadsClient, thread: str, key: str, person: HitlClient
) -> None:
    asked_by_agent(alice, thread, clarification())
    request_id = person.one_pending(thread)["request_id"]
    given = {"request_id": request_id, "response": {"answer": "我想要删除这个文件"}}
    body = json.dumps(given, ensure_ascii=False, indent=2)
    assert curl(server.url, key, "/respond", body).json()["data"]["status"] == "answered"
    assert person.look(request_id)["response"] == {"answer": "我想要删除这个文件"}


def test_a_curl_line_answers_a_decision_with_a_reason(
    server: ServerProcess, alice: ThreadsClient, thread: str, key: str, person: HitlClient
) -> None:
    asked_by_agent(alice, thread, decision())
    request = person.one_pending(thread)
    assert request["request_id"].startswith("deci_")
    body = {"request_id": request["request_id"], "response": {"decision": "go", "reason": "已确认风险，继续执行"}}
    assert curl(server.url, key, "/respond", json.dumps(body)).json()["data"]["status"] == "answered"
    assert json.loads(finished(alice, thread)) == {"decision": "go", "reason": "已确认风险，继续执行"}


def test_a_curl_line_gives_variables_and_saves_them(
    server: ServerProcess, owner: ThreadsClient, theirs: HitlClient
) -> None:
    thread = owner.new_thread()
    asked_by_agent(owner, thread, variables(KEY, REGION))
    request = theirs.one_pending(thread)
    assert request["type"] == "env_var"
    assert request["request_data"]["allow_save"] is True
    field = request["request_data"]["fields"][0]
    assert field == {
        "name": "API_KEY",
        "label": "Key",
        "required": True,
        "sensitive": True,
        "description": "for the service",
    }
    body = {"request_id": request["request_id"], "response": {"values": {"API_KEY": "sk-xxx"}, "save": True}}
    made = theirs.new_key("laptop")["key"]
    assert curl(server.url, made, "/respond", json.dumps(body)).json()["success"] is True
    finished(owner, thread)
    assert [one["name"] for one in theirs.saved()] == ["API_KEY"]


def test_a_curl_line_grants_a_permission_for_the_session(
    server: ServerProcess, owner: ThreadsClient, theirs: HitlClient, witness: Witness
) -> None:
    thread = owner.new_thread()
    asked_by_agent(owner, thread, ("guarded", {"name": "curled"}))
    request = theirs.one_pending(thread)
    assert request["request_id"].startswith("perm_")
    shown = request["request_data"]
    assert shown.keys() >= {"tool_name", "tool_display_name", "action", "risk_level", "description", "allow_remember"}
    assert (shown["tool_name"], shown["tool_display_name"]) == ("guarded", "受控操作")
    assert shown["timeout_seconds"] is None
    response = {"granted": True, "remember": True, "duration": "session"}
    made = theirs.new_key("laptop")["key"]
    body = json.dumps({"request_id": request["request_id"], "response": response})
    assert curl(server.url, made, "/respond", body).json()["success"] is True
    finished(owner, thread)
    assert witness.count("curled") == 1
    (grant,) = theirs.grants()
    assert (grant["scope"], grant["duration"], grant["conversation_id"]) == ("this_action", "session", thread)


def test_the_detail_of_a_request_has_every_field_of_the_document(
    alice: ThreadsClient, thread: str, person: HitlClient
) -> None:
    asked_by_agent(alice, thread, clarification("A", "B"))
    request_id = person.one_pending(thread)["request_id"]
    before = person.look(request_id)
    assert (before["status"], before["response"], before["answered_at"]) == ("pending", None, None)
    person.respond(request_id, {"selected_option": "A"})
    shown = person.look(request_id)
    assert shown.keys() >= {
        "request_id",
        "type",
        "status",
        "conversation_id",
        "message_id",
        "request_data",
        "response",
        "created_at",
        "expires_at",
        "answered_at",
        "answered_by",
        "source",
        "timeout_seconds",
    }
    assert (shown["status"], shown["conversation_id"]) == ("answered", thread)
    assert shown["message_id"]
    assert shown["response"] == {"answer": "A"}
    assert (shown["answered_by"], shown["source"]) == ("alice", "hitl")
    assert shown["timeout_seconds"] == 300
    assert shown["request_data"]["default_answer"] is None
    assert MOMENT.match(shown["answered_at"])


def test_a_curl_line_cancels_a_request(
    server: ServerProcess, alice: ThreadsClient, thread: str, key: str, person: HitlClient
) -> None:
    asked_by_agent(alice, thread, clarification("A"))
    request_id = person.one_pending(thread)["request_id"]
    reply = curl(server.url, key, "/cancel", json.dumps({"request_id": request_id, "reason": "不再需要"}))
    told = data_of(reply)
    assert told.keys() == {"request_id", "status", "cancelled_at"}
    assert (told["request_id"], told["status"]) == (request_id, "cancelled")
    assert MOMENT.match(told["cancelled_at"])


def test_several_questions_are_a_clarification_that_carries_them(
    alice: ThreadsClient, thread: str, person: HitlClient
) -> None:
    asked_by_agent(alice, thread, questions({"question": "One?", "options": []}, {"question": "Two?", "options": []}))
    request = person.one_pending(thread)
    assert (request["type"], request["request_id"][:5]) == ("clarification", "ques_")
    assert [one["question"] for one in request["request_data"]["questions"]] == ["One?", "Two?"]
    person.respond(request["request_id"], {"answers": ["1", "2"]})
    assert [one["answer"] for one in json.loads(finished(alice, thread))] == ["1", "2"]


EVENTS: list[tuple[Any, dict[str, Any], str, str]] = [
    (clarification("A"), {"answer": "A"}, "clarification_asked", "clarification_answered"),
    (decision(), {"decision": "go"}, "decision_asked", "decision_answered"),
    (variables(KEY), {"values": {"API_KEY": "hidden-value"}}, "env_var_requested", "env_var_provided"),
    (("guarded", {"name": "evented"}), {"granted": False}, "permission_asked", "permission_replied"),
]


@pytest.mark.parametrize(("call", "response", "asked", "answered"), EVENTS, ids=[one[2] for one in EVENTS])
def test_an_event_source_hears_what_is_asked_and_answered(
    alice: ThreadsClient, thread: str, person: HitlClient, call: Any, response: Any, asked: str, answered: str
) -> None:
    asked_by_agent(alice, thread, call)
    request = person.one_pending(thread)
    with person.events(thread) as frames:
        first = until(frames, asked)[-1]
        person.respond(request["request_id"], response)
        last = until(frames, answered)[-1]
    for frame in (first, last):
        assert frame.id is not None
        assert frame.data.keys() == {"type", "request_id", "conversation_id", "data"}
        assert frame.data["type"] == frame.event
        assert (frame.data["request_id"], frame.data["conversation_id"]) == (request["request_id"], thread)
    assert first.data["data"].items() >= request["request_data"].items()
    assert last.data["data"].keys() >= {"response", "answered_at", "answered_by", "source"}
    assert "hidden-value" not in json.dumps(last.data)
    assert (last.data["data"]["answered_by"], last.data["data"]["source"]) == ("alice", "hitl")
