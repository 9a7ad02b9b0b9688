"""An input in place of a message, for agents whose state is no conversation; on the threads and the sessions face."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.support.server import ServerProcess
from tests.support.threads import Reply, ThreadsClient
from tests.support.wire import post

ORDER = {"item": "tea", "count": 2}


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Generator[ThreadsClient]:
    agents = Path(__file__).parent / "order_agents.py"
    folder = tmp_path_factory.mktemp("inputs")
    with ServerProcess(folder, agents=[f"orders={agents}:orders"], auth="none") as server:
        client = ThreadsClient(server.url)
        with client.http:
            yield client


def give(person: ThreadsClient, given: Any, **more: Any) -> Reply:
    return post(person, "/api/chat", {"input": given, **more})


def test_an_input_runs_to_its_question_and_the_answer_to_the_output(person: ThreadsClient) -> None:
    asked = give(person, ORDER)
    assert asked.events == ["interrupt", "end"]
    thread_id = asked.headers["x-thread-id"]
    ended = person.resume(thread_id, "answer", answers=["yes"])
    assert ended.events == ["messages/partial", "end"]
    assert json.loads(ended.text) == {**ORDER, "seen": ["2 tea: yes"]}
    told, output = person.history(thread_id)
    assert (told["role"], json.loads(told["content"])) == ("user", ORDER)
    assert (output["role"], json.loads(output["content"])) == ("assistant", {**ORDER, "seen": ["2 tea: yes"]})
    listed = person.http.get("/api/sessions").json()["threads"]
    assert listed[0]["title"] == json.dumps(ORDER)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ([ORDER], "input"),
        ("tea", "input"),
        ({}, "input"),
        ({"item": "tea", "count": "two"}, "input.count"),
        ({"thing": "tea"}, "input.thing"),
    ],
)
def test_an_input_that_the_agent_does_not_take_is_refused_by_field(
    person: ThreadsClient, given: Any, field: str
) -> None:
    refused = give(person, given)
    assert refused.status == 400
    assert refused.body["code"] == "invalid_input"
    assert [error["field"] for error in refused.body["errors"]] == [field]


@pytest.mark.parametrize("body", [{}, {"input": None}, {"message": "hi", "input": ORDER}])
def test_either_a_message_or_an_input_is_sent(person: ThreadsClient, body: dict[str, Any]) -> None:
    assert post(person, "/api/chat", body).status == 422
    query = {"user_id": "local", **{"query" if key == "message" else key: value for key, value in body.items()}}
    assert person.http.post("/agent/invoke", json=query).status_code == 422


def test_numbers_that_are_no_json_are_refused(person: ThreadsClient) -> None:
    headers = {"content-type": "application/json"}
    sent = person.http.post("/api/chat", content='{"input": {"item": "x", "count": NaN}}', headers=headers)
    assert sent.status_code in (400, 422)


def test_an_input_that_fits_into_a_body_is_taken_and_a_larger_one_is_not(person: ThreadsClient) -> None:
    asked = give(person, {**ORDER, "note": "n" * 1_000_000})
    assert asked.events == ["interrupt", "end"]
    ended = person.resume(asked.headers["x-thread-id"], "answer", answers=["yes"])
    assert ended.events[-1] == "end"
    assert give(person, {**ORDER, "note": "n" * 1_100_000}).status == 413


def test_a_session_takes_an_input_too(person: ThreadsClient) -> None:
    wrong = person.http.post("/agent/invoke", json={"user_id": "local", "input": {"count": "two"}})
    assert wrong.status_code == 400
    asked = person.http.post("/agent/invoke", json={"user_id": "local", "input": ORDER}).json()
    assert asked["status"] == "interrupted"
    reply = {
        "user_id": "local",
        "session_id": asked["session_id"],
        "response_type": "response",
        "args": {"answer": "yes"},
    }
    ended = person.http.post("/agent/resume", json=reply).json()
    assert ended["status"] == "completed", ended
    assert json.loads(ended["result"]["output"])["seen"] == ["2 tea: yes"]
    status = person.http.get("/agent/status/local").json()
    assert json.loads(status["last_query"]) == ORDER


def test_a_text_is_still_taken_by_an_agent_without_messages(person: ThreadsClient) -> None:
    asked = post(person, "/api/chat", {"message": json.dumps(ORDER)})
    assert asked.events == ["interrupt", "end"]
