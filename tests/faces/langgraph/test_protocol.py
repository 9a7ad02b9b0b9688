"""v2: commands, and all of a thread as events, over a stream and over a socket."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.sync.connection import Connection

from tests.support.langgraph import LanggraphClient
from tests.support.puppet import calls, says, script
from tests.support.threads import ThreadsClient, bounded
from tests.support.witness import Witness

ALL = ["lifecycle", "input", "values", "messages", "tools", "custom", "updates"]


def command(client: LanggraphClient, thread_id: str, method: str, **params: Any) -> dict[str, Any]:
    body = {"id": 7, "method": method, "params": params}
    reply = client.http.post(f"/threads/{thread_id}/commands", json=body)
    assert reply.status_code == 200, reply.text
    assert reply.json()["id"] == 7
    return reply.json()


def start(
    client: LanggraphClient, agent: str, thread_id: str | None = None, **given: Any
) -> tuple[str, dict[str, Any]]:
    thread_id = thread_id or str(uuid.uuid4())
    return thread_id, command(client, thread_id, "run.start", assistant_id=agent, input={"q": "x", **given})


def events(
    client: LanggraphClient, thread_id: str, until: str, count: int = 1, since: int | None = None, **more: Any
) -> list[dict[str, Any]]:
    """Everything up to the `count`-th lifecycle event of this name, of the graph itself."""
    found: list[dict[str, Any]] = []
    body = {"channels": ALL, **more, **({} if since is None else {"since": since})}
    with client.http.stream("POST", f"/threads/{thread_id}/stream/events", json=body) as reply:
        assert reply.status_code == 200
        for event in _events(bounded(reply.iter_lines())):
            found.append(event)
            if event["method"] == "lifecycle" and _of_root(event) == until:
                count -= 1
                if not count:
                    return found
    raise AssertionError("the stream ended")


def _events(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    return (json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: "))


def _of_root(event: dict[str, Any]) -> str | None:
    return None if event["params"]["namespace"] else event["params"]["data"]["event"]


def told(events: list[dict[str, Any]], method: str) -> list[Any]:
    return [one["params"]["data"] for one in events if one["method"] == method]


def test_a_run_asks_is_answered_and_ends_on_one_stream(client: LanggraphClient) -> None:
    thread_id, started = start(client, "one_node")
    assert started["result"]["run_id"]
    first = events(client, thread_id, "interrupted")
    [asked] = told(first, "input.requested")
    assert asked["payload"] == asked["value"] == {"question": "delete x/staging?"}
    assert [one["event"] for one in told(first, "lifecycle")] == ["running", "interrupted"]
    assert first[-2]["method"] == "input.requested"
    assert client.state(thread_id)["tasks"][0]["interrupts"][0]["id"] == asked["interrupt_id"]
    answered = command(
        client, thread_id, "input.respond", interrupt_id=asked["interrupt_id"], namespace=[], response="yes"
    )
    assert (answered["type"], answered["result"]) == ("success", {})
    border = answered["meta"]["applied_through_seq"]
    assert first[-1]["seq"] <= border
    second = events(client, thread_id, "interrupted", 2)
    assert [one["event"] for one in told(second, "lifecycle")] == ["running", "interrupted", "running", "interrupted"]
    # Of the questions only the one that is open is told.
    [then] = [one for one in second if one["method"] == "input.requested"]
    assert then["seq"] > border
    seqs = [one["seq"] for one in second]
    assert seqs == sorted(set(seqs))
    assert "__interrupt__" not in json.dumps(told(second, "values"))
    later = events(client, thread_id, "interrupted", since=border)
    assert all(one["seq"] > border for one in later)
    command(client, thread_id, "input.respond", interrupt_id=then["params"]["data"]["interrupt_id"], response="no")
    whole = events(client, thread_id, "completed")
    assert told(whole, "values")[-1]["out"] == ["yes", "no"]
    assert {one["event_id"] for one in first if one["method"] != "input.requested"} <= {
        one["event_id"] for one in whole
    }


@pytest.mark.parametrize("agent", ["one_node", "two_nodes"])
def test_an_answer_that_is_sent_twice_answers_one_question(
    client: LanggraphClient, witness: Witness, agent: str
) -> None:
    thread_id, _ = start(client, agent, q=(name := uuid.uuid4().hex))
    asked = told(events(client, thread_id, "interrupted"), "input.requested")[0]["interrupt_id"]
    replies = [command(client, thread_id, "input.respond", interrupt_id=asked, response="yes") for _ in range(3)]
    assert {one["type"] for one in replies} == {"success"}
    refused = command(client, thread_id, "input.respond", interrupt_id=asked, response="other")
    assert (refused["error"], refused["code"]) == ("no_such_interrupt", "already_settled")
    events(client, thread_id, "interrupted", 2)
    assert witness.count(f"{name}/production") == 0


def test_input_on_a_paused_thread_is_no_answer(client: LanggraphClient, witness: Witness) -> None:
    thread_id, _ = start(client, "one_node")
    events(client, thread_id, "interrupted")
    name = uuid.uuid4().hex
    start(client, "one_node", thread_id, q=name)
    told_since = events(client, thread_id, "interrupted", 2)
    [asked] = told(told_since, "input.requested")
    assert asked["payload"] == {"question": f"delete {name}/staging?"}
    assert witness.count(f"{name}/production") == 0


def test_what_is_malformed(client: LanggraphClient) -> None:
    thread_id = client.thread()
    path = f"/threads/{thread_id}/commands"
    for body in ({}, {"id": "1", "method": "run.start"}, {"id": 1, "method": 2}):
        reply = client.http.post(path, json=body)
        assert (reply.status_code, reply.json()["type"], reply.json()["error"]) == (400, "error", "invalid_argument")
    assert command(client, thread_id, "state.get")["error"] == "unknown_command"
    assert command(client, thread_id, "run.start", assistant_id="nobody", input={})["error"] == "invalid_argument"
    assert (
        command(client, thread_id, "input.respond", interrupt_id="0" * 32, response=1)["error"] == "no_such_interrupt"
    )
    events_path = f"/threads/{thread_id}/stream/events"
    assert client.http.post(events_path, json={"channels": ["nothing"]}).status_code == 400
    assert client.http.post(f"/threads/{uuid.uuid4()}/stream/events", json={"channels": ALL}).status_code == 404


def test_messages_and_tools(alice: ThreadsClient) -> None:
    with LanggraphClient.of(alice) as client:
        thread_id = client.thread()
        said = script(calls(("note", {"name": uuid.uuid4().hex}), say=["I ", "note."]), says("Do", "ne"))
        given = {"messages": [{"type": "human", "content": said}]}
        command(client, thread_id, "run.start", assistant_id="puppet", input=given)
        whole = events(client, thread_id, "completed")
    messages = told(whole, "messages")
    finished = [
        one["content"]["text"] for one in messages if one["event"] == "content-block-finish" and one["index"] == 0
    ]
    assert finished == ["I note.", "Done"]
    assert [one["event"] for one in messages].count("message-finish") == 2
    assert [one["event"] for one in told(whole, "tools")] == ["tool-started", "tool-finished"]
    assert [one["type"] for one in told(whole, "values")[-1]["messages"]] == ["human", "ai", "tool", "ai"]


def test_channels_and_namespaces_are_filters(client: LanggraphClient) -> None:
    thread_id, _ = start(client, "plain")
    live = events(client, thread_id, "completed")
    # Its steps come with its end by now, and change no number of what is not of them.
    whole = events(client, thread_id, "completed")
    for channel in ("lifecycle", "custom"):
        only = events(client, thread_id, "completed", channels=["lifecycle", channel])
        for both in (live, whole):
            assert only == [one for one in both if one["method"] in ("lifecycle", channel)]
    assert [one["seq"] for one in whole] == sorted({one["seq"] for one in whole})


def test_a_depth_counts_below_the_namespaces(client: LanggraphClient) -> None:
    thread_id, _ = start(client, "nested")

    def levels(**more: Any) -> list[int]:
        whole = events(client, thread_id, "interrupted", channels=["lifecycle"], **more)
        return [len(one["params"]["namespace"]) for one in whole]

    assert levels() == levels(depth=1) == [0, 1, 1, 0]
    assert levels(depth=0) == levels(namespaces=[[]], depth=0) == [0, 0]
    assert levels(namespaces=[[], ["outer"]], depth=0) == [0, 1, 1, 0]
    wrong = {"channels": ["lifecycle"], "depth": -1}
    assert client.http.post(f"/threads/{thread_id}/stream/events", json=wrong).status_code == 400


def test_steps_are_told_with_their_checkpoint_before_their_values(client: LanggraphClient) -> None:
    thread_id, _ = start(client, "plain")
    channels = ["lifecycle", "checkpoints", "tasks", "values"]
    live = events(client, thread_id, "completed", channels=channels)
    steps = [one for one in live if one["method"] != "lifecycle"]
    methods = [one["method"] for one in steps]
    assert methods == ["checkpoints", "values", *["checkpoints", "tasks", "values"] * 2]
    history = client.http.post(f"/threads/{thread_id}/history", json={"limit": 10}).json()
    told_steps = [(one["id"], one["parent_id"], one["step"]) for one in told(live, "checkpoints")]
    assert told_steps == [
        (one["checkpoint_id"], one["parent_checkpoint_id"], one["metadata"]["step"]) for one in history[-2::-1]
    ]
    assert [(one["name"], one["result"]) for one in told(live, "tasks")] == [
        ("first", {"out": ["first"]}),
        ("second", {"out": ["second"]}),
    ]


def test_a_number_that_was_never_reached_hides_nothing(client: LanggraphClient) -> None:
    thread_id, body = client.thread(), {"channels": ["lifecycle"], "since": 10**30}
    with client.http.stream("POST", f"/threads/{thread_id}/stream/events", json=body) as reply:
        start(client, "plain", thread_id)
        first = next(_events(bounded(reply.iter_lines())))
    assert first["params"]["data"]["event"] == "running"


def lives(events: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    found = [one["params"] for one in events if one["method"] == "lifecycle"]
    return [(one["data"]["event"], one["namespace"]) for one in found]


def test_what_a_graph_inside_asks_is_in_every_view_and_its_place_in_the_tree(client: LanggraphClient) -> None:
    thread_id, asked = client.asked("nested")
    assert asked["value"] == {"question": asked["value"]["question"]}
    state = client.http.get(f"/threads/{thread_id}/state?subgraphs=1").json()
    [outer] = state["tasks"]
    [inside] = outer["state"]["tasks"]
    assert [one["interrupts"][0]["id"] for one in (outer, inside)] == [asked["id"]] * 2
    space = outer["state"]["checkpoint"]["checkpoint_ns"]
    assert (space.partition(":")[0], inside["name"]) == ("outer", "inner")
    paused = events(client, thread_id, "interrupted")
    [told_of] = told(paused, "input.requested")
    assert told_of["interrupt_id"] == asked["id"]
    asking: list[tuple[str, list[str]]] = [
        ("running", []),
        ("started", [space]),
        ("interrupted", [space]),
        ("interrupted", []),
    ]
    assert lives(paused) == asking
    tree = command(client, thread_id, "agent.getTree")["result"]["tree"]
    child = {"namespace": [space], "status": "interrupted", "graph_name": "outer", "children": []}
    assert tree == {"namespace": [], "status": "interrupted", "graph_name": "nested", "children": [child]}
    command(client, thread_id, "input.respond", interrupt_id=asked["id"], response="yes")
    whole = events(client, thread_id, "completed", channels=["lifecycle"])
    assert lives(whole) == [*asking, ("running", []), ("completed", [space]), ("completed", [])]
    body = {"channels": ["lifecycle"], "namespaces": [["outer"]]}
    with client.http.stream("POST", f"/threads/{thread_id}/stream/events", json=body) as reply:
        assert next(_events(bounded(reply.iter_lines()))) == whole[1]
    done = command(client, thread_id, "agent.getTree")["result"]["tree"]
    assert (done["status"], done["children"]) == ("completed", [])
    assert client.state(thread_id)["values"]["out"] == ["yes"]
    names = client.http.get("/assistants/nested/subgraphs").json()
    assert names.keys() == {"outer"}
    assert client.http.get("/assistants/nested/subgraphs/outer").json() == names


def socket(client: LanggraphClient, thread_id: str) -> ClientConnection:
    url = str(client.http.base_url).replace("http", "ws").rstrip("/")
    headers = {name: text for name, text in client.http.headers.items() if name == "authorization"}
    return connect(f"{url}/threads/{thread_id}/stream/events", open_timeout=30, additional_headers=headers)


def ask(ws: Connection, number: int, method: str, **params: Any) -> None:
    ws.send(json.dumps({"id": number, "method": method, "params": params}))


def until(ws: Connection, **fields: Any) -> dict[str, Any]:
    while not fields.items() <= (message := json.loads(ws.recv(timeout=30))).items():
        pass
    return message


def test_a_socket_has_a_bound_and_survives_what_is_no_text(client: LanggraphClient) -> None:
    thread_id = client.thread()
    with socket(client, thread_id) as ws:
        for frame in (b"\xff", b"[]", "", '{"id": NaN}'):
            ws.send(frame)
            assert json.loads(ws.recv(timeout=30))["error"] == "invalid_argument"
        for number in range(101):
            ask(ws, number, "subscription.subscribe", channels=["lifecycle"])
        assert (until(ws, id=99)["type"], until(ws, id=100)["type"]) == ("success", "error")


def test_a_socket_is_not_left_silent(client: LanggraphClient) -> None:
    thread_id = client.thread()
    with socket(client, thread_id) as ws:
        ask(ws, 1, "subscription.subscribe", channels=["lifecycle"])
        until(ws, id=1)
        assert client.http.delete(f"/threads/{thread_id}").status_code == 204
        with pytest.raises(ConnectionClosed) as closed:
            ws.recv(timeout=30)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1013


def test_halves_of_characters_come_over_a_socket(alice: ThreadsClient) -> None:
    with LanggraphClient.of(alice) as client:
        thread_id = client.thread()
        with socket(client, thread_id) as ws:
            ask(ws, 1, "subscription.subscribe", channels=["lifecycle", "messages"])
            until(ws, id=1)
            said = json.dumps([says("\ud83d", "\ude00 it is")])
            given = {"messages": [{"type": "human", "content": said}]}
            ask(ws, 2, "run.start", assistant_id="puppet", input=given)
            while (event := until(ws, type="event"))["params"]["data"]["event"] != "completed":
                pass
    assert event["method"] == "lifecycle"


def test_all_of_it_over_a_socket(client: LanggraphClient) -> None:
    thread_id = client.thread()
    with socket(client, thread_id) as ws:
        ws.send("{")
        assert json.loads(ws.recv(timeout=30))["id"] is None
        ask(ws, 1, "subscription.subscribe", channels=["lifecycle", "input"])
        subscribed = until(ws, id=1)["result"]
        ask(ws, 2, "run.start", assistant_id="one_node", input={"q": "x"})
        assert until(ws, id=2)["type"] == "success"
        asked = until(ws, method="input.requested")["params"]["data"]
        ask(ws, 3, "input.respond", interrupt_id=asked["interrupt_id"], response="yes")
        until(ws, method="input.requested")
        ask(ws, 4, "subscription.unsubscribe", subscription_id=subscribed["subscription_id"])
        assert until(ws, id=4)["type"] == "success"
        ask(ws, 5, "subscription.unsubscribe", subscription_id="none")
        assert until(ws, id=5)["error"] == "no_such_subscription"
        ask(ws, 6, "subscription.reconnect", run_id="any", subscriptions=[subscribed["subscription_id"]])
        assert until(ws, id=6)["result"] == {"restored": False}


def test_a_socket_is_refused_by_its_code(client: LanggraphClient, alice: ThreadsClient) -> None:
    with socket(client, str(uuid.uuid4())) as ws, pytest.raises(ConnectionClosed) as closed:
        ws.recv(timeout=30)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4404
    with LanggraphClient(str(alice.http.base_url)) as nobody:
        with socket(nobody, str(uuid.uuid4())) as ws, pytest.raises(ConnectionClosed) as closed:
            ws.recv(timeout=30)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4401
