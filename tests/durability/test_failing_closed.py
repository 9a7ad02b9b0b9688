"""What goes wrong never becomes a yes: deadlines that pass unseen, disks that are full."""

import resource
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from tests.durability.graphs import DEADLINE_SECONDS
from tests.durability.lives import Lives, Talk

pytestmark = pytest.mark.promise("P10")

on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def wait_until(at: str) -> None:
    while datetime.now(UTC) < datetime.fromisoformat(at):
        time.sleep(0.02)


def test_a_deadline_that_passes_while_the_server_is_down_is_never_a_yes(lives: Lives) -> None:
    lives.server.environment = {**lives.server.environment, "INTERLOCK_APPROVAL_TIMEOUT": str(DEADLINE_SECONDS)}
    lives.start()
    talks = {
        "nobody answered": Talk(lives, "hurried"),
        "finished: Not answered": Talk(lives, "tools", "write"),
    }
    for talk in talks.values():
        talk.is_asked()
    deadlines = [talk.pending()["expires_at"] for talk in talks.values()]
    lives.server.kill()
    for deadline in deadlines:
        wait_until(deadline)
    lives.start()
    for said, talk in talks.items():
        late = talk.approve()
        assert (late.status, late.body["code"], late.body["current_status"]) == (409, "already_settled", "expired")
        assert talk.log(runs=2)[-1].event == "end"
        assert talk.person.history(talk.thread_id)[-1]["content"].startswith(said)
        assert talk.effects == 0
        late = talk.approve()
        assert (late.status, late.body["current_status"], late.body["answered_by"]) == (409, "expired", None)


@contextmanager
def full_disk(lives: Lives, *, from_byte: int = 0) -> Generator[None]:
    """No file of the server can be written from there on: its database, its journal and its log."""
    pid = lives.server.running.pid
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (from_byte, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


@on_sqlite
def test_an_answer_that_cannot_be_written_is_not_accepted_and_can_be_given_again(lives: Lives) -> None:
    lives.start()
    unsent, talk = Talk(lives, "deploy"), Talk(lives, "tools", "write")
    talk.is_asked()
    with full_disk(lives):
        for action in ("continue", "cancel", "continue"):
            refused = talk.person.resume(talk.thread_id, action, request_id=talk.request_id)
            assert refused.status == 503
        assert unsent.send().status == 503
        assert talk.pending()["request_id"] == talk.request_id
        assert talk.effects == 0
    assert talk.pending()["request_id"] == talk.request_id
    assert talk.approve().status == 200
    assert talk.finishes(runs=2) == ["interrupt", "end", "tool/start", "tool/end", "end"]
    assert unsent.person.history(unsent.thread_id) == []
    unsent.is_asked()
    unsent.approve()
    unsent.finishes(runs=2)


@on_sqlite
def test_a_result_that_cannot_be_written_puts_its_effect_in_doubt(lives: Lives) -> None:
    lives.start()
    talk = Talk(lives, "tools", "hold")
    with talk.under_way() as reply:
        # The database's log cannot grow; the server's own can still say so.
        with full_disk(lives, from_byte=(lives.server.data.parent / "interlock.db-wal").stat().st_size):
            talk.release()
            lives.wait_for_log("stopped, the database cannot be used")
            assert talk.ended == 1
            assert lives.person.status(talk.thread_id)["status"] == "idle"
        assert reply.result(30).events == ["tool/start", "interrupt", "end"]
    assert talk.pending()["request_data"]["decision_type"] == "effect_in_doubt"
    assert talk.effects == 1
    talk.answer("done: it was held")
    talk.finishes(runs=2, said="finished: it was held")
