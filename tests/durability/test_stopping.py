"""Stopping a server, and deleting a thread, while a tool is at work."""

import signal

from sqlalchemy import create_engine, text

from tests.durability.lives import Lives, Talk

EVERYTHING_OF_A_RUN = ("checkpoints", "checkpoint_writes", "checkpoint_blobs")


def test_a_tool_under_way_at_sigterm_ends_and_the_next_start_goes_on(lives: Lives) -> None:
    lives.start()
    talk = Talk(lives, "tools", "hold")
    with talk.under_way() as reply:
        lives.server.running.send_signal(signal.SIGTERM)
        lives.wait_for_log("shutting down")
        assert reply.result(30).events[-1] == "end"
        assert lives.server.running.poll() is None
        assert talk.ended == 0
        talk.release()
        lives.server.running.wait(30)
    assert talk.ended == 1
    lives.start()
    assert talk.finishes(runs=1, said="finished: held") == ["tool/start", "tool/end", "end"]
    assert talk.ended == 1


def rows(database_url: str, thread_id: str) -> dict[str, int]:
    engine = create_engine(database_url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        counts = {
            table: connection.execute(
                text(f"SELECT count(*) FROM {table} WHERE thread_id = :thread"), {"thread": thread_id}
            ).scalar_one()
            for table in EVERYTHING_OF_A_RUN
        }
    engine.dispose()
    return counts


def is_queued(database_url: str, thread_id: str) -> bool:
    engine = create_engine(database_url.replace("postgresql:", "postgresql+psycopg:"))
    statement = text("SELECT count(*) FROM runs WHERE thread_id = :thread AND status = 'queued'")
    with engine.connect() as connection:
        found = connection.execute(statement, {"thread": thread_id}).scalar_one()
    engine.dispose()
    return bool(found)


def test_what_a_drained_run_writes_after_it_gave_its_lease_back_is_refused(lives: Lives, database_url: str) -> None:
    lives.start()
    drained, held = Talk(lives, "lingering"), Talk(lives, "tools", "hold")
    with drained.under_way(), held.under_way():
        lives.server.running.send_signal(signal.SIGTERM)
        lives.wait_for_log("shutting down")
        drained.release()
        lives.person.wait_for(lambda: is_queued(database_url, drained.thread_id), bool)
        before = rows(database_url, drained.thread_id)
        assert lives.server.running.poll() is None
        lives.witness.release(f"late:{drained.name}")
        for what in ("writes", "checkpoint"):
            outcomes = lives.person.wait_for(lambda what=what: lives.witness.names(f"{what}:"), bool)
            assert outcomes == [f"{what}:LeaseLost:{drained.name}"]
        assert rows(database_url, drained.thread_id) == before
        held.release()
        lives.server.running.wait(30)
    lives.start()
    drained.finishes(runs=1, said="finished")


def test_late_writes_do_not_revive_a_deleted_thread(lives: Lives, database_url: str) -> None:
    lives.start()
    talk = Talk(lives, "tools", "hold")
    nothing = dict.fromkeys(EVERYTHING_OF_A_RUN, 0)

    def is_gone() -> None:
        for path in ("status", "history", "stream"):
            assert lives.person.http.get(f"/api/{path}/{talk.thread_id}").status_code == 403
        assert lives.person.resume(talk.thread_id, "continue").status == 403
        assert lives.person.http.get("/api/sessions").json()["total"] == 0
        assert rows(database_url, talk.thread_id) == nothing

    with talk.under_way():
        assert rows(database_url, talk.thread_id) != nothing
        assert lives.person.http.delete(f"/api/sessions/{talk.thread_id}").status_code == 200
        is_gone()
        talk.release()
        lives.person.wait_for(lambda: talk.ended, lambda ended: ended == 1)
        lives.wait_for_log("no longer this worker's|was cancelled")
        is_gone()
    lives.server.kill()
    lives.start()
    is_gone()
    assert talk.effects == 1
