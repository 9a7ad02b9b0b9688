"""An effect in doubt is a question of the server's own: of it no task of the graph knows."""

import uuid
from pathlib import Path

from tests.support import puppet
from tests.support.langgraph import LanggraphClient
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for
from tests.support.witness import Witness


def test_a_doubt_is_in_every_view_and_nothing_but_an_answer_ends_it(tmp_path: Path, witness: Witness) -> None:
    name, environment = uuid.uuid4().hex, {**witness.environment, "INTERLOCK_LEASE_SECONDS": "3"}
    process = ServerProcess(
        tmp_path / "data",
        agents=[puppet.SPEC],
        auth="none",
        environment=environment,
        failpoints="effect.returned=kill",
    )
    with process:
        with LanggraphClient(process.url) as client:
            thread_id = client.thread()
            said = script(calls(("hold", {"name": name})))
            body = {"assistant_id": "puppet", "input": {"messages": [{"type": "human", "content": said}]}}
            assert client.post(thread_id, "", body).status_code == 200
        wait_for(lambda: witness.count(f"at:{name}"), bool)
        witness.release(name)
        process.wait_until_dead()
        process.start(failpoints="")
        with LanggraphClient(process.url) as client:
            check_doubt(client, thread_id)
    assert witness.count(name) == 1


def check_doubt(client: LanggraphClient, thread_id: str) -> None:
    # Without a look that would show it.
    wanted = {"ids": [thread_id], "status": "interrupted", "select": ["thread_id"]}
    wait_for(lambda: client.http.post("/threads/search", json=wanted).json(), bool)
    assert client.resume(thread_id, "puppet", "skip").json()["code"] == "not_shown"
    [newest] = client.http.post(f"/threads/{thread_id}/history", json={"limit": 1}).json()
    [asked] = newest["interrupts"]
    assert asked["value"][0]["action_request"]["action"] == "decision"
    message = {"messages": [{"type": "human", "content": "[]"}]}
    for body in (
        {"input": message},
        {"input": message, "multitask_strategy": "interrupt"},
        {"command": {"goto": "__end__"}},
        {"command": {"goto": "tools"}},
        {"command": {"update": message}},
    ):
        assert client.post(thread_id, "", {"assistant_id": "puppet", **body}).status_code == 409, body
    for body in ({"values": None, "as_node": "__end__"}, {"values": message, "as_node": "model"}):
        assert client.http.post(f"/threads/{thread_id}/state", json=body).status_code == 409, body
    assert client.state(thread_id)["interrupts"] == [asked]
    assert client.resume(thread_id, "puppet", "skip").status_code == 200
