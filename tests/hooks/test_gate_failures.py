"""The hook where everything goes wrong: stopped, killed, cut off, locked out, or given what nobody can send."""

import json
import os
import signal
import time
from typing import Any

import pytest

from tests.client.network import Network
from tests.hooks.hook import SECONDS, Desk, Event, bash, decision
from tests.hooks.parrot import Parrot
from tests.hooks.test_gate import noted, settle
from tests.support.hitl import HitlClient, error_of
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for

CLAUDE = ("claude-code", "--timeout", "120")
BEFORE: dict[str, Any] = {"hook_event_name": "PreToolUse", "tool_use_id": "toolu_1"}


def test_one_yes_is_for_one_of_many_calls_that_are_alike(desk: Desk) -> None:
    hooks = [desk.hook(*CLAUDE, event=bash()) for _ in range(4)]
    asked = desk.asked(len(hooks))
    desk.allow(asked[0]["request_id"])
    for one in asked[1:]:
        desk.deny(one["request_id"])
    behaviors: list[str] = []
    for hook in hooks:
        with hook:
            behaviors.append(decision(hook.said())["behavior"])
    assert sorted(behaviors) == ["allow", "deny", "deny", "deny"]


def test_a_hook_that_slept_beyond_its_deadline_says_no(desk: Desk) -> None:
    with desk.hook("claude-code", "--timeout", "20", event=bash(**BEFORE)) as hook:
        [asked] = desk.asked()
        hook.process.send_signal(signal.SIGSTOP)
        wait_for(desk.waiting, lambda found: found == [])
        hook.process.send_signal(signal.SIGCONT)
        assert hook.said()["hookSpecificOutput"]["permissionDecision"] == "deny"
    late = desk.person.try_respond(asked["request_id"], {"granted": True})
    error_of(late, 409, "HITL_REQUEST_EXPIRED", "REQUEST_EXPIRED")


def test_a_hook_that_slept_takes_the_answer_that_came_meanwhile(desk: Desk) -> None:
    with desk.hook(*CLAUDE, event=bash()) as hook:
        [asked] = desk.asked()
        hook.process.send_signal(signal.SIGSTOP)
        desk.allow(asked["request_id"])
        hook.process.send_signal(signal.SIGCONT)
        assert decision(hook.said())["behavior"] == "allow"


def test_what_a_killed_hook_asked_is_withdrawn_with_its_turn(desk: Desk) -> None:
    with desk.hook(*CLAUDE, event=bash()) as hook:
        [asked] = desk.asked()
        noted(desk, 1)
        hook.process.kill()
        hook.ended()
    assert [one["request_id"] for one in desk.waiting()] == [asked["request_id"]]
    settle(desk, {**bash(), "hook_event_name": "Stop"})
    assert desk.waiting() == []


def reason_of(desk: Desk, request_id: str) -> str:
    """Why nobody can answer it any more."""
    late = desk.person.try_respond(request_id, {"granted": True})
    return error_of(late, 400, "HITL_REQUEST_NOT_PENDING", "REQUEST_NOT_PENDING")["reason"]


@pytest.mark.parametrize("event", [bash(), bash(**BEFORE)], ids=["permission", "every call"])
def test_what_a_killed_agent_asked_is_withdrawn(desk: Desk, event: Event) -> None:
    """It tells its hook nothing; but nobody reads the answer any more."""
    with desk.hook(*CLAUDE, event=event) as hook:
        [asked] = desk.asked()
        hook.hang_up()
        wait_for(desk.waiting, lambda found: found == [])
        hook.process.wait(SECONDS)
    assert reason_of(desk, asked["request_id"]) == "the agent no longer waits"


def test_a_hook_that_is_stopped_by_an_agent_that_ends_withdraws(desk: Desk) -> None:
    """As when a person closes the terminal: both are told at once, and the agent is the first to be gone."""
    with desk.hook(*CLAUDE, event=bash()) as hook:
        desk.asked()
        hook.process.send_signal(signal.SIGSTOP)
        hook.hang_up()
        for number in (signal.SIGHUP, signal.SIGCONT):
            hook.process.send_signal(number)
        wait_for(desk.waiting, lambda found: found == [])
        hook.process.wait(SECONDS)


@pytest.mark.parametrize("agent_name", ["codex", "gemini", "cursor"])
def test_nothing_is_noted_for_agents_that_tell_of_no_ends(desk: Desk, agent_name: str) -> None:
    event = {**bash(hook_event_name="BeforeTool" if agent_name == "gemini" else "PreToolUse")}
    if agent_name == "cursor":
        event |= {"hook_event_name": "preToolUse", "conversation_id": "c1"}
    with desk.hook(agent_name, "--timeout", "120", event=event) as hook:
        desk.allow(desk.asked()[0]["request_id"])
        assert hook.ended().returncode == 0
    assert not (desk.home / ".local").exists()


def test_notes_of_sessions_that_ended_without_a_word_are_not_kept_for_good(desk: Desk) -> None:
    kept = desk.home / ".local" / "state" / "interlock" / "hook"
    for name, age in (("old", 40), ("new", 1)):
        (kept / name).mkdir(parents=True)
        (kept / name / "1.runs").write_text("{}")
        then = time.time() - age * 86_400
        os.utime(kept / name, (then, then))
    settle(desk, {**bash(), "hook_event_name": "SessionEnd"})
    assert [folder.name for folder in kept.iterdir()] == ["new"]


def test_a_key_that_is_revoked_while_it_is_waited_for_is_a_no(desk: Desk) -> None:
    made = desk.person.new_key("revoked", "agent", agent="claude-code")
    with desk.hook(*CLAUDE, event=bash(**BEFORE), INTERLOCK_KEY=made["key"]) as hook:
        with HitlClient(desk.url, made["key"]) as agent:
            wait_for(lambda: agent.everything()["pending_requests"], bool)
        desk.person.http.delete(f"/api/v1/keys/{made['id']}").raise_for_status()
        assert hook.said()["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_connections_that_are_cut_again_and_again_are_survived(desk: Desk, server: ServerProcess) -> None:
    with Network(server.url) as network, desk.hook(*CLAUDE, event=bash(), INTERLOCK_URL=network.url) as hook:
        [asked] = desk.asked()
        for _ in range(5):
            opened = network.opened
            network.cut()
            wait_for(lambda: network.opened, lambda now, opened=opened: now > opened)
        assert [one["request_id"] for one in desk.waiting()] == [asked["request_id"]]
        desk.allow(asked["request_id"])
        assert decision(hook.said())["behavior"] == "allow"


@pytest.mark.parametrize(
    "tool_input",
    ['{"text": "' + "x" * 2_000_000 + '"}', '{"number": NaN}', '{"number": Infinity}', "[" * 100 + "]" * 100],
    ids=["large", "nan", "infinity", "a list"],
)
def test_what_cannot_be_sent_is_a_no(desk: Desk, tool_input: str) -> None:
    event = json.dumps(bash(**BEFORE, tool_input="HERE")).replace('"HERE"', tool_input)
    with desk.hook("claude-code", "--timeout", "20", event=event) as hook:
        done = hook.ended()
    assert done.returncode == 2 or '"permissionDecision": "deny"' in done.stdout
    assert "Not run: " in done.stdout + done.stderr
    assert desk.waiting() == []


PLACED = b'{"data": {"request_id": "perm_1", "status": "pending"}}'


@pytest.mark.parametrize(
    ("placed", "shown"),
    [
        (b"<html>", b""),
        (b"[" * 50_000, b""),
        (b"\xff\xfe", b""),
        (b'{"data": {}}', b""),
        (b'{"data": {"request_id": 7}}', b""),
        (PLACED, b"{}"),
        (PLACED, b'{"data": {}}'),
        (PLACED, b'{"data": {"status": ["answered"]}}'),
        (PLACED, b'{"data": {"status": "answered"}}'),
        (PLACED, b'{"data": {"status": "answered", "response": [true]}}'),
        (PLACED, b'{"data": {"status": "answered", "response": {"granted": "true"}}}'),
        (PLACED, b'{"data": {"status": "answered", "response": {"granted": true, "args": "rm"}}}'),
        (PLACED, b'{"data": {"status": "granted"}}'),
    ],
)
def test_a_server_that_answers_garbage_is_a_no(desk: Desk, placed: bytes, shown: bytes) -> None:
    with Parrot(placed, shown) as parrot:
        event = bash(**BEFORE)
        with desk.hook("claude-code", "--timeout", "12", event=event, INTERLOCK_URL=parrot.url) as hook:
            said = hook.said()["hookSpecificOutput"]
        with desk.hook("codex", "--timeout", "12", event=event, INTERLOCK_URL=parrot.url) as hook:
            assert hook.said()["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert said["permissionDecision"] == "deny"
    assert said["permissionDecisionReason"]


def test_half_a_character_is_passed_both_ways(desk: Desk) -> None:
    with desk.hook(*CLAUDE, event=bash("echo \ud800 \U0001f600")) as hook:
        [asked] = desk.asked()
        desk.allow(asked["request_id"])
        assert decision(hook.said()) == {"behavior": "allow"}
