"""The inbox's routes: the list, one request in full, and answers that are bound to what was shown."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.hitl import QUESTION, of
from tests.support.inbox import INBOX, answer, asked, view
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient, bounded, parse
from tests.support.waiting import wait_for
from tests.support.wire import at_once
from tests.support.witness import Witness


def test_the_list_tells_what_waits_and_how_risky_it_is(alice: ThreadsClient) -> None:
    risky, plain = asked(alice, ("execute", {"command": "rm -r x"}), ("guarded", {"name": "listed"}))
    assert (risky["kind"], risky["tool"], risky["risk"]) == ("approval", "execute", "high")
    assert risky["headline"] == "execute rm -r x"
    assert (plain["risk"], plain["position"], plain["in_pause"]) == ("medium", 1, 2)
    assert (risky["owner"], risky["agent"], risky["batchable"]) == ("alice", "puppet", False)


def test_the_list_is_filtered_searched_and_paged(people: People) -> None:
    owner = people.named("inbox-pages")
    entries = asked(owner, *(("guarded", {"name": f"日本-{number}"}) for number in range(3)))
    seen: list[str] = []
    cursor = None
    while True:
        query = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = owner.http.get(INBOX, params=query).json()
        assert page["total"] == 3
        seen += [entry["request_id"] for entry in page["requests"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert sorted(seen) == sorted(entry["request_id"] for entry in entries)

    def found(**query: str) -> int:
        return len(owner.http.get(INBOX, params=query).json()["requests"])

    assert (found(q="日本-1"), found(q="nothing"), found(q="%")) == (1, 0, 0)
    assert (found(kind="approval"), found(kind="decision")) == (3, 0)
    assert (found(risk="medium"), found(risk="high")) == (3, 0)
    assert (found(agent="puppet"), found(agent="demo")) == (3, 0)


def test_what_closes_soon_can_be_asked_for(people: People) -> None:
    owner = people.named("inbox-closing")
    with of(owner) as outside:
        late, soon, never = (
            outside.ask("clarification", QUESTION, timeout_seconds=seconds)["request_id"] for seconds in (900, 60, None)
        )

    def closing(within: str) -> list[str]:
        listed = owner.http.get(INBOX, params={"closing_within": within}).raise_for_status().json()
        assert listed["total"] == len(listed["requests"])
        return [entry["request_id"] for entry in listed["requests"]]

    assert closing("300") == [soon]
    assert closing("3600") == [late, soon]
    assert never in {entry["request_id"] for entry in owner.http.get(INBOX).json()["requests"]}
    for wrong in ("0", "-1", "x", "1e9", "86401"):
        assert owner.http.get(INBOX, params={"closing_within": wrong}).status_code == 422


def test_what_will_run_is_shown_to_the_last_line(alice: ThreadsClient) -> None:
    command = "\n".join(f"echo {number}" for number in range(5_000))
    shown = view(alice, asked(alice, ("execute", {"command": command}))[0])
    assert shown["view"] == {
        "type": "command",
        "lines": command.split("\n"),
        "rest": [],
        "details": [],
        "presentation": None,
    }
    assert re.fullmatch(r"\d{4}", shown["code"])
    assert shown["args_schema"]["properties"].keys() == {"command"}
    assert shown["allowed"] == ["accept", "edit", "reject", "response"]


def test_the_same_call_has_another_code_each_time(alice: ThreadsClient) -> None:
    again = [view(alice, asked(alice, ("execute", {"command": "the same"}))[0]) for _ in range(6)]
    assert len({shown["digest"] for shown in again}) == 1
    # Two of them may have the same digits by chance, and not six.
    assert len({shown["code"] for shown in again}) > 1
    assert view(alice, again[0])["code"] == again[0]["code"]
    learned = next(shown["code"] for shown in again if shown["code"] != again[0]["code"])
    refused = answer(alice, again[0], {"decision": "accept"}, code=learned)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "code")


def test_a_yes_to_what_is_risky_repeats_the_code(alice: ThreadsClient, witness: Witness) -> None:
    shown = view(alice, asked(alice, ("execute", {"command": "coded"}))[0])
    for code in (None, "", "0000" if shown["code"] != "0000" else "1111"):
        refused = answer(alice, shown, {"decision": "accept"}, **({} if code is None else {"code": code}))
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "code")
    assert view(alice, shown)["status"] == "pending"
    assert answer(alice, shown, {"decision": "accept"}, code=shown["code"]).status_code == 200
    wait_for(lambda: witness.count("coded"), lambda count: count == 1)


def test_an_accept_with_other_arguments_than_were_shown_is_refused(alice: ThreadsClient, witness: Witness) -> None:
    shown = view(alice, asked(alice, ("guarded", {"name": "as-shown"}))[0])
    refused = answer(alice, shown, {"decision": "accept", "args": {"name": "as-meant"}})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "args")
    assert view(alice, shown)["status"] == "pending"
    assert (witness.count("as-shown"), witness.count("as-meant")) == (0, 0)


def test_a_no_to_what_is_risky_needs_no_code(alice: ThreadsClient, witness: Witness) -> None:
    shown = view(alice, asked(alice, ("execute", {"command": "refused-uncoded"}))[0])
    assert answer(alice, shown, {"decision": "reject", "message": "no"}).status_code == 200
    assert witness.count("refused-uncoded") == 0


def test_an_answer_to_something_else_than_was_shown_is_not_taken(alice: ThreadsClient, witness: Witness) -> None:
    one, other = (view(alice, entry) for entry in asked(alice, *(("guarded", {"name": name}) for name in ("p", "q"))))
    mixed_up = answer(alice, {**one, "digest": other["digest"]}, {"decision": "accept"})
    assert (mixed_up.status_code, mixed_up.json()["code"]) == (409, "not_shown")
    assert view(alice, one)["status"] == "pending"
    assert witness.count("p") == 0


def test_the_same_key_gives_the_same_reply_and_one_answer_wins(alice: ThreadsClient, people: People) -> None:
    shown = view(alice, asked(alice, ("guarded", {"name": "raced"}))[0])
    clients = [people.again("alice") for _ in range(6)]
    replies = at_once(6, lambda index: answer(clients[index], shown, {"decision": "reject"}, key="same-key"))
    assert {reply.status_code for reply in replies} == {200}
    assert len({reply.content for reply in replies}) == 1
    late = answer(alice, shown, {"decision": "accept"})
    assert (late.status_code, late.json()["code"]) == (409, "already_settled")


def test_how_an_answer_came_about_is_in_the_audit_trail_and_the_history(alice: ThreadsClient) -> None:
    shown = view(alice, asked(alice, ("guarded", {"name": "dwelt"}))[0])
    answer(alice, shown, {"decision": "reject", "message": "no"}, dwell_ms=4_200).raise_for_status()
    history = alice.http.get("/api/v1/history", params={"tool": "guarded", "outcome": "refused"}).json()["entries"]
    entry = next(one for one in history if one["request_id"] == shown["request_id"])
    assert (entry["by"], entry["source"], entry["dwell_ms"], entry["digest"]) == (
        "alice",
        "web",
        4_200,
        shown["digest"],
    )
    audit = alice.http.get("/api/v1/audit", params={"conversation_id": shown["conversation_id"]}).json()["entries"]
    settled = next(one for one in audit if one["action"] == "request.answered")
    assert settled["data"]["metadata"]["digest_shown"] == shown["digest"]


def test_the_file_behind_a_call_is_shown_and_must_not_change_meanwhile(own: ServerProcess, demo: ThreadsClient) -> None:
    file = own.data / "workspace" / "notes.txt"
    file.write_text("before\n")
    thread_id = demo.new_thread()
    demo.chat(thread_id, "write notes.txt: after")
    entry = demo.http.get(INBOX).json()["requests"][-1]
    shown = view(demo, entry)
    assert (shown["file"]["text"], shown["file"]["after"], shown["view"]["type"]) == ("before\n", "after", "file")
    file.write_text("somebody else was here\n")
    changed = answer(demo, shown, {"decision": "accept"}, file_sha256=shown["file"]["sha256"])
    assert (changed.status_code, changed.json()["code"]) == (409, "file_changed")
    again = view(demo, entry)
    assert again["status"] == "pending"
    assert answer(demo, again, {"decision": "accept"}, file_sha256=again["file"]["sha256"]).status_code == 200
    wait_for(file.read_text, lambda text: text.strip() == "after")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with the demo agent, whose files are in its data folder."""
    process = ServerProcess(tmp_path_factory.mktemp("inbox"), environment={"INTERLOCK_LOCALE": "en"})
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture
def demo(own: ServerProcess) -> Iterator[ThreadsClient]:
    with People(own.url) as people:
        yield people.named("root")


def test_nobody_else_sees_looks_at_or_answers_it(alice: ThreadsClient, bob: ThreadsClient) -> None:
    shown = view(alice, asked(alice, ("guarded", {"name": "private"}))[0])
    listed = bob.http.get(INBOX, params={"limit": 200}).json()["requests"]
    assert shown["request_id"] not in [entry["request_id"] for entry in listed]
    assert bob.http.get(f"{INBOX}/requests/{shown['request_id']}").status_code == 403
    assert answer(bob, shown, {"decision": "accept"}).status_code == 403
    assert bob.http.post(f"{INBOX}/looking", json={"request_id": shown["request_id"]}).status_code == 403


def test_more_time_is_given_while_there_is_some_left(alice: ThreadsClient) -> None:
    body = {"type": "clarification", "request_data": {"question": "More?"}, "timeout_seconds": 60}
    made = alice.http.post("/api/v1/agent/hitl/requests", json=body).json()["data"]
    path = f"{INBOX}/requests/{made['request_id']}/extend"
    longer = alice.http.post(path, json={"seconds": 300}).raise_for_status().json()
    assert longer["expires_at"] > made["expires_at"]
    assert alice.http.post(path, json={"seconds": -1}).status_code == 422
    fixed = {**body, "request_data": {"question": "Fixed?", "extendable": False}}
    made = alice.http.post("/api/v1/agent/hitl/requests", json=fixed).json()["data"]
    refused = alice.http.post(f"{INBOX}/requests/{made['request_id']}/extend", json={"seconds": 300})
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")


def test_the_stream_tells_of_everything_that_one_may_see(owner: ThreadsClient, bob: ThreadsClient) -> None:
    told: list[tuple[str, dict[str, Any]]] = []
    with owner.http.stream("GET", f"{INBOX}/stream") as response:
        frames = parse(bounded(response.iter_lines()))
        assert next(frames).event == "hello"
        asked(bob, ("guarded", {"name": "not for them"}))
        shown = view(owner, asked(owner, ("guarded", {"name": "streamed"}))[0])
        owner.http.post(f"{INBOX}/looking", json={"request_id": shown["request_id"]}).raise_for_status()
        answer(owner, shown, {"decision": "reject"}).raise_for_status()
        for frame in frames:
            told.append((frame.event, frame.data))
            if frame.event == "settled":
                break
    assert [event for event, _ in told] == ["asked", "looking", "settled"]
    assert {data["request_id"] for _, data in told} == {shown["request_id"]}
    assert told[1][1]["names"] == [owner.username]
    assert told[2][1]["answered_by"] == owner.username
    assert "not for them" not in json.dumps(told)


def test_of_a_deleted_conversation_only_those_are_told_whose_it_was(people: People) -> None:
    owners = [people.named("deletes-one"), people.named("deletes-another")]
    deleted = [owner.new_thread() for owner in owners]
    first, second = (owner.http.stream("GET", f"{INBOX}/stream") for owner in owners)
    with first as one, second as other:
        streams = [parse(bounded(response.iter_lines())) for response in (one, other)]
        assert [next(frames).event for frames in streams] == ["hello", "hello"]
        for owner, thread_id in zip(owners, deleted, strict=True):
            owner.http.delete(f"/api/sessions/{thread_id}").raise_for_status()
        assert [next(frames).data["conversation_id"] for frames in streams] == deleted


def test_a_page_of_history_ends_where_the_next_begins(people: People) -> None:
    owner = people.named("inbox-history")
    for name in ("h1", "h2", "h3"):
        shown = view(owner, asked(owner, ("guarded", {"name": name}))[0])
        answer(owner, shown, {"decision": "reject"}).raise_for_status()
    seen: list[str] = []
    cursor = None
    while True:
        query = {"limit": 1, "outcome": "refused", **({"cursor": cursor} if cursor else {})}
        page = owner.http.get("/api/v1/history", params=query).raise_for_status().json()
        seen += [entry["headline"] for entry in page["entries"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == ["guarded h3", "guarded h2", "guarded h1"]


def test_the_agents_are_told_with_their_tools_and_risks(alice: ThreadsClient) -> None:
    agents = {agent["name"]: agent for agent in alice.http.get("/api/v1/agents").json()["agents"]}
    tools = {tool["name"]: tool for tool in agents["puppet"]["tools"]}
    assert (tools["execute"]["risk"], tools["guarded"]["risk"]) == ("high", "medium")
    assert tools["execute"]["args_schema"]["properties"].keys() == {"command"}
