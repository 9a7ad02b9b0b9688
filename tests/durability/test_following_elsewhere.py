"""Two servers on one PostgreSQL: a run is stopped when nobody follows it any more, at either of them."""

import signal
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from tests.durability.lives import TOOLS, Lives, Talk
from tests.support.server import ServerProcess
from tests.support.witness import Witness

pytestmark = pytest.mark.parametrize("database_url", ["postgres"], indirect=True)


@pytest.fixture
def pair(tmp_path: Path, database_url: str, witness: Witness) -> Generator[list[Lives]]:
    environment = {
        **witness.environment,
        "INTERLOCK_SECRET_KEY": "the same on both servers",
        "INTERLOCK_FOLLOW_GRACE": "0.2",
    }
    with ExitStack() as stack:
        pair: list[Lives] = []
        for name in ("one", "other"):
            server = ServerProcess(tmp_path / name, [TOOLS], database_url, "none", environment)
            stack.callback(server.close)
            pair.append(Lives(server, witness))
            stack.callback(pair[-1].close)
            pair[-1].start()
        yield pair


def leave_after_the_effect(lives: Lives, talk: Talk) -> None:
    """Send the message, and close its stream as soon as the tool is at work."""
    sender = lives.somebody()
    with sender.http, sender.http.stream("POST", f"/api/chat/{talk.thread_id}", json={"message": talk.message}):
        lives.person.wait_for(lambda: talk.effects, lambda effects: effects > 0)


def stop_reason(database_url: str, talk: Talk) -> str | None:
    with psycopg.connect(database_url) as connection:
        row = connection.execute("SELECT stop_reason FROM runs WHERE thread_id = %s", [talk.thread_id]).fetchone()
    assert row is not None
    return row[0]


def test_a_run_that_its_owner_follows_at_another_server_goes_on(pair: list[Lives], database_url: str) -> None:
    one, other = pair
    talk = Talk(one, "tools", "hold")
    follower = other.somebody()
    with follower.http, follower.stream(talk.thread_id, last_event_id="0") as frames:
        leave_after_the_effect(one, talk)
        one.wait_for_log("is followed elsewhere")
        assert stop_reason(database_url, talk) is None
        talk.release()
        assert any(frame.event == "end" for frame in frames)
    talk.finishes(runs=1, said="finished: held")


def test_a_run_that_nobody_follows_anywhere_is_stopped(pair: list[Lives], database_url: str) -> None:
    talk = Talk(pair[0], "tools", "hold")
    leave_after_the_effect(pair[0], talk)
    talk.person.wait_for(lambda: stop_reason(database_url, talk), bool)
    talk.release()


def test_a_run_that_is_followed_at_a_server_which_is_slow_to_say_so_goes_on(
    pair: list[Lives], database_url: str
) -> None:
    one, other = pair
    talk = Talk(one, "tools", "hold")
    follower = other.somebody()
    one.person.wait_for(lambda: signs(database_url), lambda count: count == 2)
    with follower.http, follower.stream(talk.thread_id, last_event_id="0") as frames:
        other.server.running.send_signal(signal.SIGSTOP)
        try:
            leave_after_the_effect(one, talk)
            one.wait_for_log("which is slow, has looked")
            assert stop_reason(database_url, talk) is None
        finally:
            other.server.running.send_signal(signal.SIGCONT)
        one.wait_for_log("is followed elsewhere")
        assert stop_reason(database_url, talk) is None
        talk.release()
        assert any(frame.event == "end" for frame in frames)
    talk.finishes(runs=1, said="finished: held")


def signs(database_url: str) -> int:
    """How many servers are known to live."""
    with psycopg.connect(database_url) as connection:
        row = connection.execute("SELECT count(*) FROM marks WHERE name LIKE 'server:%'").fetchone()
    assert row is not None
    return row[0]
