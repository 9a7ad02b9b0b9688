"""`interlock secrets rotate`: a new master key beside running servers, and what a crash in between leaves."""

import hashlib
import os
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cli.conftest import Interlock
from tests.servers.postgres import PostgresServer
from tests.support import puppet
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

VALUE = "planted-5d1c"
USED = f"key:{hashlib.sha256(VALUE.encode()).hexdigest()}"
OLD = "an old key of the operator"
NEW = "a new key of the operator"
FIELDS = {"fields": [{"name": "API_KEY"}]}


@pytest.fixture
def witness() -> Generator[Witness]:
    with Witness() as process:
        yield process


@pytest.fixture
def server(tmp_path: Path, witness: Witness) -> Generator[ServerProcess]:
    """Not started yet."""
    process = ServerProcess(tmp_path / "data", agents=[puppet.SPEC], environment=dict(witness.environment))
    yield process
    process.close()


def given_a_value(client: ThreadsClient) -> str:
    """A thread whose run was given a value, and waits before it uses it."""
    thread_id = client.new_thread()
    turns = [("request_env_vars", FIELDS), ("guarded", {"name": "wait"}), ("use_key", {"name": "API_KEY"})]
    client.chat(thread_id, script(*(calls(turn) for turn in turns)))
    assert client.resume(thread_id, "answer", answers=[VALUE]).first("interrupt")["requests"][0]["kind"] == "approval"
    return thread_id


def use(client: ThreadsClient, thread_id: str, witness: Witness) -> None:
    before = witness.count(USED)
    # A server that has just started does not know yet that the question was seen.
    assert client.status(thread_id)["status"] == "interrupted"
    assert client.resume(thread_id, "continue").text.endswith("used API_KEY")
    assert witness.count(USED) == before + 1


def restarted(client: ThreadsClient, server: ServerProcess) -> ThreadsClient:
    server.stop()
    client.http.close()
    return client.at(server.start().url)


def rotate(interlock: Interlock, server: ServerProcess, **variables: str) -> subprocess.CompletedProcess[str]:
    where = ["--data", str(server.data)]
    if server.database is not None:
        where += ["--database", server.database]
    return interlock("secrets", "rotate", *where, **variables)


def key_of(server: ServerProcess) -> bytes:
    return (server.data / "secret.key").read_bytes()


def assert_settled(server: ServerProcess) -> None:
    assert (server.data / "secret.key").stat().st_mode & 0o777 == 0o600
    assert not (server.data / "secret.key.next").exists()


def test_a_running_server_goes_on_through_two_rotations(
    interlock: Interlock, server: ServerProcess, witness: Witness
) -> None:
    client = ThreadsClient(server.start().url).sign_in()
    thread_id = given_a_value(client)
    keys = {key_of(server)}
    for _ in range(2):
        done = rotate(interlock, server)
        assert (done.returncode, done.stderr) == (0, "")
        assert "1 sealed values" in done.stdout
        keys.add(key_of(server))
        assert_settled(server)
    assert len(keys) == 3
    client.sign_in(register=False)
    later = given_a_value(client)
    use(client, thread_id, witness)
    client = restarted(client, server)
    use(client, later, witness)
    assert VALUE not in server.log.read_text()
    client.http.close()


@pytest.mark.parametrize("point", ["rotation.prepared", "rotation.committing", "rotation.committed"])
def test_a_rotation_that_is_killed_loses_nothing(
    interlock: Interlock, server: ServerProcess, witness: Witness, point: str
) -> None:
    client = ThreadsClient(server.start().url).sign_in()
    first, second, third = (given_a_value(client) for _ in range(3))
    before = key_of(server)
    killed = rotate(interlock, server, failpoints=f"{point}=kill")
    assert killed.returncode == -signal.SIGKILL
    assert key_of(server) == before
    assert (server.data / "secret.key.next").exists()
    if point == "rotation.committed":
        client.sign_in(register=False)
    use(client, first, witness)
    client = restarted(client, server)
    assert (key_of(server) != before) == (point == "rotation.committed")
    assert_settled(server)
    use(client, second, witness)
    assert rotate(interlock, server, failpoints=f"{point}=kill").returncode == -signal.SIGKILL
    again = rotate(interlock, server)
    assert again.returncode == 0, again.stderr
    assert_settled(server)
    client.sign_in(register=False)
    use(client, third, witness)
    client.http.close()


def test_another_master_key_stops_the_start(interlock: Interlock, server: ServerProcess) -> None:
    server.start().stop()
    where = ["serve", "--port", "0", "--data", str(server.data)]
    kept = key_of(server)
    (server.data / "secret.key").write_bytes(bytes(32))
    wrong = interlock(*where)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "secret.key is not the key" in wrong.stderr
    assert "restore" in wrong.stderr
    (server.data / "secret.key").unlink()
    missing = interlock(*where)
    assert missing.returncode == 2
    assert "secret.key is missing" in missing.stderr
    given = interlock(*where, secret_key=OLD)
    assert given.returncode == 2
    assert "INTERLOCK_SECRET_KEY is not the key" in given.stderr
    assert OLD not in given.stderr
    descriptor = os.open(server.data / "secret.key", os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(descriptor, kept)
    os.close(descriptor)
    with server.start().client() as http:
        assert http.get("/readyz").status_code == 200


def test_a_key_of_the_operator_is_replaced_by_one_of_the_operator(
    interlock: Interlock, server: ServerProcess, witness: Witness, postgres_server: PostgresServer
) -> None:
    with postgres_server.fresh_database() as server.database:
        server.environment = {**witness.environment, "INTERLOCK_SECRET_KEY": OLD}
        client = ThreadsClient(server.start().url).sign_in()
        thread_id = given_a_value(client)
        done = rotate(interlock, server, secret_key=OLD, new_secret_key=NEW)
        assert (done.returncode, done.stderr) == (0, "")
        assert "set INTERLOCK_SECRET_KEY" in done.stdout
        assert NEW not in done.stdout
        again = rotate(interlock, server, secret_key=OLD, new_secret_key=NEW)
        assert again.returncode == 0
        assert "already" in again.stdout
        server.stop()
        refused = interlock("serve", "--port", "0", "--database", str(server.database), secret_key=OLD)
        assert refused.returncode == 2
        assert "INTERLOCK_SECRET_KEY" in refused.stderr
        server.environment = {**witness.environment, "INTERLOCK_SECRET_KEY": NEW}
        client = restarted(client, server).sign_in(register=False)
        use(client, thread_id, witness)
        assert not (server.data / "secret.key").exists()
        server.stop()
        client.http.close()


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"secret_key": OLD}, "set INTERLOCK_NEW_SECRET_KEY"),
        ({"secret_key": OLD, "new_secret_key": "short"}, "INTERLOCK_NEW_SECRET_KEY needs 16"),
        ({"secret_key": OLD, "new_secret_key": OLD}, "the same"),
        ({"new_secret_key": NEW}, "INTERLOCK_SECRET_KEY, which is not set"),
        ({"failpoints": "nowhere=kill"}, "INTERLOCK_FAILPOINTS"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(
    interlock: Interlock, server: ServerProcess, variables: dict[str, str], reason: str
) -> None:
    done = rotate(interlock, server, **variables)
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr
    assert not (server.data / "secret.key").exists()


def test_where_nothing_is_sealed_there_is_nothing_to_rotate(interlock: Interlock, server: ServerProcess) -> None:
    done = rotate(interlock, server)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is --data right?" in done.stderr
    assert not (server.data / "secret.key").exists()
