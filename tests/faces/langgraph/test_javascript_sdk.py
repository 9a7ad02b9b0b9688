"""LangGraph's own client for JavaScript, in Node."""

import json
import subprocess
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from tests.support import langgraph
from tests.support.agui import CLIENTS
from tests.support.node import node
from tests.support.server import ServerProcess

Call = Callable[..., dict[str, Any]]
GIVEN = {"q": "x"}


@pytest.fixture(name="call")
def started(graphs: ServerProcess) -> Generator[Call]:
    assert (CLIENTS / "node_modules/@langchain/langgraph-sdk").exists(), "its npm package is not installed"
    program = [node(), str(Path(langgraph.__file__).with_name("langgraph_client.mjs"))]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=CLIENTS) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        given, said = process.stdin, process.stdout

        def call(part: str, method: str, *args: Any) -> dict[str, Any]:
            return send(part=part, method=method, args=args)

        def send(**fields: Any) -> dict[str, Any]:
            given.write(json.dumps(fields) + "\n")
            given.flush()
            line = said.readline()
            assert line, "the client ended"
            return json.loads(line)

        send(url=graphs.url)
        try:
            yield call
        finally:
            process.kill()


def test_a_thread_from_its_making_to_its_end(call: Call) -> None:
    thread_id = call("threads", "create")["result"]["thread_id"]
    options = {"input": GIVEN, "streamMode": ["values", "updates"]}
    chunks = call("runs", "stream", thread_id, "one_node", options)["result"]
    assert [one["event"] for one in chunks][-1] == "end"
    [interrupt] = chunks[-2]["data"]["__interrupt__"]
    state = call("threads", "getState", thread_id)["result"]
    assert state["tasks"][0]["interrupts"][0]["id"] == interrupt["id"]
    [found] = call("threads", "search", {"status": "interrupted", "ids": [thread_id]})["result"]
    assert found["thread_id"] == thread_id
    resume = {"command": {"resume": {interrupt["id"]: "yes"}}}
    first = call("runs", "create", thread_id, "one_node", resume)["result"]
    again = call("runs", "create", thread_id, "one_node", resume)["result"]
    assert first["run_id"] == again["run_id"]
    [then] = call("runs", "join", thread_id, first["run_id"])["result"]["__interrupt__"]
    done = call("runs", "wait", thread_id, "one_node", {"command": {"resume": {then["id"]: "no"}}})["result"]
    assert done["out"] == ["yes", "no"]
    assert len(call("threads", "getHistory", thread_id, {"limit": 10})["result"]) >= 3
    rejoined = call("runs", "joinStream", thread_id, first["run_id"], {"lastEventId": "-1"})["result"]
    assert rejoined[-1]["event"] == "end"


def test_graphs_inside_are_told(call: Call) -> None:
    thread_id = call("threads", "create")["result"]["thread_id"]
    options = {"input": GIVEN, "streamMode": ["values", "updates"], "streamSubgraphs": True}
    chunks = call("runs", "stream", thread_id, "deep", options)["result"]
    levels = ["values", "values|outer", "values|outer|bottom"]
    assert [name for name in levels if name in {_without_ids(one["event"]) for one in chunks}] == levels
    more = {"lastEventId": "-1", "streamMode": options["streamMode"]}
    joined = call("runs", "joinStream", thread_id, chunks[0]["data"]["run_id"], more)["result"]
    assert [(one["event"], one["data"]) for one in joined] == [(one["event"], one["data"]) for one in chunks]

    # As pages look for what a subagent said.
    [outer] = call("threads", "getState", thread_id)["result"]["tasks"]
    place = {"checkpoint_ns": outer["checkpoint"]["checkpoint_ns"]}
    [inside] = call("threads", "getHistory", thread_id, {"limit": 1, "checkpoint": place})["result"]
    assert (inside["checkpoint"]["checkpoint_ns"], inside["next"]) == (place["checkpoint_ns"], ["bottom"])
    assert call("threads", "getState", thread_id, place)["result"] == inside


def _without_ids(event: str) -> str:
    return "|".join(part.partition(":")[0] for part in event.split("|"))


def test_a_refusal_is_not_sent_again(call: Call) -> None:
    thread_id = call("threads", "create")["result"]["thread_id"]
    refused = call("runs", "create", thread_id, "one_node", {"command": {"resume": "yes"}})
    assert (refused["status"], refused["requests"]) == (409, 1)
    assert "nothing_pending" in refused["error"]


def test_assistants(call: Call) -> None:
    [found] = call("assistants", "search", {"graphId": "plain"})["result"]
    assert call("assistants", "get", found["assistant_id"])["result"]["graph_id"] == "plain"
    assert call("assistants", "getGraph", "plain")["result"]["nodes"]
