"""A server whose agents ask more than people can answer."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.command import users
from tests.support.hitl import HITL, QUESTION, HitlClient, error_of
from tests.support.many import MORE_THAN_PARAMETERS, cancel_all_but, copy_request, removals_left, rows_left
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for

FLOODING = ("greedy-a", "greedy-b", "greedy-c", "greedy-d")
GONE = {"requests": 0, "pauses": 0, "events": 1}
AGENT = f"flood={Path(__file__).parent / 'flooding.py'}:flood"

Start = Callable[..., ServerProcess]


@pytest.fixture
def start(tmp_path: Path, database_url: str, request: pytest.FixtureRequest) -> Start:
    def started(failpoints: str = "", auth: str = "none", **settings: str) -> ServerProcess:
        server = ServerProcess(tmp_path / "data", [AGENT], database_url, auth, settings, failpoints)
        request.addfinalizer(server.close)
        return server.start()

    return started


def deleted(server: ServerProcess, conversation: str) -> int:
    try:
        return httpx.delete(f"{server.url}/api/sessions/{conversation}", timeout=60.0, trust_env=False).status_code
    except httpx.TransportError:
        # It was killed; whether the reply was on its way is not known.
        return 0


def test_a_conversation_with_more_asks_than_a_statement_has_parameters_is_deleted_through_a_crash(
    start: Start, database_url: str
) -> None:
    server = start(failpoints="removal.committed=kill@3")
    with HitlClient(server.url, "nobody") as person:
        asked = person.ask("clarification", QUESTION)
        conversation = asked["conversation_id"]
        copy_request(database_url, asked["request_id"], MORE_THAN_PARAMETERS)
        person.http.timeout = 240.0
        assert len(person.pending(conversation)) == MORE_THAN_PARAMETERS + 1
        with person.events(conversation) as frames:
            assert next(frames).data["request_id"]
        chinese = person.try_ask("clarification", QUESTION, conversation_id=conversation)
        assert chinese.json()["error"]["message"] == "等待处理的请求过多，请先处理其中一部分再试"
        person.http.headers["accept-language"] = "en"
        refused = person.try_ask("clarification", QUESTION, conversation_id=conversation)
        assert "1000" in str(error_of(refused, 429, "HITL_RATE_LIMITED")) + refused.text
        assert refused.headers["retry-after"] == "30"
    assert deleted(server, conversation) in (0, 200)
    server.wait_until_dead()
    assert rows_left(database_url, conversation)["requests"] > MORE_THAN_PARAMETERS / 2

    cancel_all_but(database_url, conversation, 2_000)
    server.start(failpoints="")
    with HitlClient(server.url, "nobody") as person:
        assert person.everything()["total"] == 0
        error_of(person.http.get(f"/api/v1/agent/hitl/requests/{asked['request_id']}"), 404, *NOT_FOUND)
        person.ask("clarification", QUESTION)
    wait_for(lambda: removals_left(database_url), lambda count: count == 0, 240.0)
    assert rows_left(database_url, conversation) == GONE


NOT_FOUND = ("HITL_REQUEST_NOT_FOUND", "REQUEST_NOT_FOUND")


def test_a_hosted_graph_that_asks_more_than_may_be_open_fails_and_says_why(start: Start, database_url: str) -> None:
    server = start(INTERLOCK_OPEN_PER_CONVERSATION="3")
    person = ThreadsClient(server.url)
    with person.http:
        thread = person.new_thread("flood")
        few: Any = person.chat(thread, "3")
        assert few.events == ["interrupt", "end"]
        other = person.new_thread("flood")
        many = person.chat(other, "4")
        assert many.events == ["error", "end"]
        assert "3 requests may be open on this conversation" in str(many.first("error"))
        assert person.status(other)["status"] != "interrupted"
        # The conversation can go on.
        assert person.chat(other, "2").events == ["interrupt", "end"]


def test_accounts_that_ask_all_they_may_leave_room_for_who_asks_little(start: Start) -> None:
    server = start(auth="accounts", INTERLOCK_OPEN_IN_ALL="40", INTERLOCK_OPEN_PER_OWNER="10")
    held: list[int] = []
    with People(server.url) as people:
        for name in FLOODING:
            asked = [try_ask(people.named(name)) for _ in range(11)]
            held.append(sum(reply.is_success for reply in asked))
            assert {reply.status_code for reply in asked} == {200, 429}

        assert held == [10, 10, 10, 5]
        assert try_ask(people.named("modest")).status_code == 200
        refused = try_ask(people.named("greedy-a"))
        assert "10 requests may be open for its owner" in refused.text
    (warning,) = [
        entry["message"] for entry in entries(server) if entry["logger"] == "interlock.services.requests.quota"
    ]
    assert "21 of 40" in warning
    assert {"greedy-a (10)", "greedy-b (10)"} < set(warning.partition(" for people; most of them for ")[2].split(", "))
    listed = {line.split("\t")[0]: line.split("\t")[-1] for line in users(server, "list").splitlines()}
    assert listed == dict(zip(FLOODING, ["10", "10", "10", "5"], strict=True)) | {"root": "0", "modest": "1"}


def try_ask(person: ThreadsClient) -> httpx.Response:
    person.http.headers["accept-language"] = "en"
    return person.http.post(f"{HITL}/requests", json={"type": "clarification", "request_data": QUESTION})


def entries(server: ServerProcess) -> list[dict[str, Any]]:
    return [json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")]
