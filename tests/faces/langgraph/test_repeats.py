"""What is sent again, as its reply was lost or it was clicked twice, answers nothing that only this reply showed."""

from typing import Any

import pytest

from tests.support.langgraph import LanggraphClient
from tests.support.wire import at_once
from tests.support.witness import Witness

BROWSER = {"origin": "https://app.example.org"}
NODE = {"sec-fetch-mode": "cors"}
"""As `fetch` of Node: LangGraph's client there, or a server of pages that passes on what a browser sent."""
SENDERS = pytest.mark.parametrize("sender", [BROWSER, NODE], ids=["browser", "node"])
GO_ON: dict[str, Any] = {"assistant_id": "plain", "input": None}


def stopped(client: LanggraphClient) -> str:
    """A thread that stands at the first of two breakpoints."""
    thread_id = client.thread()
    body = {"assistant_id": "plain", "input": {"q": "x"}, "interrupt_before": ["first", "second"]}
    client.post(thread_id, "wait", body).raise_for_status()
    return thread_id


@SENDERS
def test_a_double_click_passes_one_breakpoint(client: LanggraphClient, sender: dict[str, str]) -> None:
    thread_id = stopped(client)
    replies = at_once(3, lambda _: client.post(thread_id, "", GO_ON, **sender))
    assert [reply.status_code for reply in replies] == [200] * 3
    assert len({reply.json()["run_id"] for reply in replies}) == 1
    client.http.get(f"/threads/{thread_id}/runs/{replies[0].json()['run_id']}/join").raise_for_status()
    assert client.state(thread_id)["next"] == ["second"]


def test_nothing_is_gone_on_with_where_somebody_sent_an_input_since(client: LanggraphClient) -> None:
    thread_id = stopped(client)
    client.post(thread_id, "wait", GO_ON)
    client.post(thread_id, "wait", GO_ON)
    client.post(thread_id, "wait", {"assistant_id": "plain", "input": {"q": "y"}})
    assert client.post(thread_id, "wait", GO_ON).status_code == 422


def test_an_answer_that_a_server_of_pages_passes_on_twice_is_one(client: LanggraphClient, witness: Witness) -> None:
    thread_id, asked = client.asked("two_nodes")
    first, again = (client.resume(thread_id, "two_nodes", "yes", **NODE) for _ in range(2))
    assert (again.status_code, again.json()) == (200, first.json())
    assert witness.count(f"{asked['value']['question'].split('/')[0].removeprefix('delete ')}/production") == 0
    client.state(thread_id)
    assert client.resume(thread_id, "two_nodes", "yes", **NODE).json()["out"] == ["yes", "yes"]


@pytest.mark.parametrize(("sender", "by"), [(BROWSER, "bare"), (NODE, "bare"), ({}, "id")], ids=["page", "node", "id"])
def test_an_answer_to_the_first_action_that_is_sent_again_answers_one(
    client: LanggraphClient, sender: dict[str, str], by: str
) -> None:
    thread_id, asked = client.asked("hitl")
    accept: Any = [{"type": "accept", "args": None}]
    value = accept if by == "bare" else {asked["id"]: accept}
    first, again = (client.resume(thread_id, "hitl", value, **sender) for _ in range(2))
    # Each reply shows the second action; the first one never arrived.
    assert (again.status_code, again.json()) == (200, first.json())
    [left] = client.state(thread_id)["tasks"][0]["interrupts"]
    assert [one["args"]["amount"] for one in left["value"]["action_requests"]] == [2]
