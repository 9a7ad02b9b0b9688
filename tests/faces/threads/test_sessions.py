"""Sessions: made, listed, paged and deleted."""

import uuid
from datetime import datetime, timedelta

import pytest

from tests.support.people import People
from tests.support.puppet import calls, gate, says, script
from tests.support.threads import ThreadsClient
from tests.support.wire import opened, until
from tests.support.witness import Witness


def test_a_session_gets_an_id_of_its_owners_name_and_a_uuid(alice: ThreadsClient) -> None:
    reply = alice.http.post("/api/sessions", json={})
    assert reply.status_code == 200
    assert reply.json().keys() == {"thread_id"}
    name, _, rest = reply.json()["thread_id"].partition("-")
    assert name == "alice"
    assert str(uuid.UUID(rest)) == rest


def test_a_session_can_be_made_without_a_body(alice: ThreadsClient) -> None:
    assert alice.http.post("/api/sessions").status_code == 200


def test_a_session_talks_to_the_agent_that_it_was_made_with(alice: ThreadsClient) -> None:
    thread_id = alice.new_thread("demo")
    assert alice.chat(thread_id, "hello").text
    puppets = alice.new_thread("puppet")
    assert alice.chat(puppets, script(says("as told"))).text == "as told"


def test_an_unknown_agent_is_refused_with_the_names_of_the_known_ones(alice: ThreadsClient) -> None:
    reply = alice.http.post("/api/sessions", json={"agent": "nobody"})
    assert reply.status_code == 400
    assert "puppet" in reply.json()["detail"]
    assert "demo" in reply.json()["detail"]
    reply = alice.http.post("/api/chat", json={"message": "hi", "agent": "nobody"})
    assert reply.status_code == 400


@pytest.mark.parametrize("body", [{"agent": 1}, {"agent": False}, [], "text", 1])
def test_a_body_of_another_form_is_unprocessable(alice: ThreadsClient, body: object) -> None:
    reply = alice.http.post("/api/sessions", json=body)
    assert reply.status_code == 422
    assert "detail" in reply.json()


def test_an_entry_tells_title_time_count_and_status(people: People) -> None:
    person = people.named("lister")
    thread_id = person.new_thread("demo")
    person.chat(thread_id, "创建一个 hello.py 文件")
    listed = person.http.get("/api/sessions").json()
    assert listed.keys() == {"threads", "total"}
    assert listed["total"] == 1
    entry = listed["threads"][0]
    assert entry.keys() == {"thread_id", "title", "created_at", "message_count", "status"}
    assert entry["thread_id"] == thread_id
    assert entry["title"] == "创建一个 hello.py 文件"
    assert entry["status"] == "interrupted"
    assert entry["message_count"] == 2
    made = datetime.fromisoformat(entry["created_at"])
    assert made.utcoffset() == timedelta(0)


def test_a_running_thread_is_listed_as_idle(people: People, witness: Witness) -> None:
    person = people.named("runner")
    thread_id = person.new_thread()
    message = {"message": script(says("begun", gate("listed")))}
    with opened(person, f"/api/chat/{thread_id}", message) as frames:
        until(frames, "messages/partial")
        assert person.http.get("/api/sessions").json()["threads"][0]["status"] == "idle"
        witness.release("listed")
        until(frames, "end")


def test_pages_are_cut_from_the_one_last_touched_to_the_oldest(people: People) -> None:
    person = people.named("pager")
    made = [person.new_thread() for _ in range(5)]
    person.chat(made[1], script(says("touched")))
    expected = [made[1], made[4], made[3], made[2], made[0]]
    seen: list[str] = []
    for page in (1, 2, 3):
        listed = person.http.get("/api/sessions", params={"page": page, "page_size": 2}).json()
        assert listed["total"] == 5
        seen += [entry["thread_id"] for entry in listed["threads"]]
    assert seen == expected
    assert person.http.get("/api/sessions", params={"page": 4, "page_size": 2}).json() == {"threads": [], "total": 5}


@pytest.mark.parametrize(
    "params", [{"page": 0}, {"page": -1}, {"page_size": 0}, {"page_size": 201}, {"page": "x"}, {"page": 10**30}]
)
def test_a_page_that_cannot_be_is_unprocessable(alice: ThreadsClient, params: dict[str, int | str]) -> None:
    assert alice.http.get("/api/sessions", params=params).status_code == 422


def test_people_see_their_own_threads_only(alice: ThreadsClient, people: People) -> None:
    alice.new_thread()
    loner = people.named("loner")
    assert loner.http.get("/api/sessions").json() == {"threads": [], "total": 0}


def test_a_deleted_thread_is_gone(alice: ThreadsClient) -> None:
    thread_id = alice.new_thread()
    alice.chat(thread_id, script(says("hi")))
    reply = alice.http.delete(f"/api/sessions/{thread_id}")
    assert (reply.status_code, reply.json()) == (200, {"thread_id": thread_id, "deleted": True})
    for path in ("status", "history", "stream"):
        assert alice.http.get(f"/api/{path}/{thread_id}").status_code == 403
    assert alice.http.delete(f"/api/sessions/{thread_id}").status_code == 403
    assert alice.chat(thread_id, script(says("again"))).status == 403
    assert alice.resume(thread_id, "continue").status == 403
    listed = alice.http.get("/api/sessions", params={"page_size": 200}).json()["threads"]
    assert thread_id not in [entry["thread_id"] for entry in listed]


def test_deleting_ends_what_waits_and_what_follows(alice: ThreadsClient, witness: Witness) -> None:
    thread_id = alice.new_thread()
    message = {"message": script(says("begun", gate("never-opened")))}
    with opened(alice, f"/api/chat/{thread_id}", message) as frames:
        until(frames, "messages/partial")
        assert alice.http.delete(f"/api/sessions/{thread_id}").status_code == 200
        assert [frame.event for frame in until(frames, "end")] == ["error", "end"]
    witness.release("never-opened")


def test_deleting_a_paused_thread_runs_nothing(alice: ThreadsClient, witness: Witness) -> None:
    thread_id = alice.new_thread()
    asked = alice.chat(thread_id, script(calls(("guarded", {"name": "of-a-deleted-thread"}))))
    assert alice.http.delete(f"/api/sessions/{thread_id}").status_code == 200
    late = alice.resume(thread_id, "continue", request_id=asked.first("interrupt")["request_id"])
    assert late.status == 403
    assert witness.count("of-a-deleted-thread") == 0
