"""A server that was restored from a backup: the world is ahead of it, so nothing goes on that nobody asked for."""

import shutil
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from interlock.cli.audit import verify
from interlock.cli.backup import backup, restore
from tests.durability.lives import Lives, Talk
from tests.servers.postgres import PostgresServer
from tests.support.server import ServerProcess
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P1")

from_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
from_postgres = pytest.mark.parametrize("database_url", ["postgres"], indirect=True)


@pytest.fixture
def elsewhere(request: pytest.FixtureRequest, lives: Lives, witness: Witness, tmp_path: Path) -> Generator[Lives]:
    """A server that is not started yet, on an empty database of the other kind."""
    with ExitStack() as stack:
        url = f"sqlite:///{tmp_path}/elsewhere/interlock.db"
        if str(lives.server.database).startswith("sqlite"):
            postgres: PostgresServer = request.getfixturevalue("postgres_server")
            url = stack.enter_context(postgres.fresh_database())
        process = ServerProcess(
            tmp_path / "elsewhere", lives.server.agents, url, "none", environment=lives.server.environment
        )
        stack.callback(process.close)
        other = Lives(process, witness)
        stack.callback(other.close)
        yield other


def back_up(lives: Lives, file: Path) -> Path:
    backup(file, data=str(lives.server.data), database=lives.server.database)
    shutil.copy(lives.server.data / "secret.key", file.with_suffix(".key"))
    return file


def restore_to(lives: Lives, file: Path) -> None:
    lives.server.data.mkdir()
    shutil.copy(file.with_suffix(".key"), lives.server.data / "secret.key")
    restore(file, data=str(lives.server.data), database=lives.server.database)


def changed(lives: Lives, statement: str) -> None:
    engine = create_engine(str(lives.server.database).replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        assert connection.execute(text(statement)).rowcount > 0
    engine.dispose()


def test_a_pause_that_was_open_is_answered_after_the_restore_and_its_tool_runs_once(
    lives: Lives, elsewhere: Lives, tmp_path: Path
) -> None:
    lives.start()
    talk = Talk(lives, "tools", "write")
    talk.is_asked()
    file = back_up(lives, tmp_path / "backup.zip")
    lives.server.kill()
    restore_to(elsewhere, file)
    elsewhere.start()
    talk.lives = elsewhere
    assert talk.pending()["request_id"] == talk.request_id
    assert talk.effects == 0
    talk.approve()
    talk.finishes(runs=2)


@pytest.mark.parametrize(
    ("database_url", "failpoint"),
    [("sqlite", "answer.committed"), ("postgres", "run.claimed")],
    indirect=["database_url"],
)
def test_an_answered_run_that_had_not_begun_waits_until_a_person_continues(
    lives: Lives, elsewhere: Lives, tmp_path: Path, failpoint: str
) -> None:
    lives.start("answer.committed=kill")
    talk = Talk(lives, "tools", "write")
    talk.is_asked()
    with lives.dying():
        talk.approve()
    if failpoint == "run.claimed":
        lives.start_and_die("run.claimed=kill")
    file = back_up(lives, tmp_path / "backup.zip")
    restore_to(elsewhere, file)
    elsewhere.start()
    talk.lives = elsewhere
    (error,) = [frame.data["message"] for frame in talk.log(runs=2) if frame.event == "error"]
    assert "备份" in error
    assert talk.person.status(talk.thread_id)["status"] != "running"
    # The server is at work, and passed this one over.
    assert talk.person.chat(talk.person.new_thread("tools"), "hello").text == "hello to you"
    assert talk.effects == 0
    retried = talk.person.wait_for(
        lambda: talk.person.resume(talk.thread_id, "continue"), lambda reply: reply.status == 200
    )
    assert retried.events[-1] == "end"
    assert talk.effects == 1
    assert talk.approve().status == 409


@from_postgres
def test_a_message_that_had_not_begun_is_not_run_and_the_conversation_goes_on(
    lives: Lives, elsewhere: Lives, tmp_path: Path
) -> None:
    lives.start("message.committed=kill")
    talk = Talk(lives, "tools", "hold")
    with lives.dying():
        talk.send()
    file = back_up(lives, tmp_path / "backup.zip")
    restore_to(elsewhere, file)
    elsewhere.start()
    talk.lives = elsewhere
    assert [frame.event for frame in talk.log(runs=1)] == ["error", "end"]
    assert talk.person.chat(talk.thread_id, "hello").text == "hello to you"
    assert talk.effects == 0


@from_sqlite
def test_a_tool_that_was_under_way_is_in_doubt_and_not_repeated(lives: Lives, elsewhere: Lives, tmp_path: Path) -> None:
    lives.start()
    talk = Talk(lives, "tools", "hold")
    with talk.under_way():
        file = back_up(lives, tmp_path / "backup.zip")
        lives.server.kill()
        restore_to(elsewhere, file)
        elsewhere.start()
        talk.lives = elsewhere
        assert [frame.event for frame in talk.log(runs=1)][-2:] == ["error", "end"]
        reply = talk.person.chat(talk.thread_id, "hello")
        assert reply.first("interrupt")["requests"][0]["request_data"]["decision_type"] == "effect_in_doubt"
        assert talk.answer("skip").events[-1] == "end"
    assert talk.effects == 1


@from_postgres
def test_an_effect_that_was_in_doubt_stays_in_doubt(lives: Lives, elsewhere: Lives, tmp_path: Path) -> None:
    lives.start()
    talk = Talk(lives, "tools", "hold")
    with talk.under_way():
        lives.server.kill()
        lives.start()
        asked = talk.pending()
        file = back_up(lives, tmp_path / "backup.zip")
        lives.server.kill()
    restore_to(elsewhere, file)
    elsewhere.start()
    talk.lives = elsewhere
    assert talk.pending() == asked
    assert asked["request_data"]["decision_type"] == "effect_in_doubt"
    talk.answer("done: a person looked")
    talk.finishes(runs=2, said="finished: a person looked")


@from_sqlite
def test_a_deadline_that_passed_meanwhile_is_never_a_yes(lives: Lives, elsewhere: Lives, tmp_path: Path) -> None:
    lives.server.environment = {**lives.server.environment, "INTERLOCK_APPROVAL_TIMEOUT": "3600"}
    lives.start()
    talk = Talk(lives, "tools", "write")
    talk.is_asked()
    file = back_up(lives, tmp_path / "backup.zip")
    lives.server.kill()
    restore_to(elsewhere, file)
    changed(elsewhere, "UPDATE requests SET deadline = '2026-01-01 00:00:00.000000'")
    elsewhere.start()
    talk.lives = elsewhere
    talk.log(runs=2)
    refused = talk.approve()
    assert (refused.status, refused.body["code"]) == (409, "already_settled")
    assert talk.effects == 0


def test_backups_of_a_busy_server_are_each_of_one_moment(lives: Lives, elsewhere: Lives, tmp_path: Path) -> None:
    lives.start()
    is_over = False

    def keep_busy() -> int:
        count = 0
        with (person := lives.somebody()).http:
            while not is_over:
                thread_id = person.new_thread("tools")
                assert person.chat(thread_id, f"write busy{thread_id}.").events[-2:] == ["interrupt", "end"]
                assert person.resume(thread_id, "continue").events[-1] == "end"
                count += 1
        return count

    def finished() -> int:
        return lives.person.http.get("/api/sessions").json()["total"]

    with ThreadPoolExecutor(2) as pool:
        busy = [pool.submit(keep_busy) for _ in range(2)]
        try:
            lives.person.wait_for(finished, lambda count: count > 0)
            files = [back_up(lives, tmp_path / f"{number}.zip") for number in range(3)]
        finally:
            is_over = True
        assert min(one.result(60) for one in busy) > 0
    lives.server.stop()
    restore_to(elsewhere, files[-1])
    assert_sound(elsewhere)
    for file in files[:-1]:
        folder = tmp_path / f"of {file.stem}"
        copy = Lives(ServerProcess(folder, database=f"sqlite:///{folder}/interlock.db"), lives.witness)
        restore_to(copy, file)
        assert_sound(copy)


def assert_sound(lives: Lives) -> None:
    """The trail is intact, every log is without a gap and ends where its thread says, and nothing is under way."""
    verify(data=str(lives.server.data), database=lives.server.database)
    engine = create_engine(str(lives.server.database).replace("postgresql:", "postgresql+psycopg:"))
    query = (
        "SELECT t.id, t.seq, t.status, count(e.seq) AS events, min(e.seq) AS first, max(e.seq) AS last "
        "FROM threads t JOIN events e ON e.thread_id = t.id GROUP BY t.id, t.seq, t.status"
    )
    with engine.connect() as connection:
        rows = connection.execute(text(query)).all()
        assert connection.execute(text("SELECT count(*) FROM threads")).scalar_one() == len(rows) > 0
        active = "SELECT count(*) FROM runs WHERE status IN ('queued', 'running')"
        assert connection.execute(text(active)).scalar_one() == 0
        asked = "SELECT count(*) FROM requests WHERE status = 'pending'"
        open_pauses = "SELECT count(*) FROM pauses WHERE status = 'open'"
        assert connection.execute(text(asked)).scalar_one() == connection.execute(text(open_pauses)).scalar_one()
    engine.dispose()
    for row in rows:
        assert (row.first, row.last, row.events) == (1, row.seq, row.seq), row
        assert row.status in ("idle", "paused"), row
