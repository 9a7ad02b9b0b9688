"""What the hook asks, what it answers, and that whatever fails is a no."""

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import interlock_client
from tests.client.network import Network
from tests.hooks.hook import PROGRAM, Desk, Event, bash, decision, ran
from tests.hooks.mortal import MortalServer
from tests.support.hitl import HitlClient, error_of
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for

CLAUDE = ("claude-code", "--timeout", "120")


def test_a_person_is_shown_the_call_with_folder_and_agent_and_nothing_else(desk: Desk, people: People) -> None:
    with desk.hook(*CLAUDE, event=bash()) as hook:
        [asked] = desk.asked()
        assert (asked["agent"], asked["type"], asked["timeout_seconds"]) == ("claude-code", "permission", 105)
        data = asked["request_data"]
        assert (data["tool_name"], data["args"]) == ("Bash", {"command": "touch one.txt", "description": "Make one"})
        assert data["description"] == "Claude Code, in /home/ann/my-project"
        assert data["allowed"] == ["accept", "edit", "reject", "response"]
        assert "transcript" not in json.dumps(asked)
        listed = people.named("alice").http.get("/api/v1/inbox/conversations").json()["conversations"]
        titles = {one["conversation_id"]: one["title"] for one in listed}
        assert titles[asked["conversation_id"]] == "my-project"
        desk.allow(asked["request_id"])
        assert decision(hook.said()) == {"behavior": "allow"}


def test_an_edit_is_the_whole_input(desk: Desk) -> None:
    with desk.hook(*CLAUDE, event=bash()) as hook:
        edited = {"command": "touch two.txt", "description": "Make two"}
        desk.allow(desk.asked()[0]["request_id"], args=edited)
        assert decision(hook.said()) == {"behavior": "allow", "updatedInput": edited}


@pytest.mark.parametrize(
    ("response", "told"),
    [
        ({"granted": False}, "A person refused it."),
        ({"granted": False, "reason": "not in this folder"}, "A person refused it: not in this folder"),
        ({"granted": False, "reply": "use git mv"}, "It did not run. A person says: use git mv"),
    ],
)
def test_a_no_tells_the_model_what_the_person_said(desk: Desk, response: dict[str, Any], told: str) -> None:
    with desk.hook(*CLAUDE, event=bash()) as hook:
        desk.person.respond(desk.asked()[0]["request_id"], response)
        assert decision(hook.said()) == {"behavior": "deny", "message": told}


def test_two_calls_that_are_alike_are_asked_twice_in_one_conversation(desk: Desk) -> None:
    with desk.hook(*CLAUDE, event=bash()) as first, desk.hook(*CLAUDE, event=bash()) as second:
        one, two = desk.asked(2)
        assert one["conversation_id"] == two["conversation_id"]
        desk.allow(one["request_id"])
        desk.deny(two["request_id"])
        behaviors = sorted(decision(hook.said())["behavior"] for hook in (first, second))
    assert behaviors == ["allow", "deny"]


def test_sessions_have_conversations_of_their_own(desk: Desk) -> None:
    with desk.hook(*CLAUDE, event=bash()), desk.hook(*CLAUDE, event=bash(session="another")):
        one, two = desk.asked(2)
        assert one["conversation_id"] != two["conversation_id"]


def test_the_same_call_asked_again_is_asked_once(desk: Desk) -> None:
    event = bash(hook_event_name="PreToolUse", tool_use_id="toolu_7")
    with desk.hook(*CLAUDE, event=event) as first, desk.hook(*CLAUDE, event=event) as second:
        [asked] = desk.asked()
        desk.allow(asked["request_id"])
        for hook in (first, second):
            assert hook.said()["hookSpecificOutput"]["permissionDecision"] == "allow"
    with desk.hook(*CLAUDE, event=event) as third:
        assert third.said()["hookSpecificOutput"]["permissionDecision"] == "allow"
    assert desk.waiting() == []


def test_a_key_with_a_name_of_its_own_asks_under_it(desk: Desk, server: ServerProcess) -> None:
    key = desk.person.new_key("ann's laptop", "agent", agent="laptop")["key"]
    with desk.hook(*CLAUDE, event=bash(), INTERLOCK_KEY=key) as hook, HitlClient(server.url, key) as agent:
        found = wait_for(lambda: agent.everything()["pending_requests"], bool)
        assert found[0]["agent"] == "laptop"
        desk.allow(found[0]["request_id"])
        assert decision(hook.said())["behavior"] == "allow"


def refusal(desk: Desk, *arguments: str, event: Any = None, **variables: str) -> str:
    with desk.hook(*(arguments or CLAUDE), event=event or bash(), **variables) as hook:
        said = decision(hook.said())
    assert said["behavior"] == "deny"
    return said["message"]


def test_a_server_that_is_away_is_a_no(desk: Desk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert "cannot be reached" in refusal(
        desk, "claude-code", "--timeout", "12", INTERLOCK_URL=f"http://127.0.0.1:{port}"
    )


@pytest.mark.parametrize("url", ["ftp://host", "http://", "http://host:port", "http://user:secret@host"])
def test_an_address_that_is_none_is_a_no(desk: Desk, url: str) -> None:
    assert "INTERLOCK_URL" in refusal(desk, INTERLOCK_URL=url)


def test_a_key_that_does_not_hold_is_a_no(desk: Desk) -> None:
    assert "no person could be asked" in refusal(desk, INTERLOCK_KEY="ms_sk_" + "0" * 64)


def test_what_is_no_server_of_ours_is_a_no(desk: Desk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with desk.hook("claude-code", "--timeout", "12", event=bash(), INTERLOCK_URL=url) as hook:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 301 Moved\r\nlocation: https://elsewhere\r\ncontent-length: 0\r\n\r\n")
            assert "301" in decision(hook.said())["message"]


def test_a_server_that_sends_byte_by_byte_is_not_waited_for_beyond_the_time(desk: Desk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with desk.hook("claude-code", "--timeout", "5", event=bash(), INTERLOCK_URL=url) as hook:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
                for _ in range(100):
                    with suppress(subprocess.TimeoutExpired, OSError):
                        hook.process.wait(0.2)
                        break
                    with suppress(OSError):
                        connection.sendall(b" ")
                assert "in time" in decision(hook.said())["message"]


def test_nobody_in_time_is_a_no_and_a_late_answer_finds_it_expired(desk: Desk) -> None:
    with desk.hook("claude-code", "--timeout", "16", event=bash()) as hook:
        [asked] = desk.asked()
        assert decision(hook.said()) == {"behavior": "deny", "message": "Not run: nobody answered in time."}
    error_of(
        desk.person.try_respond(asked["request_id"], {"granted": True}), 409, "HITL_REQUEST_EXPIRED", "REQUEST_EXPIRED"
    )


def test_nobody_in_time_is_left_to_the_terminal_where_that_is_wanted_and_safe(desk: Desk) -> None:
    options = ("claude-code", "--timeout", "16", "--on-timeout", "terminal")
    with desk.hook(*options, event=bash()) as hook:
        done = hook.ended()
    assert (done.returncode, done.stdout) == (0, "")
    with desk.hook(*options, event=bash(hook_event_name="PreToolUse", tool_use_id="t")) as hook:
        assert hook.said()["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (bash(), "answered_at_the_terminal"),
        (bash(hook_event_name="PreToolUse", tool_use_id="t"), "the agent no longer waits"),
    ],
)
def test_a_hook_that_is_stopped_says_no_and_withdraws(desk: Desk, event: Event, reason: str) -> None:
    with desk.hook(*CLAUDE, event=event) as hook:
        [asked] = desk.asked()
        hook.stop()
        assert "stopped" in json.dumps(hook.said())
    details = error_of(
        desk.person.try_respond(asked["request_id"], {"granted": True}),
        400,
        "HITL_REQUEST_NOT_PENDING",
        "REQUEST_NOT_PENDING",
    )
    assert details["reason"] == reason


@pytest.mark.parametrize(
    "given",
    ["", "{", "[]", "null", '"text"', "{}", b"\xff\xfe", bash(tool_input="rm"), bash(session_id=7), bash(tool_name="")],
)
def test_what_is_not_understood_blocks(desk: Desk, given: Any) -> None:
    with desk.hook(*CLAUDE, event=given) as hook:
        done = hook.ended()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Not run: ")


@pytest.mark.parametrize(
    "arguments", [("nobody",), ("claude-code", "--tiemout", "3"), ("claude-code", "--timeout", "long"), ()]
)
def test_wrong_arguments_block(desk: Desk, arguments: tuple[str, ...]) -> None:
    with desk.hook(*arguments, event=bash()) as hook:
        assert hook.ended().returncode == 2


def test_settings_that_cannot_be_read_are_a_no(desk: Desk) -> None:
    file = desk.home / ".config" / "interlock" / "hook.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"url": 1')
    file.chmod(0o600)
    assert "hook.json" in refusal(desk)
    file.write_text("{}")
    file.chmod(0o644)
    assert "chmod 600" in refusal(desk)


def test_an_ask_goes_on_where_no_note_can_be_written(desk: Desk) -> None:
    (desk.home / ".local").write_text("a file in the way")
    with desk.hook(*CLAUDE, event=bash()) as hook:
        desk.allow(desk.asked()[0]["request_id"])
        assert decision(hook.said())["behavior"] == "allow"


def test_a_server_killed_while_it_is_waited_for_is_waited_for_again(mortal: MortalServer) -> None:
    desk = mortal.desk
    with desk.hook(*CLAUDE, event=bash()) as hook:
        [asked] = desk.asked()
        mortal.restart()
        assert [one["request_id"] for one in desk.asked()] == [asked["request_id"]]
        desk.allow(asked["request_id"])
        assert decision(hook.said()) == {"behavior": "allow"}


def test_a_reply_that_is_lost_asks_nobody_twice(desk: Desk, server: ServerProcess) -> None:
    with Network(server.url) as network:
        network.losing = 2
        with desk.hook(*CLAUDE, event=bash(), INTERLOCK_URL=network.url) as hook:
            wait_for(lambda: network.losing, lambda left: left == 0)
            [asked] = desk.asked()
            network.cut()
            desk.allow(asked["request_id"])
            assert decision(hook.said())["behavior"] == "allow"
    assert desk.waiting() == []


def settle(desk: Desk, event: Any) -> None:
    with desk.hook("claude-code", "--settled", event=event) as hook:
        done = hook.ended()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_was_answered_at_the_terminal_is_withdrawn_and_a_late_answer_is_told(desk: Desk) -> None:
    with desk.hook(*CLAUDE, event=bash()) as hook, desk.hook(*CLAUDE, event=bash("ls")) as other:
        asked = {one["request_data"]["args"]["command"]: one["request_id"] for one in desk.asked(2)}
        settle(desk, ran(bash()))
        assert decision(hook.said())["behavior"] == "deny"
        assert [one["request_id"] for one in desk.waiting()] == [asked["ls"]]
        refused = desk.person.try_respond(asked["touch one.txt"], {"granted": True})
        details = error_of(refused, 400, "HITL_REQUEST_NOT_PENDING", "REQUEST_NOT_PENDING")
        assert details["reason"] == "answered_at_the_terminal"
        desk.allow(asked["ls"])
        assert decision(other.said())["behavior"] == "allow"


QUESTIONS: dict[str, Any] = {"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]}


@pytest.mark.parametrize(
    ("tool", "asked", "told"),
    [
        ("AskUserQuestion", QUESTIONS, {**QUESTIONS, "answers": {"Which?": "A"}, "annotations": {}}),
        ("ExitPlanMode", {"plan": "# Plan", "planFilePath": "/home/ann/.claude/plans/p.md"}, {}),
    ],
)
def test_what_is_told_otherwise_at_its_end_is_known_again(
    desk: Desk, tool: str, asked: dict[str, Any], told: dict[str, Any]
) -> None:
    """As Claude Code tells it."""
    event = bash(tool_name=tool, tool_input=asked)
    with desk.hook(*CLAUDE, event=event) as hook:
        desk.asked()
        noted(desk, 1)
        settle(desk, ran(event, tool_input=told))
        assert desk.waiting() == []
        assert decision(hook.said())["behavior"] == "deny"
    # Of one that was allowed here too: the next one that is alike stays.
    with desk.hook(*CLAUDE, event=event) as hook:
        response = {"answers": ["A"]} if tool == "AskUserQuestion" else {"granted": True}
        desk.person.respond(desk.asked()[0]["request_id"], response)
        assert decision(hook.said())["behavior"] == "allow"
    with desk.hook(*CLAUDE, event=event):
        desk.asked()
        noted(desk, 1)
        settle(desk, ran(event, tool_input=told))
        assert len(desk.waiting()) == 1


def test_an_answer_at_the_terminal_is_told_when_a_server_that_was_away_is_back(mortal: MortalServer) -> None:
    desk = mortal.desk
    with desk.hook(*CLAUDE, event=bash()) as hook:
        [asked] = desk.asked()
        noted(desk, 1)
        mortal.kill()
        settle(desk, ran(bash()))
        mortal.start()
        assert decision(hook.said())["behavior"] == "deny"
    late = desk.person.try_respond(asked["request_id"], {"granted": True})
    details = error_of(late, 400, "HITL_REQUEST_NOT_PENDING", "REQUEST_NOT_PENDING")
    assert details["reason"] == "answered_at_the_terminal"


def test_a_call_that_was_allowed_here_withdraws_no_other_that_is_alike(desk: Desk) -> None:
    with desk.hook(*CLAUDE, event=bash()) as first:
        desk.allow(desk.asked()[0]["request_id"])
        assert decision(first.said())["behavior"] == "allow"
    with desk.hook(*CLAUDE, event=bash()) as second:
        [asked] = desk.asked()
        settle(desk, ran(bash()))
        assert [one["request_id"] for one in desk.waiting()] == [asked["request_id"]]
        settle(desk, ran(bash()))
        assert decision(second.said())["behavior"] == "deny"
    assert desk.waiting() == []


def test_of_two_that_are_alike_one_end_withdraws_one(desk: Desk) -> None:
    with desk.hook(*CLAUDE, event=bash()) as first:
        [older] = desk.asked()
        with desk.hook(*CLAUDE, event=bash()) as second:
            desk.asked(2)
            noted(desk, 2)
            settle(desk, ran(bash()))
            [left] = desk.waiting()
            assert left["request_id"] != older["request_id"]
            desk.allow(left["request_id"])
            assert decision(second.said())["behavior"] == "allow"
        assert decision(first.said())["behavior"] == "deny"


def test_an_edited_call_is_known_again_by_what_ran(desk: Desk) -> None:
    edited = {"command": "touch two.txt", "description": "Make one"}
    with desk.hook(*CLAUDE, event=bash()) as hook:
        desk.allow(desk.asked()[0]["request_id"], args=edited)
        assert decision(hook.said())["updatedInput"] == edited
    with desk.hook(*CLAUDE, event=bash("touch two.txt")):
        desk.asked()
        settle(desk, ran(bash("touch two.txt")))
        assert len(desk.waiting()) == 1


@pytest.mark.parametrize(
    ("event", "prompt", "left"),
    [
        ("Stop", "first", ["another session", "second", "subagent"]),
        ("UserPromptSubmit", "second", ["another session", "second", "subagent"]),
        # Slow hooks tell of a turn when the next one is on, or has not heard of its own beginning yet.
        ("Stop", "zeroth", ["another session", "first", "second", "subagent"]),
        ("Stop", "", ["another session", "subagent"]),
        ("SessionEnd", "second", ["another session"]),
    ],
)
def test_the_end_of_a_turn_withdraws_what_was_asked_in_it(desk: Desk, event: str, prompt: str, left: list[str]) -> None:
    with (
        desk.hook(*CLAUDE, event=bash("first", prompt_id="first")),
        desk.hook(*CLAUDE, event=bash("second", prompt_id="second")),
        desk.hook(*CLAUDE, event=bash("subagent", prompt_id="first", agent_id="a1", agent_type="Explore")),
        desk.hook(*CLAUDE, event=bash("another session", prompt_id="first", session="another")),
    ):
        desk.asked(4)
        noted(desk, 4)
        settle(desk, {"session_id": bash()["session_id"], "hook_event_name": event, "prompt_id": prompt})
        assert sorted(one["request_data"]["args"]["command"] for one in desk.waiting()) == left


def noted(desk: Desk, count: int) -> None:
    """Once the hooks know which requests are theirs: a moment after everybody sees them."""
    folder = desk.home / ".local" / "state" / "interlock" / "hook"

    def look() -> int:
        return sum("request_id" in file.read_text() for file in folder.glob("*/*.open"))

    wait_for(look, lambda found: found == count)


def test_an_end_that_is_not_understood_is_not_in_the_way(desk: Desk) -> None:
    for event in ("{", "{}", {"session_id": "x", "hook_event_name": "Unknown"}):
        with desk.hook("claude-code", "--settled", event=event) as hook:
            done = hook.ended()
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr


def test_the_hook_loads_the_standard_library_and_nothing_else(desk: Desk) -> None:
    script = (
        f"import sys; sys.path.insert(0, {_source()!r})\n"
        "from interlock_client.hook.entry import main\n"
        "code = main(['claude-code', '--timeout', '12'])\n"
        "known = {*sys.stdlib_module_names, '__main__'}\n"
        "print(code, *(name for name in sys.modules if name.partition('.')[0] not in known), file=sys.stderr)"
    )
    done = subprocess.run(
        # Without what is installed: what is needed of it fails.
        [sys.executable, "-I", "-S", "-c", script],
        input=json.dumps(bash()),
        capture_output=True,
        text=True,
        env={**desk.environment, "INTERLOCK_URL": "http://127.0.0.1:9"},
        timeout=60,
        check=True,
    )
    assert decision(json.loads(done.stdout))["behavior"] == "deny"
    code, *loaded = done.stderr.split()
    assert code == "0"
    assert [name for name in loaded if not name.startswith("interlock_client.hook.")] == [
        "interlock_client",
        "interlock_client.hook",
    ]


def _source() -> str:
    return str(Path(interlock_client.__file__).parents[1])


def test_the_command_is_there_beside_the_others() -> None:
    assert os.access(PROGRAM, os.X_OK)
    done = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, timeout=60, check=True)
    assert "claude-code" in done.stdout
