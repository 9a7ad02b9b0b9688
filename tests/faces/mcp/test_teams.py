"""Agents elsewhere whose calls several people decide: they notice nothing but the one end."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.support.hitl import HITL
from tests.support.mcp import Host
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.teams import GROUPS, active, hitl_yes
from tests.support.waiting import WAIT_SECONDS, wait_for

pytestmark = pytest.mark.promise("P18", "P19")

TWO = '[[rule]]\nname = "two"\nwhen = \'outside && args.command == "deploy"\'\nthen = "ask"\npeople = 2\n'


@pytest.fixture
def rule(people: People) -> str:
    for name in ("bob", "cyd"):
        people.named(name)
    people.named("root").http.post(GROUPS, json={"name": "deployers", "members": ["alice", "bob", "cyd"]})
    return TWO + 'from = ["group:deployers"]\n'


def decide(people: People, request_id: str) -> None:
    """Whoever asked tries it too, and one of the others twice."""
    alice, bob, cyd = (people.named(name).http for name in ("alice", "bob", "cyd"))
    assert [hitl_yes(one, request_id).status_code for one in (alice, bob, bob)] == [403, 200, 200]
    shown = alice.get(f"{HITL}/requests/{request_id}").json()["data"]
    assert (shown["status"], shown["response"]) == ("pending", None)
    assert hitl_yes(cyd, request_id).json()["data"]["status"] == "answered"


async def test_a_call_over_mcp_waits_for_all_of_them(people: People, host: Host, rule: str) -> None:
    asked = {"tool_name": "Bash", "input": {"command": "deploy"}, "tool_use_id": "toolu_1"}
    with active(people.named("root").http, rule):
        async with host.connected() as client:
            call = asyncio.create_task(client.call_tool("permission_prompt", asked))
            request_id = await host.ask_id()
            await asyncio.to_thread(decide, people, request_id)
            [block] = (await call).content
    assert '"behavior":"allow"' in str(getattr(block, "text", "")).replace(" ", "")


@pytest.mark.parametrize(("named", "seconds"), [({}, 7200.0), ({"timeout_seconds": 90}, 90.0)])
async def test_the_deadline_of_a_rule_is_for_asks_that_name_none(
    people: People, host: Host, rule: str, named: dict[str, Any], seconds: float
) -> None:
    asked = {"action": "Bash", "args": {"command": "deploy"}, "wait_seconds": 0, **named}
    with active(people.named("root").http, rule + "deadline = 7200\n"):
        async with host.connected() as client:
            await client.call_tool("request_approval", asked)
        (pending,) = host.pending()
    people.named("alice").http.post(f"{HITL}/cancel", json={"request_id": pending["request_id"]}).raise_for_status()
    assert pending["timeout_seconds"] == seconds


def test_a_hook_waits_for_all_of_them(people: People, host: Host, server: ServerProcess, rule: str) -> None:
    event: dict[str, Any] = {"session_id": "s1", "cwd": "/srv", "hook_event_name": "PreToolUse", "tool_use_id": "t1"}
    event |= {"tool_name": "Bash", "tool_input": {"command": "deploy"}}
    headers = {"authorization": f"Bearer {host.key}"}
    with (
        active(people.named("root").http, rule),
        ThreadPoolExecutor(1) as pool,
        httpx.Client(base_url=server.url, headers=headers, timeout=WAIT_SECONDS) as hook,
    ):
        held = pool.submit(hook.post, "/api/v1/hooks/claude-code", json=event)
        try:
            (asked,) = wait_for(host.pending, lambda found: len(found) == 1)
            decide(people, asked["request_id"])
        finally:
            for left in host.pending():
                people.named("alice").http.post(f"{HITL}/cancel", json={"request_id": left["request_id"]})
        said = held.result(WAIT_SECONDS).json()
    assert said["hookSpecificOutput"]["permissionDecision"] == "allow"
