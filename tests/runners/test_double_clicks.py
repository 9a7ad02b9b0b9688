"""The same resume again, as a second click or as the JavaScript client sends a lost one, answers no unseen question.

Over the routes of the face, with a clock that is moved: that client was seen to send again after 1.5 to 24 seconds.
"""

from collections.abc import Mapping
from typing import Any, cast

import httpx
import pytest
from fastapi import FastAPI
from langgraph.types import interrupt
from typing_extensions import TypedDict

from interlock.faces.app import ERROR_FORMATS
from interlock.faces.http.problems import Problems
from interlock.faces.http.server_state import ServerState
from interlock.faces.http.tokens import Tokens
from interlock.faces.langgraph import protocol, runs, threads
from tests.runners.conftest import Host, on_sqlite
from tests.runners.script import line
from tests.runners.stage import Stage, words_of

pytestmark = on_sqlite

SENT_AGAIN = (0.0, 1.5, 5.0, 10.0, 24.0)
"""Seconds after the first."""
STALE = (90.0, 3600.0)
"""A card that still stands on a screen."""
CLICK = {"origin": "http://localhost"}
NODE = {"sec-fetch-mode": "cors"}
"""As `fetch` of Node: LangGraph's client there, or a server of pages that passes on what a browser sent."""
SENDERS = pytest.mark.parametrize("sender", [CLICK, NODE], ids=["browser", "node"])


class Heard(TypedDict, total=False):
    topic: str
    staging: Any
    production: Any


def staging(state: Heard) -> Heard:
    return {"staging": interrupt("staging?")}


def production(state: Heard) -> Heard:
    return {"production": interrupt("PRODUCTION?")}


def both(state: Heard) -> Heard:
    return {**staging(state), **production(state)}


GRAPHS = {"one node": (both,), "two nodes": (staging, production)}


def one(state: Heard) -> Heard:
    return {"staging": "one"}


def two(state: Heard) -> Heard:
    return {"production": "two"}


def client_of(stage: Stage, sender: Mapping[str, str] = CLICK) -> httpx.AsyncClient:
    """Of the face's own routes; without accounts everybody is one person."""
    app = FastAPI()
    app.state.server = ServerState(stage.core, Tokens(cast("Any", None)), "en", with_accounts=False)
    Problems(ERROR_FORMATS).install(app)
    for part in (threads, runs, protocol):
        app.include_router(part.router)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost", headers=dict(sender))


async def asked_by(tab: httpx.AsyncClient) -> tuple[str, str]:
    """A thread that waits, and the id of its question, which was shown."""
    thread_id = (await tab.post("/threads", json={})).json()["thread_id"]
    body = {"assistant_id": "agent", "input": {"topic": "x"}}
    waits = (await tab.post(f"/threads/{thread_id}/runs/wait", json=body)).json()
    return thread_id, waits["__interrupt__"][0]["id"]


async def questions(stage: Stage, thread_id: str) -> list[str]:
    """What is open, once what runs has ended."""
    async with stage.core.store.snapshot() as tx:
        run = await tx.runs.last_of(thread_id)
    assert run is not None
    return [words_of(one) for one in (await stage.ended(run, run.started_seq - 1)).requests]


def resume(by: str, thread_id: str, asked: str) -> tuple[str, dict[str, Any]]:
    if by == "v2":
        params = {"interrupt_id": asked, "response": "yes"}
        return f"/threads/{thread_id}/commands", {"id": 1, "method": "input.respond", "params": params}
    value = "yes" if by == "bare" else {asked: "yes"}
    return f"/threads/{thread_id}/runs", {"assistant_id": "agent", "command": {"resume": value}}


def outcome(reply: httpx.Response) -> tuple[bool, str]:
    """Whether it was taken, and as which run, or why not."""
    body = reply.json()
    if body.get("type") in ("success", "error"):
        return body["type"] == "success", body.get("code", "")
    return reply.status_code == 200, body.get("run_id") or body["code"]


@pytest.mark.parametrize("by", ["bare", "id", "v2"])
@pytest.mark.parametrize("nodes", GRAPHS)
@pytest.mark.parametrize("tabs", [1, 2])
async def test_the_same_again_answers_no_unseen_question(host: Host, by: str, nodes: str, tabs: int) -> None:
    stage = await host(line(Heard, *GRAPHS[nodes]))
    async with client_of(stage) as first, client_of(stage) as other:
        tab = first if tabs == 1 else other
        thread_id, asked = await asked_by(first)
        path, body = resume(by, thread_id, asked)
        taken = outcome(await first.post(path, json=body))
        assert taken[0]
        assert await questions(stage, thread_id) == ["PRODUCTION?"]
        passed = 0.0
        for seconds in SENT_AGAIN:
            stage.clock.move(seconds - passed)
            passed = seconds
            assert outcome(await tab.post(path, json=body)) == taken
        for seconds in STALE:
            stage.clock.move(seconds)
            refused = outcome(await tab.post(path, json=body))
            assert refused == (False, "not_shown" if by == "bare" else "already_settled")
        assert await questions(stage, thread_id) == ["PRODUCTION?"]
        # Once it was shown, it can be answered, and gets what was meant for it.
        [shown] = (await tab.get(f"/threads/{thread_id}/state")).json()["interrupts"]
        path, body = resume(by, thread_id, shown["id"])
        assert outcome(await tab.post(path, json=body))[0]
        assert await questions(stage, thread_id) == []
    values = await stage.values(thread_id)
    assert (values["staging"], values["production"]) == ("yes", "yes")


async def sent_again(stage: Stage, tab: httpx.AsyncClient, path: str, body: Mapping[str, Any]) -> httpx.Response:
    """The reply, which is the same for each time that it is sent again."""
    first = await tab.post(path, json=body)
    passed = 0.0
    for seconds in SENT_AGAIN:
        stage.clock.move(seconds - passed)
        passed = seconds
        again = await tab.post(path, json=body)
        assert (again.status_code, again.json()) == (200, first.json())
        assert again.headers["content-location"] == first.headers["content-location"]
    return first


@SENDERS
async def test_what_only_a_lost_reply_showed_is_not_answered(host: Host, sender: Mapping[str, str]) -> None:
    stage = await host(line(Heard, staging, production))
    async with client_of(stage, sender) as tab:
        thread_id, _ = await asked_by(tab)
        path, body = f"/threads/{thread_id}/runs/wait", {"assistant_id": "agent", "command": {"resume": "yes"}}
        first = await sent_again(stage, tab, path, body)
        assert [one["value"] for one in first.json()["__interrupt__"]] == ["PRODUCTION?"]
        assert await questions(stage, thread_id) == ["PRODUCTION?"]
        for value in ("no", "yes") if sender is CLICK else ():
            # The card on the screen is still the first one.
            stage.clock.move(STALE[0])
            late = await tab.post(path, json={"assistant_id": "agent", "command": {"resume": value}})
            assert (late.status_code, late.json()["code"]) == (409, "not_shown")
        (await tab.get(f"/threads/{thread_id}/state")).raise_for_status()
        assert (await tab.post(path, json=body)).json()["production"] == "yes"


@SENDERS
async def test_a_yes_to_a_breakpoint_that_is_sent_again_passes_one(host: Host, sender: Mapping[str, str]) -> None:
    stage = await host(line(Heard, one, two))
    async with client_of(stage, sender) as tab:
        thread_id = (await tab.post("/threads", json={})).json()["thread_id"]
        path, body = f"/threads/{thread_id}/runs/wait", {"assistant_id": "agent", "input": None}
        begins = {**body, "input": {"topic": "x"}, "interrupt_before": ["one", "two"]}
        (await tab.post(path, json=begins)).raise_for_status()
        assert (await sent_again(stage, tab, path, body)).json() == {"topic": "x", "staging": "one"}
        if sender is CLICK:
            stage.clock.move(STALE[0])
            late = await tab.post(path, json=body)
            assert (late.status_code, late.json()["code"]) == (409, "not_shown")
        assert (await tab.get(f"/threads/{thread_id}/state")).json()["next"] == ["two"]
        assert (await sent_again(stage, tab, path, body)).json()["production"] == "two"
