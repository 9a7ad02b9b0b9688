"""`stream_subgraphs`: what graphs inside of the graph do, told under their namespaces."""

import uuid
from collections.abc import Iterable
from itertools import dropwhile
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command
from langgraph_sdk import get_sync_client

from tests.support import langgraph_agents
from tests.support.langgraph import LanggraphClient, Stream, frames
from tests.support.server import ServerProcess

MODES = ["values", "updates"]
INPUT = {"q": "x"}
Told = tuple[tuple[str, ...], str, Any]


def told(parts: Iterable[tuple[Iterable[str], str, Any]]) -> list[Told]:
    """Without the ids in namespaces, and without what asks, which is told in a form of its own."""
    named = [(tuple(one.partition(":")[0] for one in space), mode, data) for space, mode, data in parts]
    return [one for one in named if one[1] in MODES and "__interrupt__" not in one[2]]


def read(parts: Iterable[Any]) -> list[Told]:
    names = [(one.event.split("|"), one.data) for one in parts]
    return told((space, mode, data) for [mode, *space], data in names)


@pytest.fixture(scope="module")
def original() -> list[list[Told]]:
    """What LangGraph itself tells of the runs; where an answer goes on it begins with the states that are known."""
    graph = langgraph_agents.deep.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": uuid.uuid4().hex}}
    asked, *answers = [
        told(graph.stream(given, config, stream_mode=MODES, subgraphs=True))
        for given in (INPUT, Command(resume="yes"), Command(resume="no"))
    ]
    return [asked, *([*dropwhile(lambda one: one[1] == "values", run)] for run in answers)]


def after(client: LanggraphClient, stream: Stream, last: str | None) -> list[Told]:
    headers = {"last-event-id": last} if last else {}
    return read(frames(client.http.get(stream.headers["location"], headers=headers)))


def test_graphs_inside_are_told_as_langgraph_tells_them(client: LanggraphClient, original: list[list[Told]]) -> None:
    thread_id = client.thread()
    body = {"assistant_id": "deep", "stream_mode": MODES, "stream_subgraphs": True}
    streams = [client.stream(thread_id, {**body, "input": INPUT})]
    for answer in ("yes", "no"):
        # Questions are told once, at the root, where all of them stand.
        asking = [one.event for one in streams[-1].frames if "__interrupt__" in (one.data or {})]
        assert asking == ["updates", "values"]
        resume = {streams[-1].interrupts[0]["id"]: answer}
        streams.append(client.stream(thread_id, {**body, "command": {"resume": resume}}))
    assert [read(one.frames) for one in streams] == original
    for stream, whole in zip(streams, original, strict=True):
        assert after(client, stream, None) == whole
        for place, frame in enumerate(stream.frames):
            # The steps inside of an unfinished step come again.
            rest = read(stream.frames[place + 1 :])
            assert after(client, stream, frame.id)[-len(rest) or len(whole) :] == rest


def test_the_python_client_and_a_remote_graph(graphs: ServerProcess, original: list[list[Told]]) -> None:
    with get_sync_client(url=graphs.url) as client:
        # Untyped: what it gives is JSON.
        sdk: Any = client
        remote: Any = RemoteGraph("deep", sync_client=client)
        config: Any = {"configurable": {"thread_id": sdk.threads.create()["thread_id"]}}
        given: Any = INPUT
        for run in original:
            parts: Any = remote.stream(given, config, stream_mode=MODES, subgraphs=True)
            assert told(parts) == run
            given = Command(resume="yes" if given is INPUT else "no")
        thread_id = sdk.threads.create()["thread_id"]
        modes: Any = [*MODES, "tasks", "checkpoints", "debug", "events"]
        parts = list(sdk.runs.stream(thread_id, "deep", input=INPUT, stream_mode=modes, stream_subgraphs=True))
        assert read(parts) == original[0]
        spaces = {mode: {one.event.count("|") for one in parts if one.event.split("|")[0] == mode} for mode in modes}
        assert spaces == {**{mode: {0, 1, 2} for mode in modes}, "updates": {0, 1}, "events": {0}}
        inside = {one.data["metadata"]["langgraph_checkpoint_ns"].count("|") for one in parts if one.event == "events"}
        assert inside == {0, 1, 2}
        # Who joins cannot ask for it, and gets what the run was begun with.
        run_id = parts[0].data["run_id"]
        joined = sdk.runs.join_stream(thread_id, run_id, stream_mode=MODES)
        assert read(joined) == original[0]
        plain = sdk.runs.stream(None, "deep", input=INPUT, stream_mode=MODES)
        assert not any("|" in one.event for one in plain)


@pytest.mark.parametrize("separator", ["|", "\0"], ids=["langgraph", "react"])
def test_the_past_of_a_graph_inside_is_told_by_its_namespace(client: LanggraphClient, separator: str) -> None:
    thread_id, asked = client.asked("deep")
    [outer] = client.http.get(f"/threads/{thread_id}/state?subgraphs=1").json()["tasks"]
    [bottom] = outer["state"]["tasks"]
    for level, task in enumerate((outer, bottom), 1):
        place = {"checkpoint_ns": task["checkpoint"]["checkpoint_ns"].replace("|", separator)}
        states = client.http.post(f"/threads/{thread_id}/history", json={"limit": 10, "checkpoint": place}).json()
        assert {one["checkpoint"]["checkpoint_ns"].count("|") for one in states} == {level - 1}
        assert states[0]["checkpoint"] == task["state"]["checkpoint"]
        assert [one["id"] for one in states[0]["interrupts"]] == [asked["id"]]
        assert [one["interrupts"] for one in states[1:]] == [[]] * (len(states) - 1)
        path = f"/threads/{thread_id}/state"
        assert client.http.post(f"{path}/checkpoint", json={"checkpoint": place}).json() == states[0]
        first = {**place, "checkpoint_id": states[-1]["checkpoint_id"]}
        assert client.http.post(f"{path}/checkpoint", json={"checkpoint": first}).json() == states[-1]
        written = client.http.post(path, json={"values": {"out": ["x"]}, "checkpoint": place})
        assert (written.status_code, written.json()["code"]) == (422, "not_supported")


def test_the_past_of_a_graph_that_a_tool_called_is_told_by_its_namespace(client: LanggraphClient) -> None:
    """As pages look for what subagents said, which LangGraph does not find in the graph."""
    thread_id = client.thread()
    body = {"assistant_id": "helped", "input": {"q": "x"}}
    assert client.post(thread_id, "wait", body).json()["out"] == ["first", "second", "helped"]
    [asking] = client.http.post(f"/threads/{thread_id}/history", json={"limit": 10, "metadata": {"step": 0}}).json()
    [task] = asking["tasks"]
    place = {"checkpoint_ns": f"{task['name']}:{task['id']}"}
    history = {"limit": 10, "checkpoint": place}
    states = client.http.post(f"/threads/{thread_id}/history", json=history).json()
    assert [one["values"].get("out", []) for one in states] == [["first", "second"], ["first"], [], []]
    assert states[0]["values"] == {"q": "x", "out": ["first", "second"]}
    assert states[0]["checkpoint"]["checkpoint_ns"] == place["checkpoint_ns"]
    older = {**history, "before": states[1]["checkpoint"]}
    assert client.http.post(f"/threads/{thread_id}/history", json=older).json() == states[2:]
    newest = client.http.post(f"/threads/{thread_id}/state/checkpoint", json={"checkpoint": place}).json()
    assert newest == states[0]
    unknown = {"checkpoint": {"checkpoint_ns": "tools:none"}}
    assert client.http.post(f"/threads/{thread_id}/history", json=unknown).json() == []
