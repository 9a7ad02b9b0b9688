"""What was asked before a crash is asked after it, under the same id; and what was answered stays answered."""

import uuid
from pathlib import Path

from tests.support.hitl import of
from tests.support.langgraph import SPECS, LanggraphClient
from tests.support.people import People
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.witness import Witness


def test_a_question_and_its_answer_outlive_the_server(tmp_path: Path, witness: Witness) -> None:
    process = ServerProcess(tmp_path / "data", agents=SPECS, auth="none", environment=witness.environment)
    with process:
        with LanggraphClient(process.url) as client:
            thread_id, staging = client.asked("two_nodes")
        process.kill()
        process.start()
        with LanggraphClient(process.url) as client:
            # Whom it was shown to is forgotten: a bare answer is not taken for one to it.
            assert client.resume(thread_id, "two_nodes", "yes").json()["code"] == "not_shown"
            [seen] = client.state(thread_id)["interrupts"]
            assert seen == {"id": staging["id"], "value": staging["value"]}
            resumed = client.resume(thread_id, "two_nodes", {staging["id"]: "yes"}, "")
            [production] = client.http.get(resumed.headers["location"].replace("/stream", "/join")).json()[
                "__interrupt__"
            ]
        process.kill()
        process.start()
        with LanggraphClient(process.url) as client:
            again = client.resume(thread_id, "two_nodes", {staging["id"]: "yes"}, "")
            assert again.json()["run_id"] == resumed.json()["run_id"]
            assert client.resume(thread_id, "two_nodes", {staging["id"]: "no"}).json()["code"] == "already_settled"
            [still] = client.state(thread_id)["interrupts"]
            assert still["id"] == production["id"] != staging["id"]
            question = production["value"]["question"].removeprefix("delete ").removesuffix("/PRODUCTION?")
            assert witness.count(f"{question}/production") == 0
            done = client.resume(thread_id, "two_nodes", {production["id"]: "go"}).json()
            assert done["out"] == ["yes", "go"]
            assert witness.count(f"{question}/production") == 1


def test_what_was_allowed_for_later_is_not_asked_again(people: People, witness: Witness) -> None:
    person = people.named("langgraph-granter")
    name = uuid.uuid4().hex
    message = {"type": "human", "content": script(calls(("guarded", {"name": name})))}
    body = {"assistant_id": "puppet", "input": {"messages": [message]}}
    with LanggraphClient.of(person) as client, of(person) as inbox:
        thread_id = client.thread()
        assert client.post(thread_id, "wait", body).json()["__interrupt__"]
        [asked] = inbox.pending(thread_id)
        remembered = {"granted": True, "remember": True, "scope": "this_tool", "duration": "session"}
        inbox.respond(asked["request_id"], remembered)
        [answered, _] = client.http.get(f"/threads/{thread_id}/runs").json()
        client.http.get(f"/threads/{thread_id}/runs/{answered['run_id']}/join").raise_for_status()
        again = client.post(thread_id, "wait", body).json()
        assert "__interrupt__" not in again
        assert again["messages"][-1]["content"] == f"done {name}"
    assert witness.count(name) == 2
