"""v1 streams: modes, headers, ids, and joining again."""

import json
import uuid
from typing import Any

import pytest

from tests.support.langgraph import LanggraphClient, Stream, frames
from tests.support.puppet import calls, says, script
from tests.support.rows import stop_reason
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient, bounded
from tests.support.waiting import wait_for
from tests.support.witness import Witness

BODY = {"assistant_id": "plain", "input": {"q": "x"}}


def joined(client: LanggraphClient, stream: Stream, last: str | None, modes: str) -> Stream:
    headers = {"last-event-id": last} if last is not None else {}
    reply = client.http.get(stream.headers["location"] + modes, headers=headers)
    return Stream(list(frames(reply)), reply.headers)


def test_values_and_updates_step_by_step(client: LanggraphClient) -> None:
    thread_id = client.thread()
    stream = client.stream(thread_id, {**BODY, "stream_mode": ["values", "updates", "custom"]})
    assert [one.event for one in stream.frames[:1]] == ["metadata"]
    assert (stream.frames[-1].event, stream.frames[-1].data) == ("end", None)
    assert [one["out"] for one in stream.all("values")] == [[], ["first"], ["first", "second"]]
    assert stream.all("updates") == [{"first": {"out": ["first"]}}, {"second": {"out": ["second"]}}]
    assert stream.all("custom") == [{"at": "first"}]
    run_id = stream.all("metadata")[0]["run_id"]
    assert stream.headers["content-location"] == f"/threads/{thread_id}/runs/{run_id}"
    assert stream.headers["location"] == f"/threads/{thread_id}/runs/{run_id}/stream"
    assert all(one.id for one in stream.frames)


def test_updates_come_only_where_they_are_asked_for(client: LanggraphClient) -> None:
    stream = client.stream(client.thread(), {"assistant_id": "one_node", "input": {"q": "x"}})
    assert {one.event for one in stream.frames} == {"metadata", "values", "end"}
    [interrupt] = stream.interrupts
    assert interrupt.keys() == {"id", "value", "response_schema"}
    both = client.stream(
        client.thread(), {"assistant_id": "one_node", "input": {"q": "x"}, "stream_mode": ["updates", "values"]}
    )
    assert both.all("updates")[-1]["__interrupt__"] == both.interrupts


def test_a_breakpoint_has_no_interrupts(client: LanggraphClient) -> None:
    stream = client.stream(client.thread(), {**BODY, "interrupt_before": "*", "stream_mode": "updates"})
    assert stream.all("updates")[-1] == {"__interrupt__": []}


def test_events_of_nodes(client: LanggraphClient) -> None:
    stream = client.stream(client.thread(), {**BODY, "stream_mode": "events"})
    told = [(one["event"], one["metadata"]["langgraph_node"]) for one in stream.all("events")]
    assert told == [
        ("on_chain_start", "first"),
        ("on_chain_end", "first"),
        ("on_chain_start", "second"),
        ("on_chain_end", "second"),
    ]


def test_a_failure_ends_the_stream(client: LanggraphClient) -> None:
    stream = client.stream(client.thread(), {"assistant_id": "broken", "input": {"q": "x"}})
    assert stream.frames[-1].event == "error"
    assert stream.frames[-1].data["message"] == "RuntimeError: it broke"


@pytest.mark.parametrize("last", [None, "-1", "-", ""])
def test_a_finished_run_is_told_again(client: LanggraphClient, last: str | None) -> None:
    stream = client.stream(client.thread(), {**BODY, "stream_mode": ["values", "updates"]})
    again = joined(client, stream, last, "?stream_mode=values&stream_mode=updates")
    assert [(one.event, one.data) for one in again.frames] == [(one.event, one.data) for one in stream.frames]


def test_what_follows_an_id(client: LanggraphClient) -> None:
    stream = client.stream(client.thread(), {**BODY, "stream_mode": ["values"]})
    for place, frame in enumerate(stream.frames[:-1]):
        rest = joined(client, stream, frame.id, '?stream_mode=["values"]')
        assert [one.data for one in rest.frames] == [one.data for one in stream.frames[place + 1 :]]
    assert client.http.get(stream.headers["location"], headers={"last-event-id": "x"}).status_code == 422


def test_an_old_question_is_not_told_as_an_open_one(client: LanggraphClient) -> None:
    thread_id = client.thread()
    stream = client.stream(thread_id, {"assistant_id": "one_node", "input": {"q": "x"}})
    assert joined(client, stream, "-1", "").interrupts == stream.interrupts
    client.resume(thread_id, "one_node", {stream.interrupts[0]["id"]: "yes"})
    again = joined(client, stream, "-1", "")
    assert again.interrupts == []
    assert again.frames[-1].event == "end"


def test_messages_come_in_pieces_and_with_their_calls(alice: ThreadsClient) -> None:
    with LanggraphClient.of(alice) as client:
        check_messages(client)


def check_messages(client: LanggraphClient) -> None:
    said = script(calls(("note", {"name": uuid.uuid4().hex}), say=["I ", "note."]), says("Do", "ne"))
    body: dict[str, Any] = {
        "assistant_id": "puppet",
        "input": {"messages": [{"type": "human", "content": said}]},
        "stream_mode": ["messages-tuple", "values"],
    }
    stream = client.stream(client.thread(), body)
    told = stream.all("messages")
    # A message that was finished before anybody followed comes as a whole.
    texts = "".join(chunk["content"] for chunk, _ in told if chunk["type"] in ("AIMessageChunk", "ai"))
    assert texts == "I note.Done"
    [call] = [chunk["tool_calls"][0] for chunk, _ in told if chunk.get("tool_calls")]
    assert call["name"] == "note"
    [result] = [chunk for chunk, _ in told if chunk["type"] == "tool"]
    assert (result["tool_call_id"], bool(result["id"])) == (call["id"], True)
    assert all(where["langgraph_node"] for _, where in told)
    kinds = [one["type"] for one in stream.all("values")[-1]["messages"]]
    assert kinds == ["human", "ai", "tool", "ai"]
    again = joined(client, stream, "-1", "?stream_mode=messages-tuple")
    whole = "".join(chunk["content"] for chunk, _ in again.all("messages") if chunk["type"] == "ai")
    assert whole == "I note.Done"


def test_a_quiet_run_shows_that_it_is_alive(client: LanggraphClient, witness: Witness) -> None:
    """By one newline: LangGraph's client for JavaScript makes an empty event of each blank line."""
    name, thread_id = uuid.uuid4().hex, client.thread()
    run_id = client.post(thread_id, "", {"assistant_id": "slow", "input": {"q": name}}).json()["run_id"]
    path = f"/threads/{thread_id}/runs/{run_id}"
    with client.http.stream("GET", f"{path}/join") as joined, client.http.stream("GET", f"{path}/stream") as followed:
        waited, pieces = bounded(joined.iter_text()), bounded(followed.iter_text())
        assert next(waited).strip() == ""
        told = ""
        while ": keep-alive" not in told:
            told += next(pieces)
        witness.release(name)
        told += "".join(pieces)
        values = json.loads("".join(waited))
    assert values["out"] == ["went on", "second"]
    assert ": keep-alive\n\n" not in told
    assert told.endswith("event: end\ndata: null\n\n")


@pytest.mark.parametrize("how", ["stream", "wait"])
def test_who_leaves_says_whether_the_run_is_to_stop(
    client: LanggraphClient, graphs: ServerProcess, witness: Witness, how: str
) -> None:
    left: dict[str, tuple[str, str]] = {}
    # The one that may go on first: when the other was asked to stop, its time has passed as well.
    for choice in ("continue", "cancel"):
        name, thread_id = uuid.uuid4().hex, client.thread()
        body = {"assistant_id": "slow", "input": {"q": name}, "on_disconnect": choice}
        with LanggraphClient(graphs.url) as leaving:
            path = f"/threads/{thread_id}/runs/{how}"
            with leaving.http.stream("POST", path, json=body) as reply:
                left[choice] = name, reply.headers["content-location"]
                wait_for(lambda name=name: witness.count(f"at:{name}"), bool)
    places = [place for _, place in left.values()]
    wait_for(lambda: [stop_reason(graphs, place.rpartition("/")[2]) for place in places], lambda seen: bool(seen[1]))
    assert stop_reason(graphs, places[0].rpartition("/")[2]) is None
    for name, _ in left.values():
        witness.release(name)
    joined = {choice: client.http.get(f"{place}/join").json()["out"] for choice, (_, place) in left.items()}
    assert joined == {"continue": ["went on", "second"], "cancel": ["went on"]}
    assert client.http.get(left["cancel"][1]).json()["status"] == "interrupted"
