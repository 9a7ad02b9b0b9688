"""Roles, closed registration and reset passwords: what `interlock users` changes on a server that runs."""

import time
from collections.abc import Generator

import pytest

from tests.support import puppet
from tests.support.command import users
from tests.support.people import People
from tests.support.puppet import calls, says, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import NOTICED_SECONDS
from tests.support.wire import following, until
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P12")


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory, witness: Witness) -> Generator[ServerProcess]:
    """A server on which nobody can register."""
    environment = {**witness.environment, "INTERLOCK_REGISTRATION": "closed", "INTERLOCK_LOCALE": "en"}
    agents = [puppet.SPEC, puppet.SPEC.replace("puppet=", "other=", 1)]
    process = ServerProcess(tmp_path_factory.mktemp("closed"), agents=agents, environment=environment)
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="module")
def crew(closed: ServerProcess) -> Generator[People]:
    for name in ("root", "owner", "reviewer"):
        users(closed, "create", name, "--password", "wonderland")
    users(closed, "role", "reviewer", "reviewer", "--agent", "puppet")
    with People(closed.url) as people:
        yield people


def test_registration_that_is_closed_is_forbidden_also_to_the_first(closed: ServerProcess) -> None:
    assert "interlock users create NAME" in closed.output.read_text()
    with closed.client() as http:
        reply = http.post("/api/auth/register", json={"username": "eve", "password": "long enough"})
        assert reply.status_code == 403
        assert "closed" in reply.json()["detail"]
        reply = http.post("/api/auth/login", json={"username": "eve", "password": "long enough"})
        assert reply.status_code == 401


def test_a_reviewer_answers_for_the_agents_named_and_drives_nothing(crew: People, witness: Witness) -> None:
    owner, reviewer = crew.named("owner"), crew.named("reviewer")
    thread_id = owner.new_thread("puppet")
    owner.chat(thread_id, script(calls(("guarded", {"name": "reviewed"}))))
    assert reviewer.status(thread_id)["status"] == "interrupted"
    assert reviewer.history(thread_id)
    assert reviewer.chat(thread_id, script(says("no"))).status == 403
    assert reviewer.http.delete(f"/api/sessions/{thread_id}").status_code == 403
    assert reviewer.http.get("/api/sessions").json()["total"] == 0
    assert reviewer.resume(thread_id, "continue").events[-1] == "end"
    assert witness.count("reviewed") == 1


def test_a_reviewer_sees_nothing_of_other_agents(crew: People, witness: Witness) -> None:
    owner, reviewer = crew.named("owner"), crew.named("reviewer")
    thread_id = owner.new_thread("other")
    owner.chat(thread_id, script(calls(("guarded", {"name": "not-reviewed"}))))
    assert reviewer.http.get(f"/api/status/{thread_id}").status_code == 403
    assert reviewer.resume(thread_id, "continue").status == 403
    assert witness.count("not-reviewed") == 0


def test_the_operators_locale_is_the_default_one(crew: People) -> None:
    owner = crew.named("owner")
    thread_id = owner.new_thread()
    asked = owner.chat(thread_id, script(calls(("execute", {"command": "ls"}))))
    assert asked.first("interrupt")["info"] == "Running a command: ls"
    assert owner.chat(thread_id, "x").body["detail"] == "The conversation waits for an answer"


def test_who_is_no_longer_a_reviewer_is_shown_no_more(closed: ServerProcess, crew: People) -> None:
    users(closed, "create", "former", "--password", "wonderland", "--role", "reviewer", "--agent", "puppet")
    owner, former = crew.named("owner"), crew.named("former")
    thread_id = owner.new_thread("puppet")
    with following(former, thread_id) as frames:
        users(closed, "role", "former", "owner")
        changed = time.monotonic()
        assert [frame.event for frame in frames] == ["error", "end"]
        assert time.monotonic() - changed < NOTICED_SECONDS
    assert former.http.get(f"/api/status/{thread_id}").status_code == 403


def test_a_reset_password_ends_every_token_and_open_stream(closed: ServerProcess, crew: People) -> None:
    users(closed, "create", "careless", "--password", "wonderland")
    before, other = crew.named("careless"), crew.named("owner")
    thread_id, others = before.new_thread(), other.new_thread()
    with following(before, thread_id) as frames, following(spelled_otherwise(other), others) as still_open:
        users(closed, "reset", "careless", "--password", "looking-glass")
        reset = time.monotonic()
        assert before.http.get("/api/sessions").status_code == 401
        ended = list(frames)
        assert time.monotonic() - reset < NOTICED_SECONDS
        other.chat(others, script(says("nobody else notices")))
        assert [frame.event for frame in until(still_open, "end")] == ["messages/partial", "end"]
    assert [frame.event for frame in ended] == ["error", "end"]
    assert ended[0].data["message"] == "The credential no longer holds"
    old = {"username": "careless", "password": "wonderland"}
    assert before.http.post("/api/auth/login", json=old).status_code == 401
    after = ThreadsClient(closed.url, "careless", "looking-glass").sign_in(register=False)
    assert after.status(thread_id)["status"] == "idle"
    after.http.close()


def spelled_otherwise(client: ThreadsClient) -> ThreadsClient:
    """The same credential under a scheme in small letters, as some clients send it."""
    other = ThreadsClient(str(client.http.base_url), client.username)
    other.http.headers["authorization"] = client.http.headers["authorization"].replace("Bearer", "bearer")
    other.http.close()
    return other


def test_a_role_is_what_it_is_now_and_not_when_the_token_was_made(closed: ServerProcess, crew: People) -> None:
    users(closed, "create", "deputy", "--password", "wonderland")
    deputy, owner = crew.named("deputy"), crew.named("owner")
    thread_id = owner.new_thread()
    assert deputy.http.get(f"/api/status/{thread_id}").status_code == 403
    users(closed, "role", "deputy", "admin")
    assert deputy.http.get(f"/api/status/{thread_id}").status_code == 200
