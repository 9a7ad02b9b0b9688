"""Second opinions: what whoever gives them is told, what people see of them, and that nothing else comes of them."""

import json
from collections.abc import Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

from interlock.domain.errors import InvalidInput
from interlock.domain.opinion import LONGEST_CALL
from interlock.opinions import load_adviser
from tests.support import adviser, puppet
from tests.support.hitl import QUESTION, HitlClient, of
from tests.support.inbox import INBOX, answer, asked, view
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

SECRET = "s3cr3t-0f-ann-4711"
SECONDS = "1"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("adviser") / "told"
    file.touch()
    return file


@pytest.fixture(scope="module")
def advised(tmp_path_factory: pytest.TempPathFactory, told: Path) -> Generator[ServerProcess]:
    environment = {
        "INTERLOCK_SECOND_OPINION": adviser.SPEC,
        "INTERLOCK_SECOND_OPINION_SECONDS": SECONDS,
        "INTERLOCK_LOCALE": "en",
        adviser.TOLD: str(told),
    }
    process = ServerProcess(tmp_path_factory.mktemp("advised"), agents=[puppet.SPEC], environment=environment)
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="module")
def ann(advised: ServerProcess) -> Generator[ThreadsClient]:
    with People(advised.url) as people:
        people.named("root")
        yield people.named("ann")


@pytest.fixture(scope="module")
def agent(ann: ThreadsClient) -> Iterator[HitlClient]:
    with of(ann) as owner, HitlClient(str(ann.http.base_url), owner.new_key("worker", "agent")["key"]) as client:
        yield client


def opinion(client: httpx.Client, request_id: str) -> httpx.Response:
    return client.post(f"{INBOX}/requests/{request_id}/opinion")


def calls_told(told: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in told.read_text().splitlines()]


def trail(client: ThreadsClient, thread_id: str) -> list[dict[str, Any]]:
    query = {"conversation_id": thread_id}
    return client.http.get("/api/v1/audit", params=query).raise_for_status().json()["entries"]


@pytest.mark.promise("P25", "P13")
def test_an_opinion_is_of_the_call_alone_and_only_who_asked_for_it_gets_it(
    ann: ThreadsClient, agent: HitlClient, told: Path
) -> None:
    given = agent.ask("env_var", {"fields": [{"name": "TOKEN"}]})
    thread_id = given["conversation_id"]
    with of(ann) as owner:
        owner.respond(given["request_id"], {"values": {"TOKEN": SECRET}})
    call: dict[str, Any] = {
        "tool_name": "deploy",
        "action": "PROSE of the agent",
        "description": "PROSE: everybody agreed to this",
        "risk_level": "high",
        "args": {
            "text": f"with {SECRET}",
            "password": "hunter2",
            "max_tokens": 5,
            "command": "curl -H 'Authorization: Bearer abc.def' --api-key xyz https://ann:pw@host.example/",
        },
    }
    asked_now = agent.ask("permission", call, conversation_id=thread_id)
    request_id = asked_now["request_id"]
    before, seen = view(ann, request_id), agent.look(request_id)
    reply = opinion(ann.http, request_id).raise_for_status().json()
    assert reply == {"request_id": request_id, "by": adviser.NAME, "end": "given", "text": adviser.WORDS}
    quiet = {
        "text": "with ***",
        "password": "***",
        "max_tokens": 5,
        "command": "curl -H 'Authorization: Bearer ***' --api-key *** https://***@host.example/",
    }
    (last,) = calls_told(told)[-1:]
    assert last.keys() == {"tool", "arguments", "risk"}
    assert (last["tool"], last["risk"], json.loads(last["arguments"])) == ("deploy", "high", quiet)
    after = view(ann, request_id)
    assert {**after, "server_time": None} == {**before, "server_time": None}
    assert agent.look(request_id) == seen
    assert opinion(agent.http, request_id).status_code == 403
    entries = [one for one in trail(ann, thread_id) if one["action"].startswith("opinion.")]
    assert [(one["action"], one["data"]["request_id"]) for one in entries] == [
        ("opinion.ended", request_id),
        ("opinion.asked", request_id),
    ]
    assert "deletes everything" not in json.dumps(trail(ann, thread_id))
    answer(ann, after, {"decision": "accept"}, code=after["code"]).raise_for_status()
    # After one's own choice it can be asked for as before.
    assert opinion(ann.http, request_id).json()["end"] == "given"
    settled = agent.look(request_id)
    with agent.events(thread_id, last="0") as frames:
        names: list[str] = []
        for frame in frames:
            names.append(json.dumps(frame.data))
            if frame.event == "hitl_response" or "answered" in names[-1]:
                break
    assert "deletes everything" not in json.dumps([settled, names])


@pytest.mark.promise("P10", "P25")
@pytest.mark.parametrize(("name", "end"), [("raises", "failed"), ("silent", "failed"), ("never", "late")])
def test_who_gives_no_opinion_changes_nothing(ann: ThreadsClient, advised: ServerProcess, name: str, end: str) -> None:
    (request,) = asked(ann, ("guarded", {"name": name}))
    before = view(ann, request)
    reply = opinion(ann.http, request["request_id"])
    assert (reply.status_code, reply.json()["end"], reply.json()["text"]) == (200, end, None)
    shown = view(ann, request)
    assert {**shown, "server_time": None} == {**before, "server_time": None}
    answer(ann, shown, {"decision": "reject"}).raise_for_status()
    assert adviser.FAILURE not in advised.log.read_text()


def test_nobody_is_told_of_a_call_in_part_or_of_a_question(ann: ThreadsClient, agent: HitlClient, told: Path) -> None:
    count = len(calls_told(told))
    long = agent.ask("permission", {"tool_name": "write", "args": {"text": "x" * LONGEST_CALL}})
    assert opinion(ann.http, long["request_id"]).json()["end"] == "too_long"
    question = agent.ask("clarification", QUESTION)
    assert opinion(ann.http, question["request_id"]).status_code == 409
    assert len(calls_told(told)) == count


def test_a_server_says_whether_it_gives_opinions(ann: ThreadsClient, alice: ThreadsClient) -> None:
    assert ann.http.get("/api/v1/session").json()["second_opinion"] is True
    assert alice.http.get("/api/v1/session").json()["second_opinion"] is False
    (request,) = asked(alice, ("guarded", {"name": "unadvised"}))
    assert opinion(alice.http, request["request_id"]).status_code == 404


@pytest.mark.parametrize("attr", ["missing", "plain", "text"])
def test_only_an_async_function_gives_opinions(attr: str) -> None:
    module = ModuleType("own")
    vars(module).update(plain=str, text="yes")
    with pytest.raises(InvalidInput):
        load_adviser(f"own:{attr}", lambda _: module)


def test_a_module_that_cannot_be_loaded_stops_the_start() -> None:
    def fail(_: str) -> ModuleType:
        raise SystemExit

    with pytest.raises(InvalidInput):
        load_adviser("own:advise", fail)
