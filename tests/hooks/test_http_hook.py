"""Claude Code's HTTP hooks, answered by the server itself: held until a person has answered, with signs of life."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.hooks.claude import ClaudeCode, finished
from tests.hooks.hook import SECONDS, Desk, Event, bash, decision, ran
from tests.hooks.messages_model import MessagesModel, use
from tests.hooks.mortal import MortalServer
from tests.support.hitl import HitlClient, error_of
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for

HOOK = "/api/v1/hooks/claude-code"


def client(desk: Desk) -> httpx.Client:
    headers = {"authorization": f"Bearer {desk.key}"} if desk.key else {}
    return httpx.Client(base_url=desk.url, headers=headers, timeout=SECONDS)


class Held:
    """One hook that waits for its reply."""

    def __init__(self, desk: Desk, event: Event, **query: Any) -> None:
        self._replies: list[httpx.Response] = []
        self._http = client(desk)
        self._thread = threading.Thread(target=self._post, args=(event, query), daemon=True)
        self._thread.start()

    def _post(self, event: Event, query: dict[str, Any]) -> None:
        self._replies.append(self._http.post(HOOK, json=dict(event), params=query))

    def said(self) -> dict[str, Any]:
        self._thread.join(SECONDS)
        [reply] = self._replies
        assert reply.status_code == 200
        assert reply.headers["content-type"] == "application/json"
        return reply.json()

    def close(self) -> None:
        self._thread.join(SECONDS)
        self._http.close()


@contextmanager
def held(desk: Desk, event: Event, **query: Any) -> Generator[Held]:
    holding = Held(desk, event, **query)
    try:
        yield holding
    finally:
        for left in desk.waiting():
            desk.agent.try_cancel(left["request_id"])
        holding.close()


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ({"granted": True}, {"behavior": "allow"}),
        ({"granted": True, "args": {"command": "ls"}}, {"behavior": "allow", "updatedInput": {"command": "ls"}}),
        ({"granted": False, "reason": "no"}, {"behavior": "deny", "message": "A person refused it: no"}),
        ({"granted": False, "reply": "wait"}, {"behavior": "deny", "message": "It did not run. A person says: wait"}),
    ],
)
def test_the_answer_is_the_reply(desk: Desk, response: dict[str, Any], said: dict[str, Any]) -> None:
    with held(desk, bash(), timeout=120) as hook:
        [asked] = desk.asked()
        assert (asked["agent"], asked["timeout_seconds"]) == ("claude-code", 105)
        assert "transcript" not in json.dumps(asked)
        desk.person.respond(asked["request_id"], response)
        assert decision(hook.said()) == said


def test_claudes_own_questions_are_answered(desk: Desk) -> None:
    question = {"question": "Which colour?", "header": "Colour", "options": [{"label": "Red"}], "multiSelect": False}
    with held(desk, bash(tool_name="AskUserQuestion", tool_input={"questions": [question]})) as hook:
        [asked] = desk.asked()
        assert asked["type"] == "clarification"
        assert asked["request_data"]["questions"][0]["question"] == "Which colour?"
        desk.person.respond(asked["request_id"], {"answers": ["Red"]})
        updated = {"questions": [question], "answers": {"Which colour?": "Red"}}
        assert decision(hook.said()) == {"behavior": "allow", "updatedInput": updated}


def test_the_hook_and_the_command_share_the_conversation_of_a_session(desk: Desk) -> None:
    with held(desk, bash()), desk.hook("claude-code", "--timeout", "120", event=bash("ls")):
        one, two = desk.asked(2)
        assert one["conversation_id"] == two["conversation_id"]


def test_nobody_in_time_is_a_no(desk: Desk) -> None:
    with held(desk, bash(), timeout=20) as hook:
        assert decision(hook.said()) == {"behavior": "deny", "message": "Not run: nobody answered in time."}


@pytest.mark.parametrize("event", ["PermissionRequest", "PreToolUse"])
def test_a_request_that_is_deleted_is_a_no(desk: Desk, event: str) -> None:
    with held(desk, bash(session=f"deleted {event}", hook_event_name=event), timeout=120) as hook:
        [asked] = desk.asked()
        desk.person.http.delete(f"/api/sessions/{asked['conversation_id']}").raise_for_status()
        told = hook.said()["hookSpecificOutput"]
    assert "deny" in (told.get("permissionDecision"), told.get("decision", {}).get("behavior"))


@pytest.mark.parametrize(
    ("event", "reason"),
    [("PermissionRequest", "answered_at_the_terminal"), ("PreToolUse", "the agent no longer waits")],
)
def test_a_reply_that_is_held_shows_signs_of_life_and_who_is_gone_is_not_answered(
    desk: Desk, event: str, reason: str
) -> None:
    with client(desk) as http:
        with http.stream("POST", HOOK, json=dict(bash(session=f"gone {event}", hook_event_name=event))) as reply:
            chunks = reply.iter_raw()
            assert next(chunks) == b"\n"
            [asked] = desk.asked()
        wait_for(desk.waiting, lambda found: found == [])
    late = desk.person.try_respond(asked["request_id"], {"granted": True})
    details = error_of(late, 400, "HITL_REQUEST_NOT_PENDING", "REQUEST_NOT_PENDING")
    assert details["reason"] == reason


def tell(desk: Desk, event: Event) -> None:
    assert desk.agent.http.post(HOOK, json=dict(event)).raise_for_status().json() == {}


def test_what_was_answered_at_the_terminal_is_withdrawn(desk: Desk) -> None:
    with held(desk, bash()) as hook, held(desk, bash("ls")):
        desk.asked(2)
        tell(desk, ran(bash()))
        assert [one["request_data"]["args"]["command"] for one in desk.waiting()] == ["ls"]
        assert decision(hook.said())["behavior"] == "deny"
        tell(desk, {"session_id": bash()["session_id"], "hook_event_name": "SessionEnd"})
        assert desk.waiting() == []


def test_a_call_that_was_allowed_here_withdraws_no_other_that_is_alike(desk: Desk) -> None:
    with held(desk, bash()) as first:
        desk.allow(desk.asked()[0]["request_id"])
        assert decision(first.said())["behavior"] == "allow"
    with held(desk, bash()):
        desk.asked()
        tell(desk, ran(bash()))
        assert len(desk.waiting()) == 1
        tell(desk, ran(bash()))
        assert desk.waiting() == []


def test_another_askers_end_withdraws_nothing(desk: Desk) -> None:
    key = desk.person.new_key("another", "agent", agent="claude-code")["key"]
    with held(desk, bash()), HitlClient(desk.url, key) as other:
        desk.asked()
        assert other.http.post(HOOK, json=dict(ran(bash()))).json() == {}
        assert len(desk.waiting()) == 1


@pytest.mark.parametrize("event", [{}, {"hook_event_name": "Unknown"}, bash(tool_input="rm"), bash(session_id=1)])
def test_what_is_not_understood_is_refused(desk: Desk, event: Event) -> None:
    assert desk.agent.http.post(HOOK, json=dict(event)).status_code == 400
    assert desk.waiting() == []


def test_nobody_asks_without_a_key(desk: Desk) -> None:
    for headers in ({}, {"authorization": "Bearer ms_sk_" + "0" * 64}):
        assert httpx.post(desk.url + HOOK, json=dict(bash()), headers=headers, timeout=60).status_code == 401


def test_before_a_call_every_refusal_is_an_answer_as_an_error_would_let_it_run(desk: Desk) -> None:
    before: dict[str, Any] = {"hook_event_name": "PreToolUse", "tool_use_id": "toolu_1"}
    made = desk.person.new_key("revoked before", "agent", agent="claude-code")
    desk.person.http.delete(f"/api/v1/keys/{made['id']}").raise_for_status()
    refused: list[tuple[str, Event, dict[str, Any]]] = [
        (made["key"], bash(**before), {}),
        ("ms_sk_" + "0" * 64, bash(**before), {}),
        ("", bash(**before), {}),
        (desk.key, bash(**before), {"timeout": 5}),
        (desk.key, bash(**before, tool_input="rm"), {}),
        (desk.key, bash("x" * 2_000_000, **before), {}),
        (desk.key, bash(**before, tool_input={"deep": json.loads("[" * 70 + "]" * 70)}), {}),
    ]
    for key, event, query in refused:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        reply = httpx.post(desk.url + HOOK, json=dict(event), params=query, headers=headers, timeout=SECONDS)
        said = reply.raise_for_status().json()["hookSpecificOutput"]
        assert (said["hookEventName"], said["permissionDecision"]) == ("PreToolUse", "deny")
        assert said["permissionDecisionReason"].startswith("Not run: no person could be asked: ")
    assert desk.waiting() == []


def test_a_key_that_is_revoked_while_it_is_waited_for_is_a_no(desk: Desk) -> None:
    made = desk.person.new_key("revoked meanwhile", "agent", agent="claude-code")
    with HitlClient(desk.url, made["key"]) as agent:
        hook = Held(Desk(desk.url, made["key"], desk.person, desk.home), bash(hook_event_name="PreToolUse"))
        wait_for(lambda: agent.everything()["pending_requests"], bool, SECONDS)
        desk.person.http.delete(f"/api/v1/keys/{made['id']}").raise_for_status()
        assert hook.said()["hookSpecificOutput"]["permissionDecision"] == "deny"
        hook.close()


def test_a_server_that_stops_says_no_and_leaves_nothing_open(tmp_path: Path) -> None:
    process = ServerProcess(tmp_path / "stopping", auth="none", environment={"INTERLOCK_LOCALE": "en"})
    try:
        process.start()
        with HitlClient(process.url, "") as anybody:
            anybody.http.headers.pop("authorization")
            desk = Desk(process.url, "", anybody, tmp_path)
            desk.agent.http.headers.pop("authorization")
            with desk.agent:
                hook = Held(desk, bash())
                desk.asked()
                process.stop()
                assert "stopped" in decision(hook.said())["message"]
                hook.close()
                process.start()
        with HitlClient(process.url, "") as anybody:
            anybody.http.headers.pop("authorization")
            assert anybody.everything()["pending_requests"] == []
    finally:
        process.close()


def test_claude_code_itself_needs_nothing_installed(desk: Desk) -> None:
    with MessagesModel([use("Bash", command="touch one.txt", description="Make one")]) as model:
        claude = ClaudeCode(desk, model)
        headers = {"headers": {"Authorization": "Bearer $INTERLOCK_KEY"}, "allowedEnvVars": ["INTERLOCK_KEY"]}
        hook = {"type": "http", "url": f"{desk.url}{HOOK}?timeout=120", "timeout": 120, **headers}
        claude.settings = {"hooks": {"PermissionRequest": [{"matcher": "*", "hooks": [hook]}]}}
        with claude.run() as process:
            desk.allow(desk.asked()[0]["request_id"])
            finished(process)
        assert (claude.folder / "one.txt").exists()


def test_claude_code_itself_runs_nothing_where_the_server_is_killed_or_away(mortal: MortalServer) -> None:
    turns = [[use("Bash", f"toolu_{name}", command=f"touch {name}.txt", description="Make one")] for name in ("1", "2")]
    with MessagesModel(*turns) as model:
        claude = ClaudeCode(mortal.desk, model)
        hook = {"type": "http", "url": f"{mortal.desk.url}{HOOK}?timeout=120", "timeout": 120, "onFailure": "block"}
        claude.settings = {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}}
        with claude.run("--allowedTools", "Bash") as process:
            mortal.desk.asked()
            mortal.kill()
            finished(process)
        assert list(claude.folder.iterdir()) == []
        assert model.results.keys() == {"toolu_1", "toolu_2"}


@pytest.mark.parametrize("event", ["PermissionRequest", "PreToolUse"])
def test_claude_code_itself_runs_nothing_with_a_wrong_key(desk: Desk, event: str) -> None:
    with MessagesModel([use("Bash", command="touch one.txt", description="Make one")]) as model:
        claude = ClaudeCode(desk, model)
        hook = {"type": "http", "url": desk.url + HOOK, "headers": {"Authorization": "Bearer ms_sk_" + "0" * 64}}
        claude.settings = {"hooks": {event: [{"matcher": "*", "hooks": [hook]}]}}
        with claude.run("--allowedTools", "Bash" if event == "PreToolUse" else "Read") as process:
            finished(process)
        assert list(claude.folder.iterdir()) == []
        assert ("no person could be asked" in model.results["toolu_1"]) == (event == "PreToolUse")
