"""Two servers on one PostgreSQL: when one is gone, or was only stopped, the other goes on with its runs."""

import signal
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.durability.lives import LEASE_SECONDS, TOOLS, Lives, Talk
from tests.support.server import ServerProcess
from tests.support.witness import Witness

Stopped = Callable[[Talk, Lives, str], AbstractContextManager[None]]

pytestmark = [pytest.mark.promise("P5"), pytest.mark.parametrize("database_url", ["postgres"], indirect=True)]


@pytest.fixture
def pair(tmp_path: Path, database_url: str, witness: Witness) -> Generator[list[Lives]]:
    """Not started yet."""
    environment = {**witness.environment, "INTERLOCK_SECRET_KEY": "the same on both servers"}
    with ExitStack() as stack:
        pair: list[Lives] = []
        for name in ("one", "other"):
            server = ServerProcess(tmp_path / name, [TOOLS], database_url, "none", environment)
            stack.callback(server.close)
            pair.append(Lives(server, witness))
            stack.callback(pair[-1].close)
        yield pair


def begin(pair: list[Lives], verb: str, failpoints: str = "", lease: str = LEASE_SECONDS) -> Talk:
    for lives in pair:
        lives.server.environment = {**lives.server.environment, "INTERLOCK_LEASE_SECONDS": lease}
        lives.start(failpoints)
    return Talk(pair[0], "tools", verb)


def split(pair: list[Lives], talk: Talk, database_url: str) -> tuple[Lives, Lives]:
    """The server that runs the thread, and the one that does not."""
    with psycopg.connect(database_url) as connection:
        row = connection.execute("SELECT lease_worker FROM threads WHERE id = %s", [talk.thread_id]).fetchone()
    assert row is not None
    holds = [f"-{lives.server.running.pid}_" in str(row[0]) for lives in pair]
    assert sorted(holds) == [False, True], row
    return pair[holds.index(True)], pair[holds.index(False)]


def test_a_run_whose_server_was_killed_is_finished_once_by_the_other(pair: list[Lives], database_url: str) -> None:
    talk = begin(pair, "hold_keyed")
    with talk.under_way():
        holder, survivor = split(pair, talk, database_url)
        talk.lives = survivor
        holder.server.kill()
        (done,) = survivor.witness.names(talk.name)
        survivor.person.wait_for(lambda: survivor.witness.count(done), lambda count: count == 2)
        talk.release()
        story = talk.finishes(runs=1, said="finished: held")
    assert story == ["tool/start", "tool/start", "tool/end", "end"]
    assert talk.ended == 1


@contextmanager
def stopped_in_its_tool(talk: Talk, holder: Lives, _database_url: str) -> Generator[None]:
    holder.server.running.send_signal(signal.SIGSTOP)
    yield
    talk.release()


@contextmanager
def stopped_before_it_records(talk: Talk, _holder: Lives, database_url: str) -> Generator[None]:
    """By the failpoint between a tool and the record of its result, with a lease so long that its renewal is not due
    when the server wakes up: nothing but the fence is left to tell it that the lease is gone."""
    talk.release()
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE threads SET lease_until = '2000-01-01' WHERE id = %s", [talk.thread_id])
    yield


@pytest.mark.parametrize(
    ("failpoints", "lease", "stopped"),
    [
        ("", LEASE_SECONDS, stopped_in_its_tool),
        ("effect.returned=stop", "300", stopped_before_it_records),
    ],
    ids=["in its tool", "before it records"],
)
def test_a_stopped_server_that_wakes_up_after_its_lease_was_taken_commits_nothing(
    pair: list[Lives], database_url: str, failpoints: str, lease: str, stopped: Stopped
) -> None:
    talk = begin(pair, "hold", failpoints, lease)
    with talk.under_way():
        holder, survivor = split(pair, talk, database_url)
        talk.lives = survivor
        try:
            with stopped(talk, holder, database_url):
                assert talk.pending()["request_data"]["decision_type"] == "effect_in_doubt"
                talk.answer("done: a person looked")
                before = talk.log(runs=2), talk.person.history(talk.thread_id)
        finally:
            holder.server.running.send_signal(signal.SIGCONT)
        survivor.person.wait_for(lambda: talk.ended, lambda ended: ended == 1)
        holder.wait_for_log("no longer this worker's|was cancelled")
        assert (talk.log(runs=2), talk.person.history(talk.thread_id)) == before
    talk.finishes(runs=2, said="finished: a person looked")
    assert [frame.event for frame in talk.log(runs=3)] == ["tool/start", "interrupt", "end", "tool/end", "end", "end"]
