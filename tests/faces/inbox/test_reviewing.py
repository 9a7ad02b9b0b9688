"""What reviewers can rely on: nothing breaks on strange text, every danger takes the code, a stop stops."""

import json
from typing import Any

from tests.support.inbox import INBOX, answer, asked, told, view
from tests.support.people import People
from tests.support.puppet import calls, says, script
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness


def test_halves_of_characters_are_shown_as_they_are(owner: ThreadsClient) -> None:
    half = "\ud800"
    data = {"tool_name": f"tool{half}", "args": {f"name{half}": [half]}, "description": half}
    made = owner.http.post(
        "/api/v1/agent/hitl/requests",
        content=json.dumps({"type": "permission", "request_data": data}),
        headers={"content-type": "application/json"},
    ).json()["data"]
    shown = view(owner, made)
    assert shown["body"]["args"] == {f"name{half}": [half]}
    assert f'  "name{half}": [' in shown["view"]["lines"]
    for path in ("/api/v1/inbox", "/api/v1/inbox/conversations", "/api/sessions"):
        assert owner.http.get(path).status_code == 200
    assert answer(owner, shown, {"decision": "reject", "message": "no"}).status_code == 200
    assert view(owner, made)["status"] == "answered"
    (entry,) = owner.http.get("/api/v1/history").raise_for_status().json()["entries"]
    assert half in entry["headline"]


def test_what_was_cancelled_says_by_whom_and_why(owner: ThreadsClient) -> None:
    (entry,) = asked(owner, ("guarded", {"name": "cancelled"}))
    cancelled = owner.http.post(
        f"{INBOX}/requests/{entry['request_id']}/cancel",
        json={"reason": "too late"},
        headers={"idempotency-key": "cancel"},
    )
    assert cancelled.status_code == 200
    shown = view(owner, entry)
    assert (shown["answered_by"], shown["source"], shown["reason"]) == (owner.username, "web", "too late")
    (row,) = owner.http.get("/api/v1/history", params={"who": owner.username}).json()["entries"]
    assert (row["outcome"], row["by"], row["source"]) == ("cancelled", owner.username, "web")


def test_an_answer_that_was_recalled_does_not_take_effect_when_it_arrives(owner: ThreadsClient) -> None:
    shown = view(owner, asked(owner, ("guarded", {"name": "recalled"}))[0])
    path = f"{INBOX}/requests/{shown['request_id']}/answer/recall"
    recalled = owner.http.post(path, headers={"idempotency-key": "late"})
    assert (recalled.status_code, recalled.json()) == (200, {"settled": None})
    late = answer(owner, shown, {"decision": "accept"}, key="late")
    assert (late.status_code, late.json()["code"]) == (422, "key_reused")
    assert view(owner, shown)["status"] == "pending"
    taken = answer(owner, shown, {"decision": "reject"}, key="in time").raise_for_status()
    for _ in range(2):
        recalled = owner.http.post(path, headers={"idempotency-key": "in time"})
        assert recalled.json() == {"settled": taken.json()}


def test_nobody_hears_of_what_another_one_answered_under_the_same_key(owner: ThreadsClient, people: People) -> None:
    other = people.named("somebody-else")
    shown = view(owner, asked(owner, ("guarded", {"name": "not theirs"}))[0])
    answer(owner, shown, {"decision": "reject"}, key="shared").raise_for_status()
    path = f"{INBOX}/requests/{shown['request_id']}/answer/recall"
    assert other.http.post(path, headers={"idempotency-key": "shared"}).json() == {"settled": None}
    assert owner.http.post(path, headers={"idempotency-key": "shared"}).json()["settled"] is not None


def test_a_dangerous_option_and_a_wide_promise_take_the_code(owner: ThreadsClient) -> None:
    options = [{"key": "go", "label": "Go", "style": "danger"}, {"key": "no", "label": "No"}]
    body = {"type": "decision", "request_data": {"title": "Deploy?", "options": options}}
    made = owner.http.post("/api/v1/agent/hitl/requests", json=body).json()["data"]
    shown = view(owner, made)
    refused = answer(owner, shown, {"decision": "go"})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "code")
    assert answer(owner, shown, {"decision": "go"}, code=shown["code"]).status_code == 200
    high = view(owner, asked(owner, ("execute", {"command": "ls"}))[0])
    wide = {"remember": {"duration": "session", "scope": "this_tool"}, "code": high["code"]}
    refused = answer(owner, high, {"decision": "accept"}, **wide)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "remember.scope")
    medium = view(owner, asked(owner, ("guarded", {"name": "wide"}))[0])
    every = {"remember": {"duration": "session", "scope": "all_tools"}}
    refused = answer(owner, medium, {"decision": "accept"}, **every)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "code")


def test_a_promise_for_high_risk_too_takes_the_code_and_is_confirmed(owner: ThreadsClient) -> None:
    shown = view(owner, asked(owner, ("guarded", {"name": "raised"}))[0])
    raised = {"duration": "session", "scope": "this_tool", "also_high_risk": True}
    confirmed = raised | {"confirm_high_risk": True}
    refused = answer(owner, shown, {"decision": "accept"}, remember=confirmed)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "code")
    refused = answer(owner, shown, {"decision": "accept"}, remember=raised, code=shown["code"])
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "confirm_high_risk")
    assert owner.http.get("/api/v1/grants").json() == {"grants": []}
    answer(owner, shown, {"decision": "accept"}, remember=confirmed, code=shown["code"]).raise_for_status()
    (grant,) = owner.http.get("/api/v1/grants").json()["grants"]
    assert (grant["scope"], grant["ceiling"], grant["owner"]) == ("this_tool", "high", owner.username)


def test_conversations_are_listed_and_stopped(owner: ThreadsClient, witness: Witness) -> None:
    thread = owner.new_thread()
    message = script(calls(("hold", {"name": "stopped-here"})), says("never said"))
    headers = {"x-on-disconnect": "continue"}
    with owner.http.stream("POST", f"/api/chat/{thread}", json={"message": message}, headers=headers):
        wait_for(lambda: witness.count("stopped-here"), lambda count: count == 1)
    (entry,) = owner.http.get(f"{INBOX}/conversations").json()["conversations"]
    assert (entry["conversation_id"], entry["agent"], entry["state"], entry["outside"]) == (
        *(thread, "puppet", "running"),
        False,
    )
    path = f"{INBOX}/conversations/{thread}/stop"
    assert owner.http.post(path, json={"reason": "enough"}).json() == {"conversation_id": thread, "stopped": True}
    witness.release("stopped-here")
    wait_for(
        lambda: owner.http.get(f"{INBOX}/conversations").json()["conversations"][0]["state"],
        lambda state: state == "idle",
    )
    assert owner.http.post(path, json={}).json()["stopped"] is False
    assert "never said" not in str(owner.history(thread)[1:])


def test_what_programs_read_is_not_kept_by_browsers(owner: ThreadsClient) -> None:
    reply = owner.http.get(INBOX)
    assert (reply.headers["cache-control"], reply.headers["x-content-type-options"]) == ("no-store", "nosniff")


def result(person: ThreadsClient, request: dict[str, Any]) -> dict[str, Any]:
    """What came of a yes, once it is known."""
    given = lambda: view(person, request)["result"]  # noqa: E731
    return wait_for(given, lambda one: one["status"] not in ("waiting", "running"))


def test_what_came_of_a_yes_is_told_with_the_request(owner: ThreadsClient, witness: Witness) -> None:
    first, second = asked(owner, ("guarded", {"name": "one"}), ("guarded", {"name": "two"}))
    assert view(owner, first)["result"] is None
    assert answer(owner, first["request_id"], {"decision": "accept"}).status_code == 200
    assert view(owner, first)["result"] == {"status": "waiting", "output": ""}
    assert answer(owner, second["request_id"], {"decision": "reject", "message": "no"}).status_code == 200
    assert result(owner, first) == {"status": "success", "output": "done one"}
    assert view(owner, second)["result"] is None
    assert (witness.count("one"), witness.count("two")) == (1, 0)


def test_a_call_that_runs_is_told_to_run_until_it_has_ended(owner: ThreadsClient, witness: Witness) -> None:
    (held,) = asked(owner, ("guarded", {"name": "hold:long"}))
    assert answer(owner, held["request_id"], {"decision": "accept"}).status_code == 200
    wait_for(lambda: witness.count("at:hold:long"), lambda count: count == 1)
    assert view(owner, held)["result"] == {"status": "running", "output": ""}
    witness.release("hold:long")
    assert result(owner, held) == {"status": "success", "output": "done hold:long"}


def test_a_call_that_failed_is_told_with_its_reason(owner: ThreadsClient) -> None:
    (failing,) = told(owner, "delete nowhere.txt", "demo")
    shown = view(owner, failing)
    assert answer(owner, shown, {"decision": "accept"}, code=shown["code"]).status_code == 200
    found = result(owner, failing)
    assert found["status"] == "failed"
    assert "nowhere.txt" in found["output"]


def test_what_came_of_a_yes_to_an_agent_elsewhere_is_not_known_here(owner: ThreadsClient) -> None:
    body = {"type": "permission", "request_data": {"tool_name": "deploy", "args": {"to": "x"}}}
    made = owner.http.post("/api/v1/agent/hitl/requests", json=body).json()["data"]
    answer(owner, made["request_id"], {"decision": "accept"}, code=view(owner, made)["code"])
    assert view(owner, made)["result"] == {"status": "elsewhere", "output": ""}
