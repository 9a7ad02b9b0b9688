"""What was asked before a crash is asked after it, under the same id; and what was answered stays answered."""

from pathlib import Path

from tests.support.langgraph import SPECS, LanggraphClient
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
