"""A server whose agents ask more than people can answer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.hitl import QUESTION, HitlClient, error_of
from tests.support.many import MORE_THAN_PARAMETERS, copy_request, rows_left
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for

GONE = {"requests": 0, "pauses": 0, "events": 1}
AGENT = f"flood={Path(__file__).parent / 'flooding.py'}:flood"

Start = Callable[..., ServerProcess]


@pytest.fixture
def start(tmp_path: Path, database_url: str, request: pytest.FixtureRequest) -> Start:
    def started(failpoints: str = "", **settings: str) -> ServerProcess:
        server = ServerProcess(tmp_path / "data", [AGENT], database_url, "none", settings, failpoints)
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
        person.http.timeout = 60.0
        assert len(person.pending(conversation)) == MORE_THAN_PARAMETERS + 1
        with person.events(conversation) as frames:
            assert next(frames).data["request_id"]
        refused = person.try_ask("clarification", QUESTION, conversation_id=conversation)
        assert "1000" in str(error_of(refused, 429, "HITL_RATE_LIMITED")) + refused.text
        assert refused.headers["retry-after"] == "30"
    assert deleted(server, conversation) in (0, 200)
    server.wait_until_dead()
    assert rows_left(database_url, conversation)["requests"] > MORE_THAN_PARAMETERS / 2

    server.start(failpoints="")
    with HitlClient(server.url, "nobody") as person:
        assert person.everything()["total"] == 0
        error_of(person.http.get(f"/api/v1/agent/hitl/requests/{asked['request_id']}"), 404, *NOT_FOUND)
        person.ask("clarification", QUESTION)
    wait_for(lambda: rows_left(database_url, conversation), GONE.__eq__, 120.0)


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
