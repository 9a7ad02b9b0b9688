"""The hook where everything goes wrong: stopped, killed, cut off, locked out, or given what nobody can send."""

import json
import signal
from typing import Any

import pytest

from tests.client.network import Network
from tests.hooks.hook import Desk, bash, decision
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
