"""`interlock users` and `interlock migrate`."""

from collections.abc import Generator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from interlock.domain.errors import InterlockError
from interlock_client.cli.main import app
from tests.cli.conftest import Interlock
from tests.servers.postgres import PostgresServer
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    process = ServerProcess(tmp_path_factory.mktemp("live"))
    try:
        yield process.start()
    finally:
        process.close()


def rows(interlock: Interlock, data: Path) -> dict[str, list[str]]:
    done = interlock("users", "list", "--data", str(data))
    assert done.returncode == 0
    return {line.split("\t")[0]: line.split("\t")[1:] for line in done.stdout.splitlines()}


def test_accounts_are_made_changed_and_listed_beside_a_running_server(
    interlock: Interlock, live: ServerProcess
) -> None:
    data = ["--data", str(live.data)]
    made = interlock("users", "create", "first", "--password", "wonderland", *data)
    assert (made.returncode, made.stdout) == (0, "first is admin\n")
    made = interlock("users", "create", "second", "--password", "wonderland", *data)
    assert made.stdout == "second is owner\n"
    client = ThreadsClient(live.url, "second").sign_in(register=False)
    assert client.new_thread()
    changed = interlock("users", "role", "second", "reviewer", "--agent", "demo", "--agent", "other", *data)
    assert changed.stdout == "second is reviewer of demo, other\n"
    reset = interlock("users", "reset", "second", "--password", "looking-glass", *data)
    assert reset.returncode == 0
    assert client.http.get("/api/sessions").status_code == 401
    client.password = "looking-glass"
    client.sign_in(register=False)
    listed = rows(interlock, live.data)
    assert listed["first"][0] == "admin"
    assert listed["second"][:2] == ["reviewer", "demo,other"]
    client.http.close()


def test_a_password_is_asked_for_when_none_is_given(interlock: Interlock, tmp_path: Path) -> None:
    data = ["--data", str(tmp_path / "asked")]
    made = interlock("users", "create", "asked", *data, given="wonderland\nwonderland\n")
    assert made.returncode == 0, made.stderr
    assert "wonderland" not in made.stdout
    assert "asked" in rows(interlock, tmp_path / "asked")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["create", "x", "--password", "short"], "8 to 256"),
        (["create", "with space", "--password", "wonderland"], "username"),
        (["create", "x", "--password", "wonderland", "--role", "king"], "king"),
        (["create", "x", "--password", "wonderland", "--role", "agent"], "agent"),
        (["reset", "nobody", "--password", "wonderland"], "nobody"),
        (["role", "nobody", "admin"], "nobody"),
        (["role", "nobody", "king"], "king"),
        (["role", "nobody", "owner", "--agent", "demo"], "reviewer"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(tmp_path: Path, arguments: list[str], reason: str) -> None:
    made = CliRunner().invoke(app, ["users", "create", "first", "--password", "wonderland", "--data", str(tmp_path)])
    assert made.exit_code == 0
    done = CliRunner().invoke(app, ["users", *arguments, "--data", str(tmp_path)])
    assert isinstance(done.exception, InterlockError)
    assert reason in done.exception.message
    assert "wonderland" not in done.exception.message


def test_a_taken_name_is_refused(interlock: Interlock) -> None:
    assert interlock("users", "create", "taken", "--password", "wonderland").returncode == 0
    again = interlock("users", "create", "taken", "--password", "wonderland")
    assert (again.returncode, again.stderr) == (2, "interlock: the username is taken\n")


def test_migrate_brings_a_sqlite_database_up_to_date_once(interlock: Interlock, tmp_path: Path) -> None:
    first = interlock("migrate", "--data", str(tmp_path / "kept"))
    assert first.returncode == 0
    assert first.stdout.splitlines()[0].startswith("applied 0001")
    assert (tmp_path / "kept" / "interlock.db").exists()
    again = interlock("migrate", data=str(tmp_path / "kept"))
    assert (again.returncode, again.stdout) == (0, "the database is up to date\n")


def test_migrate_and_users_work_on_a_postgresql_database(interlock: Interlock, postgres_server: PostgresServer) -> None:
    with postgres_server.fresh_database() as url:
        assert "applied 0001" in interlock("migrate", "--database", url).stdout
        made = interlock("users", "create", "first", "--password", "wonderland", database=url)
        assert made.stdout == "first is admin\n"
