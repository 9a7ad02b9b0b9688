"""Assistants, threads, states, histories and runs, as clients of LangGraph's server use them."""

import json
import uuid
from typing import Any

import httpx
import pytest

from tests.support.langgraph import NAMES, LanggraphClient
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness


def run(client: LanggraphClient, agent: str = "plain", **more: Any) -> tuple[str, Any]:
    thread_id = client.thread()
    return thread_id, client.post(thread_id, "wait", {"assistant_id": agent, "input": {"q": "x"}, **more}).json()


def test_probes_need_no_credential(root: ThreadsClient) -> None:
    with LanggraphClient(str(root.http.base_url)) as bare:
        assert bare.http.get("/ok").json() == {"ok": True}
        info = bare.http.get("/info").json()
        assert (info["flags"]["strict_resume"], info["flags"]["crons"]) == (True, False)
        assert bare.http.post("/threads/search", json={}).status_code == 401


def test_assistants_are_the_agents_hosted_here(client: LanggraphClient) -> None:
    found = client.http.post("/assistants/search", json={"graph_id": "hitl"})
    assert found.headers["x-pagination-total"] == "1"
    [one] = found.json()
    assert (one["assistant_id"], one["metadata"]) == ("d2a02ed8-fb92-5e43-81ea-cb78d82caa2f", {"created_by": "system"})
    for named in ("hitl", one["assistant_id"]):
        assert client.http.get(f"/assistants/{named}").json() == one
    assert client.http.post("/assistants/count", json={}).json() == len(NAMES)
    page = client.http.post("/assistants/search", json={"limit": 3, "select": ["name"]})
    assert (page.headers["x-pagination-next"], page.headers["x-pagination-total"]) == ("3", "4")
    assert all(one.keys() == {"name"} for one in page.json())
    schemas = client.http.get("/assistants/plain/schemas").json()
    kinds = [f"{kind}_schema" for kind in ("input", "output", "state", "config", "context")]
    assert (schemas["graph_id"], sorted(schemas)) == ("plain", sorted(["graph_id", *kinds]))
    drawn = client.http.get("/assistants/plain/graph").json()
    assert {"first", "second"} <= {one["id"] for one in drawn["nodes"]}
    assert client.http.get("/assistants/plain/subgraphs").json() == {}
    assert len(client.http.post("/assistants/plain/versions", json={}).json()) == 1


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/assistants/nobody", 404),
        ("GET", f"/assistants/{uuid.UUID(int=1)}", 404),
        ("POST", "/assistants", 422),
        ("PATCH", "/assistants/plain", 422),
        ("DELETE", "/assistants/plain", 422),
        ("POST", "/assistants/plain/latest", 422),
        ("GET", f"/threads/{uuid.UUID(int=1)}", 404),
        ("GET", f"/threads/{uuid.UUID(int=1)}/state", 404),
        ("POST", f"/threads/{uuid.UUID(int=1)}/history", 404),
        ("POST", f"/threads/{uuid.UUID(int=1)}/stream/events", 400),
        ("DELETE", f"/threads/{uuid.UUID(int=1)}/runs/{uuid.UUID(int=2)}", 422),
        ("POST", "/threads/prune", 422),
        ("POST", "/runs/batch", 422),
        ("POST", "/runs/crons", 404),
        ("GET", "/store/items", 404),
        ("POST", "/store/items/search", 404),
    ],
)
def test_what_is_not_offered_is_no_failure_of_the_server(
    client: LanggraphClient, method: str, path: str, status: int
) -> None:
    reply = client.http.request(method, path, json={} if method != "GET" else None)
    assert reply.status_code == status
    assert "detail" in reply.json()


def test_assistants_that_are_not_there(client: LanggraphClient) -> None:
    thread_id = client.thread()
    unknown = client.post(thread_id, "", {"assistant_id": "nobody", "input": {"q": "x"}})
    assert unknown.status_code == 422
    assert "Invalid assistant ID" in unknown.json()["detail"]
    assert client.post(thread_id, "", {"assistant_id": str(uuid.UUID(int=1))}).status_code == 404


def test_threads_are_made_found_noted_on_and_deleted(client: LanggraphClient) -> None:
    chosen, team = str(uuid.uuid4()), uuid.uuid4().hex
    made = client.http.post("/threads", json={"thread_id": chosen, "metadata": {"team": team}}).json()
    assert (made["thread_id"], made["status"], made["values"]) == (chosen, "idle", None)
    assert client.http.post("/threads", json={"thread_id": chosen}).status_code == 409
    assert client.http.post("/threads", json={"thread_id": chosen, "if_exists": "do_nothing"}).status_code == 200
    assert client.http.post("/threads", json={"thread_id": "mine"}).status_code == 422
    not_kept: list[dict[str, Any]] = [{"ttl": {"ttl": 1}}, {"supersteps": [{"updates": []}]}]
    for more in not_kept:
        assert client.http.post("/threads", json=more).status_code == 422
    patched = client.http.patch(f"/threads/{chosen}", json={"metadata": {"more": 1}}).json()
    assert patched["metadata"].items() >= {"team": team, "more": 1}.items()
    minimal = client.http.patch(f"/threads/{chosen}", json={"metadata": {}}, headers={"prefer": "return=minimal"})
    assert (minimal.status_code, minimal.content) == (204, b"")
    client.post(chosen, "wait", {"assistant_id": "plain", "input": {"q": "x"}})
    [found] = client.http.post("/threads/search", json={"metadata": {"team": team, "graph_id": "plain"}}).json()
    assert (found["metadata"]["graph_id"], found["values"]["out"]) == ("plain", ["first", "second"])
    assert client.http.post("/threads/search", json={"metadata": {"team": team, "graph_id": "hitl"}}).json() == []
    assert client.http.post("/threads/count", json={"metadata": {"team": team}}).json() == 1
    assert client.http.delete(f"/threads/{chosen}").status_code == 204
    assert client.http.get(f"/threads/{chosen}").status_code == 404


def test_a_search_gives_parts_of_threads(client: LanggraphClient) -> None:
    thread_id, _ = run(client)
    paths = {"last": "values.out[-1]", "first": "values.out[0]", "agent": "metadata.graph_id"}
    missing = {"none": "values.out[2]", "odd": "values.out.x", "unknown": "nothing[0]"}
    body = {"ids": [thread_id], "select": ["thread_id"], "extract": {**paths, **missing}}
    [found] = client.http.post("/threads/search", json=body).json()
    there = {"last": "second", "first": "first", "agent": "plain"}
    assert found == {"thread_id": thread_id, "extracted": {**there, **dict.fromkeys(missing)}}
    wrong: list[Any] = [{"a": "values["}, {"a": "..x"}, {"a": 1}, {str(n): "values" for n in range(11)}, ["values"]]
    for extract in wrong:
        assert client.http.post("/threads/search", json={"extract": extract}).status_code == 422, extract


def test_a_search_finds_by_values_of_the_state(client: LanggraphClient) -> None:
    wanted = uuid.uuid4().hex
    ids = [client.thread() for _ in range(3)]
    for thread_id in ids:
        given = {"q": wanted if thread_id != ids[1] else "other"}
        client.post(thread_id, "wait", {"assistant_id": "plain", "input": given}).raise_for_status()
    body = {"values": {"q": wanted}}
    found = client.http.post("/threads/search", json={**body, "limit": 1, "select": ["thread_id"]})
    assert (found.json(), found.headers["x-pagination-next"]) == ([{"thread_id": ids[2]}], "1")
    rest = client.http.post("/threads/search", json={**body, "offset": 1, "select": ["thread_id"]}).json()
    assert rest == [{"thread_id": ids[0]}]
    assert client.http.post("/threads/count", json=body).json() == 2


def test_runs_are_listed_in_pages(client: LanggraphClient) -> None:
    thread_id, body = client.thread(), {"assistant_id": "plain", "input": {"q": "x"}}
    ids = [client.post(thread_id, "", body).json()["run_id"] for _ in range(3)]
    client.http.get(f"/threads/{thread_id}/runs/{ids[-1]}/join").raise_for_status()
    page = client.http.get(f"/threads/{thread_id}/runs?limit=2&select=run_id")
    assert page.json() == [{"run_id": ids[2]}, {"run_id": ids[1]}]
    assert page.headers["x-pagination-next"] == "2"
    assert [one["run_id"] for one in client.http.get(f"/threads/{thread_id}/runs?offset=2").json()] == ids[:1]


@pytest.mark.parametrize("limit", [0, 1001, "many"])
def test_a_search_is_bounded(client: LanggraphClient, limit: Any) -> None:
    assert client.http.post("/threads/search", json={"limit": limit}).status_code == 422


def test_statuses_are_told_and_searched(client: LanggraphClient, witness: Witness) -> None:
    team = uuid.uuid4().hex
    name = uuid.uuid4().hex
    for agent, given in (("one_node", "a"), ("broken", "b"), ("plain", "c"), ("slow", name)):
        thread = client.http.post("/threads", json={"metadata": {"team": team}}).json()["thread_id"]
        how = "" if agent == "slow" else "wait"
        client.post(thread, how, {"assistant_id": agent, "input": {"q": given}}).raise_for_status()
    for status, agent in (("interrupted", "one_node"), ("error", "broken"), ("idle", "plain"), ("busy", "slow")):
        found = client.http.post("/threads/search", json={"metadata": {"team": team}, "status": status}).json()
        assert [one["metadata"]["graph_id"] for one in found] == [agent], status
        assert found[0]["status"] == status
    witness.release(name)
    ordered = client.http.post(
        "/threads/search", json={"metadata": {"team": team}, "sort_by": "created_at", "sort_order": "asc", "limit": 2}
    )
    assert [one["metadata"]["graph_id"] for one in ordered.json()] == ["one_node", "broken"]
    assert ordered.headers["x-pagination-next"] == "2"


def test_a_state_that_never_was(client: LanggraphClient) -> None:
    state = client.state(client.thread())
    assert (state["values"], state["next"], state["tasks"], state["checkpoint"]) == ({}, [], [], None)


def test_states_and_history(client: LanggraphClient) -> None:
    thread_id, values = run(client)
    assert values["out"] == ["first", "second"]
    state = client.state(thread_id)
    assert (state["values"], state["next"], state["checkpoint"]["checkpoint_ns"]) == (values, [], "")
    history = client.http.post(f"/threads/{thread_id}/history", json={"limit": 10}).json()
    assert [one["metadata"]["step"] for one in history] == [2, 1, 0, -1]
    assert history[0]["parent_checkpoint"] == history[1]["checkpoint"]
    assert [one["name"] for one in history[1]["tasks"]] == ["second"]
    assert len(client.http.get(f"/threads/{thread_id}/history").json()) == 1
    second = history[1]["checkpoint_id"]
    for before in (second, {"checkpoint_id": second}, {"configurable": {"checkpoint_id": second}}):
        older = client.http.post(f"/threads/{thread_id}/history", json={"limit": 10, "before": before}).json()
        assert [one["metadata"]["step"] for one in older] == [0, -1]
    past = client.http.get(f"/threads/{thread_id}/state/{second}").json()
    assert past["values"]["out"] == ["first"]
    same = client.http.post(
        f"/threads/{thread_id}/state/checkpoint", json={"checkpoint": {"checkpoint_id": second}}
    ).json()
    assert same == past
    assert client.http.get(f"/threads/{thread_id}/state/{uuid.uuid4()}").status_code == 404


def test_a_state_is_written_between_runs(client: LanggraphClient, witness: Witness) -> None:
    thread_id, _ = run(client)
    written = client.http.post(f"/threads/{thread_id}/state", json={"values": {"out": ["by hand"]}}).json()
    state = client.state(thread_id)
    assert state["checkpoint_id"] == written["checkpoint_id"] == written["configurable"]["checkpoint_id"]
    assert state["values"]["out"] == ["first", "second", "by hand"]
    wrong = client.http.post(f"/threads/{thread_id}/state", json={"values": {}, "as_node": "nobody"})
    assert wrong.status_code == 422
    name = uuid.uuid4().hex
    busy = client.thread()
    client.post(busy, "", {"assistant_id": "slow", "input": {"q": name}})
    wait_for(lambda: witness.count(f"at:{name}"), bool)
    assert client.http.post(f"/threads/{busy}/state", json={"values": {"out": ["x"]}}).status_code == 409
    witness.release(name)


def test_a_state_that_is_not_taken_cancels_nothing(client: LanggraphClient) -> None:
    thread_id, asked = client.asked("one_node")
    for body in ({"values": {"out": 5}}, {"values": {"out": ["x"]}, "as_node": "nobody"}):
        assert client.http.post(f"/threads/{thread_id}/state", json=body).status_code == 422
        assert [one["id"] for one in client.state(thread_id)["interrupts"]] == [asked["id"]]
    taken = client.http.post(f"/threads/{thread_id}/state", json={"values": {"out": ["x"]}, "as_node": "both"})
    assert taken.status_code == 200
    state = client.state(thread_id)
    assert (state["interrupts"], state["values"]["out"]) == ([], ["x"])
    assert state["checkpoint_id"] == taken.json()["checkpoint_id"]


def test_runs_are_listed_and_looked_at(client: LanggraphClient) -> None:
    thread_id, asked = client.asked("one_node")
    assert asked["id"]
    client.resume(thread_id, "one_node", "a secret")
    listed = client.http.get(f"/threads/{thread_id}/runs")
    assert [one["status"] for one in listed.json()] == ["success", "success"]
    assert "a secret" not in listed.text
    one = listed.json()[1]
    assert one["kwargs"]["input"]["q"]
    assert client.http.get(f"/threads/{thread_id}/runs/{one['run_id']}").json() == one
    assert client.http.get(f"/threads/{thread_id}/runs?status=error").json() == []
    assert client.http.get(f"/threads/{client.thread()}/runs/{one['run_id']}").status_code == 404


def test_a_failed_run_says_so_everywhere(client: LanggraphClient) -> None:
    thread_id, outcome = run(client, "broken")
    assert outcome["__error__"]["message"] == "RuntimeError: it broke"
    [failed] = client.http.get(f"/threads/{thread_id}/runs").json()
    assert failed["status"] == "error"
    joined = client.http.get(f"/threads/{thread_id}/runs/{failed['run_id']}/join").json()
    assert joined == outcome
    shown = client.http.get(f"/threads/{thread_id}").json()
    assert (shown["status"], shown["error"]["message"]) == ("error", "RuntimeError: it broke")


def test_a_run_is_cancelled(client: LanggraphClient, witness: Witness) -> None:
    name, thread_id = uuid.uuid4().hex, client.thread()
    active = client.post(thread_id, "", {"assistant_id": "slow", "input": {"q": name}}).json()["run_id"]
    waiting = client.post(thread_id, "", {"assistant_id": "slow", "input": {"q": "later"}}).json()["run_id"]
    wait_for(lambda: witness.count(f"at:{name}"), bool)
    path = f"/threads/{thread_id}/runs"
    assert client.http.post(f"{path}/{waiting}/cancel").status_code == 202
    assert client.http.post(f"{path}/{waiting}/cancel").status_code == 404
    assert client.http.post(f"{path}/{active}/cancel").status_code == 202
    assert client.http.post(f"{path}/{active}/cancel?action=rollback").status_code == 422
    witness.release(name)
    waited = client.http.get(f"{path}/{active}/join")
    assert waited.status_code == 200
    assert client.http.get(f"{path}/{active}").json()["status"] == "interrupted"
    # Nobody is awaited.
    assert client.http.get(f"/threads/{thread_id}").json()["status"] == "idle"
    assert client.http.post(f"{path}/{active}/cancel?wait=1").status_code == 404


def test_a_cancel_that_waits_returns_when_the_state_may_be_written(client: LanggraphClient, witness: Witness) -> None:
    name, thread_id = uuid.uuid4().hex, client.thread()
    active = client.post(thread_id, "", {"assistant_id": "slow", "input": {"q": name}}).json()["run_id"]
    wait_for(lambda: witness.count(f"at:{name}"), bool)

    with client.http.stream("POST", f"/threads/{thread_id}/runs/{active}/cancel?wait=1") as waited:
        # The headers come when the stop is on record.
        witness.release(name)
        assert json.loads(waited.read()) == {"q": name, "out": ["went on"]}
    written = client.http.post(f"/threads/{thread_id}/state", json={"values": {"out": ["x"]}, "as_node": "second"})
    assert written.status_code == 200


def test_an_input_may_reject_wait_or_take_the_place(client: LanggraphClient, witness: Witness) -> None:
    name, thread_id = uuid.uuid4().hex, client.thread()
    first = client.post(thread_id, "", {"assistant_id": "slow", "input": {"q": name}}).json()["run_id"]
    wait_for(lambda: witness.count(f"at:{name}"), bool)
    again = {"assistant_id": "slow", "input": {"q": f"{name}2"}}
    assert client.post(thread_id, "", {**again, "multitask_strategy": "reject"}).status_code == 409
    assert client.post(thread_id, "", {**again, "multitask_strategy": "rollback"}).status_code == 422
    taken = client.post(thread_id, "", {**again, "multitask_strategy": "interrupt"}).json()["run_id"]
    for each in (name, f"{name}2"):
        witness.release(each)
    assert client.http.get(f"/threads/{thread_id}/runs/{taken}/join").json()["out"][-1] == "second"
    assert client.http.get(f"/threads/{thread_id}/runs/{first}").json()["status"] == "interrupted"


def test_an_input_is_sent_once_with_a_key(client: LanggraphClient) -> None:
    thread_id, key = client.thread(), {"idempotency-key": uuid.uuid4().hex}
    body = {"assistant_id": "plain", "input": {"q": "x"}}
    ids = {client.post(thread_id, "", body, **key).json()["run_id"] for _ in range(3)}
    assert len(ids) == 1
    assert len(client.http.get(f"/threads/{thread_id}/runs").json()) == 1


@pytest.mark.parametrize("path", ["/runs", "/runs/batch"])
def test_a_run_without_a_thread_is_begun_once_with_a_key(client: LanggraphClient, path: str) -> None:
    marker = uuid.uuid4().hex
    body = {"assistant_id": "one_node", "input": {"q": "x"}, "metadata": {"once": marker}}

    def send(**more: Any) -> httpx.Response:
        one = {**body, **more}
        headers = {"idempotency-key": f"{marker} {more.get('assistant_id')}"}
        return client.http.post(path, json=[one, one] if path.endswith("batch") else one, headers=headers)

    def runs(reply: httpx.Response) -> list[dict[str, Any]]:
        given: Any = reply.raise_for_status().json()
        return given if path.endswith("batch") else [given]

    ids = [[one["run_id"] for one in runs(send())] for _ in range(3)]
    assert ids == [ids[0]] * 3
    assert len(set(ids[0])) == len(ids[0])
    assert client.http.post("/threads/count", json={"metadata": {"once": marker}}).json() == len(ids[0])
    assert send(input={"q": "y"}).status_code == 422
    for one in runs(send(assistant_id="plain")):
        wait_for(
            lambda one=one: client.http.get(f"/threads/{one['thread_id']}").status_code, lambda status: status == 404
        )
    late = send(assistant_id="plain")
    assert (late.status_code, "ended" in late.json()["detail"]) == (409, True)


def test_a_key_is_for_one_body(client: LanggraphClient) -> None:
    thread_id, key = client.thread(), {"idempotency-key": uuid.uuid4().hex}
    body: dict[str, Any] = {"assistant_id": "plain", "input": {"q": "x"}}
    assert client.post(thread_id, "wait", body, **key).status_code == 200
    for more in ({"input": {"q": "y"}}, {"interrupt_before": ["second"]}):
        assert client.post(thread_id, "", {**body, **more}, **key).status_code == 422
    assert len(client.http.get(f"/threads/{thread_id}/runs").json()) == 1


def test_an_input_that_waits_and_comes_again_goes_on_waiting(client: LanggraphClient, witness: Witness) -> None:
    name, thread_id, key = uuid.uuid4().hex, client.thread(), {"idempotency-key": uuid.uuid4().hex}
    client.post(thread_id, "", {"assistant_id": "slow", "input": {"q": name}, "interrupt_before": ["second"]})
    wait_for(lambda: witness.count(f"at:{name}"), bool)
    body = {"assistant_id": "slow", "input": {"q": f"{name}2"}}
    first = client.post(thread_id, "", body, **key).json()
    witness.release(name)
    path = f"/threads/{thread_id}"
    wait_for(lambda: client.http.get(path).json()["status"], lambda status: status == "interrupted")
    again = client.post(thread_id, "", body, **key).json()
    assert (again["run_id"], again["status"]) == (first["run_id"], "pending")
    assert client.http.get(path).json()["status"] == "interrupted"
    witness.release(f"{name}2")
    client.post(thread_id, "wait", {"assistant_id": "slow", "input": None}).raise_for_status()
    assert client.http.get(f"{path}/runs/{first['run_id']}/join").json()["out"][-1] == "second"
    assert client.http.get(path).json()["status"] == "idle"


def test_who_leaves_a_run_that_waits_ends_no_other(client: LanggraphClient, witness: Witness) -> None:
    name, thread_id = uuid.uuid4().hex, client.thread()
    active = client.post(thread_id, "", {"assistant_id": "slow", "input": {"q": name}}).json()["run_id"]
    wait_for(lambda: witness.count(f"at:{name}"), bool)
    waiting = client.post(thread_id, "", {"assistant_id": "slow", "input": {"q": "later"}}).json()["run_id"]
    path = f"/threads/{thread_id}/runs"
    with client.http.stream("GET", f"{path}/{waiting}/stream?cancel_on_disconnect=1") as joined:
        assert next(joined.iter_lines())
    wait_for(lambda: client.http.get(f"{path}/{waiting}").status_code, lambda status: status == 404)
    witness.release(name)
    assert client.http.get(f"{path}/{active}/join").json()["out"] == ["went on", "second"]
    assert client.http.get(f"{path}/{active}").json()["status"] == "success"


def test_threads_are_made_by_runs_that_say_so(client: LanggraphClient) -> None:
    chosen, body = str(uuid.uuid4()), {"assistant_id": "plain", "input": {"q": "x"}}
    assert client.post(chosen, "wait", body).status_code == 404
    assert client.post(chosen, "wait", {**body, "if_not_exists": "create"}).json()["out"] == ["first", "second"]


def test_runs_without_a_thread(client: LanggraphClient) -> None:
    body = {"assistant_id": "plain", "input": {"q": "x"}}
    waited = client.http.post("/runs/wait", json=body)
    assert waited.json()["out"] == ["first", "second"]
    _, _, thread_id, _, run_id = waited.headers["content-location"].split("/")
    wait_for(lambda: client.http.get(f"/threads/{thread_id}").status_code, lambda status: status == 404)
    assert run_id
    kept = client.http.post("/runs/wait", json={**body, "on_completion": "keep"})
    assert client.http.get(f"/threads/{kept.headers['content-location'].split('/')[2]}").status_code == 200
    assert client.http.post("/runs", json=body).json()["status"] in ("pending", "running", "success")
    asked = client.http.post("/runs/wait", json={"assistant_id": "one_node", "input": {"q": "x"}})
    waiting = asked.headers["content-location"].split("/")[2]
    assert client.http.get(f"/threads/{waiting}").json()["status"] == "interrupted"
    assert client.http.post("/runs", json={"assistant_id": "plain", "command": {"resume": 1}}).status_code == 400


def test_fields_that_cannot_be_kept_are_refused(client: LanggraphClient) -> None:
    thread_id, body = client.thread(), {"assistant_id": "plain", "input": {"q": "x"}}
    for more in ({"webhook": "http://x"}, {"after_seconds": 1}, {"stream_mode": "tools"}, {"checkpoint_id": "1"}):
        assert client.post(thread_id, "stream", {**body, **more}).status_code == 422, more
    both = client.post(thread_id, "", {**body, "config": {"configurable": {"a": 1}}, "context": {"a": 1}})
    assert both.status_code == 400


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/threads/{}/history", {"before": {"configurable": "x"}}, 422),
        ("/threads/{}/runs/stream", {"assistant_id": "plain", "input": {}, "stream_mode": "[" * 50_000}, 422),
        ("/threads/{}/state", {"values": {"out": 5}}, 422),
        ("/threads/{}/state", {"values": {"out": [float("nan")]}}, 422),
        ("/threads/search", {"ids": ["x"] * 100_000}, 422),
        ("/threads/search", {"metadata": {f"{n}": True for n in range(1_200)}}, 200),
    ],
)
def test_odd_bodies_are_no_failure_of_the_server(
    client: LanggraphClient, path: str, body: dict[str, Any], status: int
) -> None:
    content, thread_id = json.dumps(body), run(client)[0]
    assert client.http.post(path.format(thread_id), content=content).status_code == status


DROPPED: list[dict[str, Any]] = [
    {"goto": "nowhere"},
    {"goto": ["first", {"node": "nowhere", "input": {}}]},
    {"update": 5},
    {"update": [["out"]]},
    {"update": [[1, ["x"]]]},
]


@pytest.mark.parametrize("command", DROPPED)
def test_a_command_that_langgraph_would_drop_is_refused(client: LanggraphClient, command: dict[str, Any]) -> None:
    reply = client.post(client.thread(), "", {"assistant_id": "plain", "command": command})
    assert reply.status_code == 422
    assert next(iter(command)) in reply.json()["errors"][0]["field"]


def test_an_update_is_an_object_or_pairs(client: LanggraphClient) -> None:
    thread_id, _ = run(client)
    updates: list[Any] = [{"q": "y"}, [["q", "z"]]]
    for update, q in zip(updates, "yz", strict=True):
        command: dict[str, Any] = {"update": update, "goto": "second"}
        values = client.post(thread_id, "wait", {"assistant_id": "plain", "command": command}).json()
        assert values["q"] == q


def test_what_the_graphs_own_code_cannot_use_is_no_failure_of_the_server(alice: ThreadsClient) -> None:
    path = f"/threads/{alice.http.post('/threads', json={}).json()['thread_id']}/state"
    wrong: list[Any] = [{"messages": [5]}, {"messages": []}]
    for values in wrong:
        assert alice.http.post(path, json={"values": values, "as_node": "model"}).status_code in (200, 422)


def test_json_is_taken_under_any_content_type(client: LanggraphClient) -> None:
    made = client.http.post("/threads", content=b'{"metadata": null}', headers={"content-type": "text/plain"})
    assert made.status_code == 200
    assert client.http.post("/threads", content=b"{").status_code == 422


def test_pages_of_an_allowed_origin_may_read_what_they_need(client: LanggraphClient) -> None:
    origin = {"origin": "https://app.example.org"}
    asked = client.http.options(
        "/threads/x/state",
        headers={
            **origin,
            "access-control-request-method": "PATCH",
            "access-control-request-headers": "x-api-key, x-auth-scheme, prefer, cache-control",
            "access-control-request-private-network": "true",
        },
    )
    assert asked.status_code == 200
    assert asked.headers["access-control-allow-private-network"] == "true"
    exposed = client.http.get("/info", headers=origin).headers["access-control-expose-headers"]
    assert {"content-location", "location", "x-pagination-total", "x-pagination-next"} <= set(exposed.split(", "))


def test_threads_of_others_are_not_there(alice: ThreadsClient, bob: ThreadsClient) -> None:
    theirs = alice.http.post("/threads", json={}).json()["thread_id"]
    for reply in (
        bob.http.get(f"/threads/{theirs}"),
        bob.http.get(f"/threads/{theirs}/state"),
        bob.http.delete(f"/threads/{theirs}"),
        bob.http.post(f"/threads/{theirs}/runs", json={"assistant_id": "puppet", "command": {"resume": 1}}),
        bob.http.post(f"/threads/{theirs}/commands", json={"id": 1, "method": "input.respond", "params": {}}),
    ):
        assert reply.status_code == 404 or reply.json().get("type") == "error"
    assert theirs not in bob.http.post("/threads/search", json={}).text


def test_an_api_key_comes_in_its_own_header(alice: ThreadsClient, server: ServerProcess) -> None:
    key = alice.http.post("/api/v1/keys", json={"name": "sdk"}).json()["key"]
    # LangGraph's clients send the latter unasked, from the environment.
    other = {"x-api-key": "lsv2_something", "x-auth-scheme": "langsmith"}
    headers = {"of ours": {"x-api-key": key}, "of LangSmith": other}
    headers |= {"both": {**other, "authorization": f"Bearer {key}"}}
    headers |= {"a bearer that does not hold": {"x-api-key": key, "authorization": "Bearer nothing"}}
    statuses: dict[str, int] = {}
    for name, sent in headers.items():
        with LanggraphClient(str(alice.http.base_url), sent) as bare:
            statuses[name] = bare.http.post("/threads/search", json={}).status_code
    assert statuses == {"of ours": 200, "of LangSmith": 401, "both": 200, "a bearer that does not hold": 401}
    log = server.log.read_text()
    assert "lsv2_something" not in log
    assert key not in log


def test_threads_of_other_faces_name_their_agent(alice: ThreadsClient) -> None:
    thread_id = alice.new_thread("demo")
    demo = alice.http.get("/assistants/demo").json()
    shown = alice.http.get(f"/threads/{thread_id}").json()
    assert shown["metadata"] == {"graph_id": "demo", "assistant_id": demo["assistant_id"]}
    for metadata in ({"graph_id": "demo"}, {"assistant_id": demo["assistant_id"]}):
        found = alice.http.post("/threads/search", json={"ids": [thread_id], "metadata": metadata}).json()
        assert [one["thread_id"] for one in found] == [thread_id]


def test_there_is_room_for_pictures_in_an_input_only(client: LanggraphClient) -> None:
    thread_id = client.thread()
    body = {"assistant_id": "plain", "input": {"q": "x" * 2_000_000}}
    assert client.post(thread_id, "wait", body).json()["out"] == ["first", "second"]
    assert client.post(thread_id, "wait", {**body, "input": {"q": "x" * 9_000_000}}).status_code == 413
    assert client.http.post("/threads", json={"metadata": {"q": "x" * 2_000_000}}).status_code == 413
