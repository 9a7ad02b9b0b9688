"""Who waits, and what becomes of the wait: clients that leave, servers that stop, credentials that end, deadlines."""

import signal

import httpx
import pytest

from tests.faces.sessions.conftest import Place
from tests.faces.test_roles import users as users_command
from tests.support import puppet
from tests.support.people import People
from tests.support.puppet import calls, gate, says, script
from tests.support.server import ServerProcess
from tests.support.sessions import SessionsClient, left_alone, of
from tests.support.waiting import wait_for
from tests.support.wire import at_once
from tests.support.witness import Witness


def reached(witness: Witness, name: str) -> None:
    wait_for(lambda: witness.count(f"at:{name}"), lambda count: count == 1)


def test_a_client_that_goes_away_loses_nothing(
    place: Place, user: SessionsClient, witness: Witness, fresh: str
) -> None:
    query = script(calls(("hold", {"name": fresh})), calls(("note", {"name": f"{fresh}-later"})))
    with left_alone(user, "/agent/invoke", {"user_id": user.user_id, "query": query}):
        reached(witness, fresh)
    assert user.status()["status"] == "running"
    # The server no longer waits for somebody who is not there.
    wait_for(place.server.log.read_text, lambda text: '"path": "/agent/invoke", "status": 499' in text)
    assert user.status()["status"] == "running"
    witness.release(fresh)
    status = user.wait_for("completed")
    assert status["last_response"]["result"]["output"] == f"held {fresh} | noted {fresh}-later"
    assert (witness.count(fresh), witness.count(f"{fresh}-later")) == (1, 1)


def test_who_resumes_and_goes_away_loses_nothing(user: SessionsClient, witness: Witness, fresh: str) -> None:
    user.invoke(calls(("guarded", {"name": f"{fresh}-1"})), calls(("hold", {"name": fresh})))
    body = {"user_id": user.user_id, "session_id": user.session_id, "response_type": "accept"}
    with left_alone(user, "/agent/resume", body):
        reached(witness, fresh)
    witness.release(fresh)
    status = user.wait_for("completed")
    assert status["last_response"]["result"]["output"].endswith(f"held {fresh}")
    assert (witness.count(f"{fresh}-1"), witness.count(fresh)) == (1, 1)


def test_what_nobody_answers_in_time_is_told_to_the_agent(user: SessionsClient) -> None:
    assert user.invoke(calls(("hurried", {"seconds": 2.0})))["status"] == "interrupted"
    status = user.wait_for("completed")
    assert status["last_response"]["result"]["output"].startswith("nobody")


def test_a_server_that_stops_says_that_the_run_goes_on(
    tmp_path_factory: pytest.TempPathFactory, witness: Witness, fresh: str
) -> None:
    server = ServerProcess(
        tmp_path_factory.mktemp("stopped"), [puppet.SPEC], auth="none", environment=witness.environment
    )
    user = SessionsClient(server.start().url, "ann")

    def do(index: int) -> httpx.Response | None:
        if index == 0:
            return user.again().try_invoke(script(calls(("hold", {"name": fresh}))))
        reached(witness, fresh)
        server.running.send_signal(signal.SIGTERM)
        return None

    try:
        told, _ = at_once(2, do)
        assert told.status_code == 503
        assert told.headers["retry-after"] == "1"
        assert told.json()["status"] == "running"
        assert told.json()["detail"].startswith("服务器正在关闭")
        witness.release(fresh)
        server.running.wait(30)
        user.close()
        user = SessionsClient(server.start().url, "ann")
        status = user.wait_for("completed")
        assert status["session_id"] == told.json()["session_id"]
        assert status["last_response"]["result"]["output"] == f"held {fresh}"
        assert user.info() == {"sessions_count": 1, "active_users": ["ann"]}
    finally:
        user.close()
        server.close()


def test_who_waits_with_a_credential_that_ended_is_told_nothing(
    server: ServerProcess, people: People, witness: Witness, fresh: str
) -> None:
    user = of(people.named("resetting"))

    def do(index: int) -> httpx.Response | None:
        if index == 0:
            return user.again().try_invoke(script(says(gate(fresh), "secret")))
        reached(witness, fresh)
        users_command(server, "reset", "resetting", "--password", "looking-glass")
        return None

    told, _ = at_once(2, do)
    witness.release(fresh)
    assert (told.status_code, told.json()["detail"]) == (401, "Could not validate credentials")
    user.close()
