"""A session through the death of its server: its status is right afterwards, and what was asked can be answered."""

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.durability.lives import LEASE_SECONDS, TOOLS, Lives
from tests.support.server import ServerProcess
from tests.support.sessions import SessionsClient
from tests.support.waiting import WAIT_SECONDS, wait_for
from tests.support.witness import Witness

NAME = "s1."


class Ann:
    """A user whose session lives longer than the servers."""

    def __init__(self, lives: Lives) -> None:
        self.lives = lives
        self.session_id = ""

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **fields: Any) -> Any:
            client = SessionsClient(self.lives.server.url, "ann")
            client.session_id = self.session_id
            try:
                return getattr(client, name)(*args, **fields)
            finally:
                client.close()

        return call

    def asked(self) -> dict[str, Any]:
        response = self.try_invoke(f"write {NAME}").json()
        assert response["status"] == "interrupted", response
        self.session_id = response["session_id"]
        return response


@pytest.fixture
def ann(lives: Lives) -> Ann:
    return Ann(lives)


def test_an_interrupted_session_is_the_same_after_a_crash(lives: Lives, ann: Ann, witness: Witness) -> None:
    lives.start()
    asked = ann.asked()
    lives.server.kill()
    lives.start()
    status = ann.status()
    assert (status["status"], status["last_query"]) == ("interrupted", f"write {NAME}")
    assert status["last_response"] == asked
    assert ann.info() == {"sessions_count": 1, "active_users": ["ann"]}
    assert ann.try_invoke("hello").status_code == 409
    done = ann.resume("accept", {"request_id": asked["interrupt_data"]["request_id"]})
    assert done["result"]["output"] == f"finished: wrote {NAME}"
    assert ann.status()["last_response"] == done
    assert witness.count(NAME) == 1


@pytest.mark.parametrize("point", ["message.committed", "ask.committed"])
def test_a_query_that_was_taken_is_answered_after_the_crash(
    lives: Lives, ann: Ann, witness: Witness, point: str
) -> None:
    lives.start(f"{point}=kill")
    with lives.dying():
        ann.try_invoke(f"write {NAME}")
    lives.start()
    status = ann.wait_for("interrupted")
    ann.session_id = status["session_id"]
    assert [one["request_data"]["args"] for one in status["last_response"]["interrupt_data"]["requests"]] == [
        {"name": NAME}
    ]
    assert ann.resume("accept", {"request_id": status["last_response"]["interrupt_data"]["request_id"]})
    assert [one["type"] for one in ann.status()["last_response"]["result"]["messages"]] == [
        *("system", "human", "ai", "tool", "ai")
    ]
    assert witness.count(NAME) == 1


def test_an_answer_that_was_taken_leads_on_after_the_crash(lives: Lives, ann: Ann, witness: Witness) -> None:
    lives.start()
    request_id = ann.asked()["interrupt_data"]["request_id"]
    lives.server.stop()
    lives.start("answer.committed=kill")
    with lives.dying():
        ann.try_resume("accept", {"request_id": request_id})
    lives.start()
    assert ann.wait_for("completed")["last_response"]["result"]["output"] == f"finished: wrote {NAME}"
    late = ann.try_resume("reject", {"request_id": request_id})
    assert (late.status_code, late.json()["answered_by"], late.json()["source"]) == (409, "ann", "sessions")
    assert witness.count(NAME) == 1


def test_a_tool_that_was_cut_short_is_put_to_the_user(lives: Lives, ann: Ann, witness: Witness) -> None:
    lives.start()
    with ThreadPoolExecutor(1) as pool:
        reply = pool.submit(ann.try_invoke, f"hold {NAME}")
        wait_for(lambda: witness.count(NAME), lambda count: count == 1)
        assert ann.status()["status"] == "running"
        lives.server.kill()
        with pytest.raises(httpx.TransportError):
            reply.result(WAIT_SECONDS)
    lives.start()
    status = ann.wait_for("interrupted")
    ann.session_id = status["session_id"]
    assert status["last_response"]["interrupt_data"]["interrupt_type"] == "decision"
    done = ann.resume("response", {"answer": "skip"})
    assert done["result"]["output"].startswith("finished: Skipped")
    witness.release(NAME)
    assert witness.count(NAME) == 1


@pytest.fixture
def pair(tmp_path: Path, database_url: str, witness: Witness) -> Generator[list[Ann]]:
    """Two servers on one database."""
    environment = {
        **witness.environment,
        "INTERLOCK_SECRET_KEY": "the same on both servers",
        "INTERLOCK_LEASE_SECONDS": LEASE_SECONDS,
    }
    with ExitStack() as stack:
        pair: list[Ann] = []
        for name in ("one", "other"):
            server = ServerProcess(tmp_path / name, [TOOLS], database_url, "none", environment)
            stack.callback(server.close)
            pair.append(Ann(Lives(server, witness)))
            pair[-1].lives.start()
        yield pair


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_two_servers_tell_the_same_of_a_session(pair: list[Ann], witness: Witness) -> None:
    one, other = pair
    asked = one.asked()
    other.session_id = one.session_id
    assert other.status()["last_response"] == asked
    assert other.info() == one.info() == {"sessions_count": 1, "active_users": ["ann"]}
    assert other.try_invoke("hello").status_code == 409
    done = other.resume("accept")
    assert one.status()["last_response"] == done
    assert other.delete().status_code == 200
    assert one.status()["status"] == "not_found"
    assert one.info() == {"sessions_count": 0, "active_users": []}
    assert witness.count(NAME) == 1
