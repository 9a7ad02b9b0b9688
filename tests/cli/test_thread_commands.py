"""`interlock threads`: what is on record of a conversation, and how long it is kept."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from interlock.config import load
from interlock.domain.errors import InvalidInput
from tests.cli.conftest import Interlock, approved
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

VALUE = "planted-8f3a"


def exported(interlock: Interlock, live: ServerProcess, thread_id: str) -> dict[str, Any]:
    done = interlock("threads", "export", thread_id, *live.where)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def made_old(live: ServerProcess, *thread_ids: str) -> None:
    connection = sqlite3.connect(live.data / "interlock.db", timeout=30)
    with connection:
        for thread_id in thread_ids:
            changed = "UPDATE threads SET updated_at = '2020-01-01 00:00:00.000000' WHERE id = ?"
            assert connection.execute(changed, [thread_id]).rowcount == 1
    connection.close()


def test_an_export_has_what_was_shown_answered_and_done_and_who_did_it(
    interlock: Interlock, live: ServerProcess, alice: ThreadsClient
) -> None:
    thread_id = approved(alice, "first")
    document = exported(interlock, live, thread_id)
    assert (document["id"], document["thread"]["owner"], document["thread"]["status"]) == (thread_id, "alice", "idle")
    assert [run["status"] for run in document["runs"]] == ["paused", "done"]
    (pause,) = document["pauses"]
    (request,) = pause["requests"]
    assert request["body"]["args"] == {"name": "first"}
    assert request["answer"] | {"by_id": "", "at": ""} == {
        "value": {"decision": "accept"},
        "by_id": "",
        "by": "alice",
        "source": "threads",
        "origin": "person",
        "at": "",
        "metadata": {},
    }
    (effect,) = document["effects"]
    assert (effect["tool"], effect["state"], effect["digest"]) == ("guarded", "done", request["shown"])
    assert [event["seq"] for event in document["events"]] == list(range(1, document["thread"]["last_event"] + 1))
    assert [line["type"] for line in document["audit"]][-2:] == ["head", "heads"]


def test_the_trail_inside_an_export_is_checked_as_an_export_of_its_own(
    interlock: Interlock, live: ServerProcess, alice: ThreadsClient, tmp_path: Path
) -> None:
    thread_id = approved(alice, "first")
    written = interlock("threads", "export", thread_id, "--output", "one.json", *live.where)
    assert (written.returncode, written.stdout, written.stderr) == (0, "", "")
    assert (tmp_path / "one.json").stat().st_mode & 0o777 == 0o600
    assert interlock("threads", "export", thread_id, "--output", "one.json", *live.where).returncode == 2
    done = interlock("audit", "verify", "--file", "one.json", *live.where)
    assert (done.returncode, done.stdout.split(" in ")[1]) == (0, "1 chain: all intact\n")
    document = json.loads((tmp_path / "one.json").read_text())
    document["audit"][0]["actor_name"] = "mallory"
    (tmp_path / "one.json").write_text(json.dumps(document))
    done = interlock("audit", "verify", "--file", "one.json", *live.where)
    assert done.returncode == 1
    assert done.stdout.startswith(f"edited {thread_id} #1")


def test_a_conversation_without_a_decision_has_an_empty_trail(
    interlock: Interlock, live: ServerProcess, alice: ThreadsClient
) -> None:
    thread_id = alice.new_thread()
    assert interlock("threads", "export", thread_id, "--output", "one.json", *live.where).returncode == 0
    done = interlock("audit", "verify", "--file", "one.json", *live.where)
    assert (done.returncode, done.stdout) == (0, "0 entries in 0 chains: all intact\n")


def test_no_value_that_was_given_in_confidence_is_in_an_export(
    interlock: Interlock, live: ServerProcess, alice: ThreadsClient
) -> None:
    thread_id = alice.new_thread()
    turns = [("request_env_vars", {"fields": [{"name": "API_KEY"}]}), ("guarded", {"name": "wait"})]
    alice.chat(thread_id, script(*(calls(turn) for turn in turns)))
    alice.resume(thread_id, "answer", answers=[VALUE])
    text = interlock("threads", "export", thread_id, *live.where).stdout
    assert VALUE not in text
    first, second = json.loads(text)["pauses"]
    assert list(first["requests"][0]["answer"]["value"]["values"]) == ["API_KEY"]
    assert second["requests"][0]["status"] == "pending"


def test_of_a_deleted_conversation_its_trail_is_left(
    interlock: Interlock, live: ServerProcess, alice: ThreadsClient
) -> None:
    thread_id, other = approved(alice, "first"), approved(alice, "second")
    assert alice.http.delete(f"/api/sessions/{thread_id}").status_code == 200
    document = exported(interlock, live, thread_id)
    assert (document["thread"], document["runs"], document["pauses"], document["effects"]) == (None, [], [], [])
    assert [event["type"] for event in document["events"]] == ["thread.deleted"]
    assert document["audit"][-3]["action"] == "thread.deleted"
    listed = interlock("threads", "list", *live.where).stdout.splitlines()
    assert [line.split("\t")[:4] for line in listed] == [[other, "idle", "puppet", "alice"]]


def test_the_list_is_as_long_as_wanted_and_one_line_each(
    interlock: Interlock, live: ServerProcess, alice: ThreadsClient
) -> None:
    thread_ids = [alice.new_thread() for _ in range(3)]
    made_old(live, thread_ids[1])
    listed = interlock("threads", "list", *live.where).stdout.splitlines()
    assert [line.split("\t")[0] for line in listed][-1] == thread_ids[1]
    assert len(listed) == 3
    assert len(interlock("threads", "list", "--limit", "2", *live.where).stdout.splitlines()) == 2


def test_what_nobody_touched_for_long_enough_is_deleted_and_nothing_else(
    interlock: Interlock, live: ServerProcess, alice: ThreadsClient
) -> None:
    old, new = approved(alice, "old"), approved(alice, "new")
    waiting = alice.new_thread()
    alice.chat(waiting, script(calls(("guarded", {"name": "waits"}))))
    made_old(live, old, waiting)
    expiring = ["threads", "expire", "--days", "30", *live.where]
    assert interlock(*expiring, "--dry-run").stdout.startswith("1 conversation would be deleted")
    assert alice.status(old)["status"] == "idle"
    assert interlock(*expiring).stdout.startswith("1 conversation deleted")
    assert interlock(*expiring).stdout.startswith("0 conversations deleted")
    assert alice.http.get(f"/api/status/{old}").status_code == 403
    assert alice.status(new)["status"] == "idle"
    assert alice.resume(waiting, "continue").text.endswith("done waits")
    entry = exported(interlock, live, old)["audit"][-3]
    assert (entry["action"], entry["actor_name"], entry["data"]) == (
        "thread.deleted",
        "system",
        {"reason": "retention"},
    )
    assert interlock("audit", "verify", *live.where).returncode == 0


def test_a_server_deletes_by_itself_what_is_older_than_it_keeps(live: ServerProcess, alice: ThreadsClient) -> None:
    old, new = approved(alice, "old"), approved(alice, "new")
    live.stop()
    made_old(live, old)
    live.environment = {**live.environment, "INTERLOCK_RETENTION_DAYS": "30"}
    person = alice.at(live.start().url)
    person.wait_for(lambda: person.http.get(f"/api/status/{old}").status_code, lambda code: code == 403)
    assert person.status(new)["status"] == "idle"
    person.http.close()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["export", "server"], "there is no thread 'server'"),
        (["export", "nobody-1", "--output", "new"], "nobody-1"),
        (["expire", "--days", "99999999999"], "from 1 to 36500"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(
    interlock: Interlock, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    assert interlock("migrate").returncode == 0
    done = interlock("threads", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("days", ["0", "-1", "1.5", "a week", "36501"])
def test_days_that_are_no_number_of_days_are_refused(days: str) -> None:
    with pytest.raises(InvalidInput, match="INTERLOCK_RETENTION_DAYS"):
        load({}, {"INTERLOCK_RETENTION_DAYS": days})
