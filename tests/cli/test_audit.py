"""`interlock audit`, beside a server that runs, and after its store was put back to an earlier state."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Interlock, approved
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

pytestmark = pytest.mark.promise("P15")


def database(server: ServerProcess) -> Path:
    return server.data / "interlock.db"


def tamper(server: ServerProcess, statement: str) -> None:
    connection = sqlite3.connect(database(server), timeout=30)
    with connection:
        connection.execute(statement)
    connection.close()


def test_a_trail_is_verified_while_the_server_runs(
    interlock: Interlock, live: ServerProcess, alice: ThreadsClient
) -> None:
    approved(alice, "first")
    done = interlock("audit", "verify", "--data", str(live.data))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("entries in 2 chains: all intact\n")
    approved(alice, "second")
    told = json.loads(interlock("audit", "verify", "--json", "--data", str(live.data)).stdout)
    assert (told["chains"], told["findings"]) == (3, [])


def test_what_was_done_behind_a_running_servers_back_is_one_line_each(
    interlock: Interlock, live: ServerProcess, alice: ThreadsClient
) -> None:
    thread_id = approved(alice, "first")
    tamper(live, f"UPDATE audit SET actor_name = 'mallory' WHERE thread_id = '{thread_id}' AND number = 2")
    tamper(live, "UPDATE answers SET by_name = 'mallory'")
    done = interlock("audit", "verify", "--data", str(live.data))
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines[:-1]] == [
        f"altered_answer {thread_id} #1",
        f"edited {thread_id} #2",
    ]
    assert lines[-1].endswith("2 findings")
    told = json.loads(interlock("audit", "verify", "--json", "--data", str(live.data)).stdout)
    assert {(one["kind"], one["conversation_id"], one["number"]) for one in told["findings"]} == {
        ("edited", thread_id, 2),
        ("altered_answer", thread_id, 1),
    }


def test_a_store_that_was_rolled_back_is_found_against_an_export(
    interlock: Interlock, live: ServerProcess, alice: ThreadsClient, tmp_path: Path
) -> None:
    data = ["--data", str(live.data)]
    thread_id = approved(alice, "before")
    live.stop()
    shutil.copyfile(database(live), tmp_path / "earlier.db")
    again = alice.at(live.start().url)
    again.chat(thread_id, script(calls(("guarded", {"name": "after"}))))
    assert again.resume(thread_id, "continue").events[-1] == "end"
    other = approved(again, "new")
    again.http.close()
    assert interlock("audit", "export", "--output", "export.jsonl", *data).returncode == 0
    live.stop()
    for left in live.data.glob("interlock.db*"):
        left.unlink()
    shutil.copyfile(tmp_path / "earlier.db", database(live))
    assert interlock("audit", "verify", *data).returncode == 0
    done = interlock("audit", "verify", "--against", "export.jsonl", *data)
    assert done.returncode == 1
    lines = {line.split(" ")[1].rstrip(":"): line for line in done.stdout.splitlines()[:-1]}
    assert lines[thread_id].startswith(f"rolled_back {thread_id} #")
    assert lines[other].startswith(f"missing {other}: ")
    assert set(lines) == {thread_id, other}


def test_an_export_is_checked_by_itself(
    interlock: Interlock, live: ServerProcess, alice: ThreadsClient, tmp_path: Path
) -> None:
    data = ["--data", str(live.data)]
    thread_id = approved(alice, "first")
    written = interlock("audit", "export", "--conversation", thread_id, "--output", "one.jsonl", *data)
    assert (written.returncode, written.stdout, written.stderr) == (0, "", "")
    assert (tmp_path / "one.jsonl").stat().st_mode & 0o777 == 0o600
    printed = interlock("audit", "export", "--conversation", thread_id, *data)
    assert printed.stdout.splitlines()[:-1] == (tmp_path / "one.jsonl").read_text().splitlines()[:-1]
    done = interlock("audit", "verify", "--file", "one.jsonl", *data)
    assert (done.returncode, done.stdout.split(" in ")[1]) == (0, "1 chain: all intact\n")
    (tmp_path / "cut.jsonl").write_text("".join((tmp_path / "one.jsonl").read_text().splitlines(True)[:-1]))
    done = interlock("audit", "verify", "--file", "cut.jsonl", *data)
    assert done.returncode == 1
    assert done.stdout.startswith("forged_export export: ")


def test_a_database_of_before_there_were_heads_is_intact(
    interlock: Interlock, live: ServerProcess, alice: ThreadsClient
) -> None:
    approved(alice, "first")
    live.stop()
    tamper(live, "DELETE FROM audit_heads")
    tamper(live, "DELETE FROM audit WHERE thread_id = 'server'")
    with alice.at(live.start().url).http as http:
        assert http.get("/api/sessions").status_code == 200
    assert interlock("audit", "verify", "--data", str(live.data)).returncode == 0
    printed = interlock("audit", "export", "--conversation", "server", "--data", str(live.data)).stdout
    assert json.loads(printed.splitlines()[0])["data"] == {"count": 1}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["verify", "--against", "nowhere.jsonl"], "nowhere.jsonl"),
        (["verify", "--file", "nowhere.jsonl"], "nowhere.jsonl"),
        (["verify", "--file", "there", "--against", "there"], "--against"),
        (["verify", "--against", "there"], "line 1"),
        (["verify", "--file", "binary"], "binary"),
        (["export", "--output", "there"], "there"),
        (["export", "--conversation", "nobody-1"], "nobody-1"),
        (["export", "--conversation", "nobody-1", "--output", "new"], "nobody-1"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(
    interlock: Interlock, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    (tmp_path / "there").write_text("kept\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\n")
    assert interlock("migrate").returncode == 0
    done = interlock("audit", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr
    assert (tmp_path / "there").read_text() == "kept\n"
    assert not (tmp_path / "new").exists()
