"""People's tokens and the rotation of keys: what was signed with a retired key holds nowhere."""

from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

from interlock.storage.sealing import derive
from tests.cli.conftest import Interlock
from tests.servers.postgres import PostgresServer
from tests.support import puppet
from tests.support.either_database import DATABASES, server_on
from tests.support.http import client as http_client
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient, bounded
from tests.support.token_keys import forged, token_keys

KEY = {"INTERLOCK_SECRET_KEY": "the same key for each of the servers"}


@pytest.fixture(params=DATABASES)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[ServerProcess]:
    with server_on(request.param, request, tmp_path, {}) as process:
        yield process


@pytest.fixture
def alice(server: ServerProcess) -> Generator[ThreadsClient]:
    client = ThreadsClient(server.url).sign_in()
    yield client
    client.http.close()


def rotate(interlock: Interlock, server: ServerProcess, **variables: str) -> None:
    done = interlock("secrets", "rotate", *server.where, **variables)
    assert (done.returncode, done.stderr) == (0, "")


def status_with(url: str, credential: str) -> int:
    with http_client(url) as http:
        return http.get("/api/v1/session", headers={"authorization": f"Bearer {credential}"}).status_code


def token_of(client: ThreadsClient) -> str:
    return client.http.headers["authorization"].removeprefix("Bearer ")


def user_id_of(client: ThreadsClient) -> str:
    return client.http.get("/api/v1/session").raise_for_status().json()["user_id"]


def test_a_token_forged_with_the_key_of_before_a_rotation_is_refused(
    interlock: Interlock, server: ServerProcess, alice: ThreadsClient
) -> None:
    forgery = forged(user_id_of(alice), token_keys(server))
    api_key = alice.http.post("/api/v1/keys", json={"name": "script", "role": "person"}).json()["key"]
    old = token_of(alice)
    for credential in (forgery, old, api_key):
        assert status_with(server.url, credential) == 200
    rotate(interlock, server)
    for credential in (forgery, old):
        assert status_with(server.url, credential) == 401
    # The server was not started again, and whoever signs in now goes on.
    assert status_with(server.url, token_of(alice.sign_in(register=False))) == 200
    assert status_with(server.url, api_key) == 200
    assert status_with(server.url, forgery) == 401


@pytest.mark.parametrize("with_ticket", [False, True], ids=["header", "ticket"])
def test_a_stream_of_a_token_that_a_rotation_ended_ends_too(
    interlock: Interlock, server: ServerProcess, alice: ThreadsClient, with_ticket: bool
) -> None:
    alice.http.headers["authorization"] = f"Bearer {forged(user_id_of(alice), token_keys(server))}"
    headers, query = dict(alice.http.headers), {}
    if with_ticket:
        query = {"ticket": alice.http.post("/api/v1/tickets").raise_for_status().json()["ticket"]}
        headers.pop("authorization")
    with (
        httpx.Client(base_url=server.url, trust_env=False, timeout=30) as http,
        http.stream("GET", "/api/v1/inbox/stream", params=query, headers=headers) as stream,
    ):
        lines = bounded(stream.raise_for_status().iter_lines())
        next(lines)
        rotate(interlock, server)
        for _ in lines:
            pass


def test_the_key_that_an_earlier_version_derived_of_the_master_key_signs_nothing_that_holds(
    server: ServerProcess, alice: ThreadsClient
) -> None:
    derived = derive((server.data / "secret.key").read_bytes(), "tokens")
    assert derived not in token_keys(server).values()
    for number in (1, *token_keys(server)):
        assert status_with(server.url, forged(user_id_of(alice), {number: derived})) == 401


def test_servers_of_one_database_take_the_new_key_without_a_restart(
    interlock: Interlock, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    with postgres_server.fresh_database() as database:
        one, two = (ServerProcess(tmp_path / name, agents=[puppet.SPEC], database=database) for name in ("one", "two"))
        try:
            alice = ThreadsClient(one.start().url).sign_in()
            (two.data).mkdir()
            copied(one, two)
            two.start()
            old = token_of(alice)
            forgery = forged(user_id_of(alice), token_keys(one))
            assert [status_with(url, old) for url in (one.url, two.url)] == [200, 200]
            rotate(interlock, one)
            copied(one, two)
            for credential in (old, forgery):
                assert [status_with(url, credential) for url in (one.url, two.url)] == [401, 401]
            new = token_of(alice.sign_in(register=False))
            assert [status_with(url, new) for url in (two.url, one.url)] == [200, 200]
            there = alice.at(two.url).sign_in(register=False)
            assert status_with(one.url, token_of(there)) == 200
            there.http.close()
            alice.http.close()
        finally:
            one.close()
            two.close()


def copied(one: ServerProcess, two: ServerProcess) -> None:
    file = two.data / "secret.key"
    file.touch(0o600)
    file.write_bytes((one.data / "secret.key").read_bytes())
