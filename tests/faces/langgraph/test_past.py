"""Back to a checkpoint of the past: what is asked there is asked anew, and nobody gets there by mistake."""

import uuid
from typing import Any

import pytest

from tests.support.langgraph import LanggraphClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness

BROWSER = {"origin": "https://app.example.org"}


def history(client: LanggraphClient, thread_id: str) -> list[dict[str, Any]]:
    return client.http.post(f"/threads/{thread_id}/history", json={"limit": 100}).raise_for_status().json()


def past(client: LanggraphClient, thread_id: str, following: str) -> dict[str, Any]:
    """The newest state after which this node came."""
    return next(one for one in history(client, thread_id) if one["next"] == [following])


def back(client: LanggraphClient, thread_id: str, agent: str, checkpoint: Any, how: str = "wait", **more: Any) -> Any:
    body = {"assistant_id": agent, "input": None, "checkpoint": checkpoint}
    return client.post(thread_id, how, body, **more)


def done(client: LanggraphClient) -> str:
    """A thread that had one turn of two steps."""
    thread_id = client.thread()
    body = {"assistant_id": "plain", "input": {"q": "x"}}
    client.post(thread_id, "wait", body).raise_for_status()
    return thread_id


def test_a_run_without_input_goes_back_to_a_step_and_on_from_there(client: LanggraphClient) -> None:
    thread_id = done(client)
    before = history(client, thread_id)
    step = past(client, thread_id, "second")
    body = {"assistant_id": "plain", "checkpoint": step["checkpoint"], "stream_mode": ["updates", "values"]}
    stream = client.stream(thread_id, body)
    assert stream.all("updates") == [{"second": {"out": ["second"]}}]
    assert stream.all("values")[-1]["out"] == ["first", "second"]
    after = history(client, thread_id)
    # A branch: what was there stays, and the step once more has the parent that it had.
    assert after[-len(before) :] == before
    assert after[1]["parent_checkpoint"] == step["parent_checkpoint"]
    assert after[0]["parent_checkpoint"] == after[1]["checkpoint"]
    assert [one["status"] for one in client.http.get(f"/threads/{thread_id}/runs").json()] == ["success"] * 2
    # The next turn begins at the end of the branch.
    taken = client.post(thread_id, "wait", {"assistant_id": "plain", "input": {"q": "y"}}).json()
    assert taken["out"] == ["first", "second"] * 2


def test_what_is_asked_there_is_asked_anew(client: LanggraphClient, witness: Witness) -> None:
    thread_id, production = client.asked("late")
    name = production["value"]["question"].removeprefix("delete ").removesuffix("/PRODUCTION?")
    client.resume(thread_id, "late", {production["id"]: "yes"}).raise_for_status()
    step = past(client, thread_id, "first")["checkpoint"]
    [again] = back(client, thread_id, "late", step).json()["__interrupt__"]
    assert again["value"] == production["value"]
    assert again["id"] != production["id"]
    # Sent again, it may be a page that has missed the question.
    assert back(client, thread_id, "late", step).json()["code"] == "stale_checkpoint"
    late = client.resume(thread_id, "late", {production["id"]: "no"})
    assert (late.status_code, late.json()["code"]) == (409, "already_settled")
    assert witness.count(f"{name}/production") == 1
    assert client.resume(thread_id, "late", {again["id"]: "no"}).json()["out"] == ["first", "no"]
    assert witness.count(f"{name}/production") == 2


@pytest.mark.parametrize("agent", ["plain", "two_nodes"])
def test_a_page_that_still_stands_where_a_run_stopped_takes_nobody_back(client: LanggraphClient, agent: str) -> None:
    """Its yes to a breakpoint, or its look at a question, comes after somebody else's."""
    thread_id, stops = client.thread(), {"interrupt_before": ["second"]} if agent == "plain" else {}
    client.post(thread_id, "wait", {"assistant_id": agent, "input": {"q": "x"}, **stops}).raise_for_status()
    stood = client.state(thread_id)["checkpoint"]
    if agent == "plain":
        assert back(client, thread_id, agent, stood).json()["out"] == ["first", "second"]
    else:
        for _ in range(2):
            [asked] = client.state(thread_id)["interrupts"]
            client.resume(thread_id, agent, {asked["id"]: "yes"}).raise_for_status()
    states = history(client, thread_id)
    for headers in ({}, BROWSER):
        refused = back(client, thread_id, agent, stood, "wait", **headers)
        assert (refused.status_code, refused.json()["code"]) == (409, "stale_checkpoint")
    assert history(client, thread_id) == states


def test_nobody_goes_back_by_mistake(client: LanggraphClient, witness: Witness) -> None:
    thread_id = done(client)
    client.post(thread_id, "wait", {"assistant_id": "plain", "input": {"q": "y"}}).raise_for_status()
    states = history(client, thread_id)
    ended = next(one for one in states[1:] if not one["next"])["checkpoint"]
    # A page that has not seen the second turn: it would be left out.
    stale = {"assistant_id": "plain", "input": {"q": "z"}, "checkpoint": ended}
    refused = client.post(thread_id, "wait", stale)
    assert (refused.status_code, refused.json()["code"]) == (422, "not_supported")
    assert back(client, thread_id, "plain", ended).status_code == 409
    assert back(client, thread_id, "plain", {"checkpoint_id": str(uuid.uuid4())}).status_code == 404
    assert back(client, thread_id, "one_node", past(client, thread_id, "second")["checkpoint"]).status_code == 422
    assert history(client, thread_id) == states
    name = uuid.uuid4().hex
    body = {"assistant_id": "slow", "input": {"q": name}, "if_not_exists": "create"}
    client.post(busy := str(uuid.uuid4()), "", body).raise_for_status()
    wait_for(lambda: witness.count(f"at:{name}"), bool)
    first = history(client, busy)[-1]["checkpoint"]
    assert back(client, busy, "slow", first).status_code == 409
    assert client.http.post(f"/threads/{busy}/state", json={"values": {}, "checkpoint": first}).status_code == 409
    witness.release(name)


@pytest.mark.parametrize("by", ["key", "browser", "program"])
def test_going_back_is_done_once_with_a_key_or_from_a_browser(client: LanggraphClient, by: str) -> None:
    key = {"idempotency-key": uuid.uuid4().hex}
    headers = {"key": key, "browser": BROWSER, "program": {}}[by]
    thread_id = done(client)
    step = past(client, thread_id, "second")["checkpoint"]
    ids: list[str] = []
    for _ in range(3):
        ids.append(back(client, thread_id, "plain", step, "", **headers).raise_for_status().json()["run_id"])
        client.http.get(f"/threads/{thread_id}/runs/{ids[-1]}/join").raise_for_status()
    assert len(set(ids)) == (3 if by == "program" else 1)
    assert len(client.http.get(f"/threads/{thread_id}/runs").json()) == 1 + len(set(ids))
    # Once more from the branch, which is another step.
    branch = past(client, thread_id, "second")["checkpoint"]
    anew = back(client, thread_id, "plain", branch, "", **(BROWSER if by == "browser" else {}))
    assert anew.raise_for_status().json()["run_id"] not in ids


@pytest.mark.parametrize("named", ["checkpoint", "checkpoint_id"])
def test_a_state_of_the_past_is_written_to(client: LanggraphClient, named: str) -> None:
    thread_id = done(client)
    step = past(client, thread_id, "second")
    at: dict[str, Any] = {named: step[named]}
    wrong = client.http.post(f"/threads/{thread_id}/state", json={"values": {"out": 5}, **at})
    assert wrong.status_code == 422
    values = {"out": ["by hand"]}
    written = client.http.post(f"/threads/{thread_id}/state", json={"values": values, "as_node": "first", **at}).json()
    state = client.state(thread_id)
    assert (state["checkpoint_id"], state["parent_checkpoint_id"]) == (written["checkpoint_id"], step["checkpoint_id"])
    assert (state["values"]["out"], state["next"]) == (["first", "by hand"], ["second"])
    # Without values the thread just goes back; an input then takes the place of what was said after it.
    begin = history(client, thread_id)[-1]["checkpoint_id"]
    client.http.post(f"/threads/{thread_id}/state", json={"values": None, "checkpoint_id": begin}).raise_for_status()
    taken = client.post(thread_id, "wait", {"assistant_id": "plain", "input": {"q": "other"}}).json()
    assert taken == {"q": "other", "out": ["first", "second"]}


def test_nobody_writes_to_the_past_of_a_thread_that_waits(client: LanggraphClient) -> None:
    thread_id, asked = client.asked("one_node")
    first = history(client, thread_id)[-1]["checkpoint"]
    for values in ({"out": ["x"]}, None):
        refused = client.http.post(f"/threads/{thread_id}/state", json={"values": values, "checkpoint": first})
        assert (refused.status_code, refused.json()["code"]) == (409, "stale_checkpoint")
    assert [one["id"] for one in client.state(thread_id)["interrupts"]] == [asked["id"]]
