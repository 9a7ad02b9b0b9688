"""`interlock backup` and `interlock restore`, as an operator runs them."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Interlock
from tests.servers.postgres import PostgresServer
from tests.servers.terminal import Terminal
from tests.support import puppet
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

PASSPHRASE = "correct horse battery"
GIVEN = "a key of the operator"


@pytest.fixture
def used(interlock: Interlock, tmp_path: Path) -> Path:
    """A data folder with one account in it, and a passphrase beside it."""
    assert interlock("users", "create", "ann", "--password", "wonderland", "--data", "used").returncode == 0
    (tmp_path / "passphrase").write_text(f"{PASSPHRASE}\nand a second line\n")
    return tmp_path / "used"


def trail(interlock: Interlock, *where: str, **variables: str) -> list[tuple[str, dict[str, object]]]:
    """What the server's own trail says, which must be intact."""
    assert interlock("audit", "verify", *where, **variables).returncode == 0
    printed = interlock("audit", "export", "--conversation", "server", *where, **variables).stdout
    lines = [json.loads(line) for line in printed.splitlines()]
    return [(line["action"], line["data"]) for line in lines if line["type"] == "entry"]


def test_a_running_server_moves_to_postgresql_and_its_people_go_on(
    interlock: Interlock, live: ServerProcess, witness: Witness, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    alice = ThreadsClient(live.url).sign_in()
    thread_id = alice.new_thread()
    alice.chat(thread_id, script(calls(("guarded", {"name": "move"}))))
    done = interlock("backup", "backup.zip", *live.where)
    assert (done.returncode, done.stderr) == (0, "")
    assert "secret.key" in done.stdout
    assert (tmp_path / "backup.zip").stat().st_mode & 0o777 == 0o600
    refused = interlock("restore", "backup.zip", *live.where)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "another server" in refused.stderr
    live.stop()
    (tmp_path / "moved").mkdir()
    shutil.copy(live.data / "secret.key", tmp_path / "moved")
    with postgres_server.fresh_database() as url:
        moved = ServerProcess(tmp_path / "moved", [puppet.SPEC], url, environment=witness.environment)
        done = interlock("restore", "backup.zip", *moved.where)
        assert (done.returncode, done.stderr) == (0, "")
        said = dict(trail(interlock, *moved.where))
        assert "backup.taken" not in said
        assert said["backup.restored"]["runs_ended"] == 0
        try:
            person = alice.at(moved.start().url)
            assert person.status(thread_id)["status"] == "interrupted"
            assert person.resume(thread_id, "continue").text.endswith("done move")
            assert witness.count("move") == 1
            person.http.close()
        finally:
            moved.close()
    alice.http.close()
    taken = dict(trail(interlock, *live.where))["backup.taken"]
    assert taken == {name: said["backup.restored"][name] for name in ("mac", "revision", "rows", "taken_at")} | {
        "with_key": False
    }


def test_a_backup_with_its_key_is_all_that_a_new_machine_needs(
    interlock: Interlock, used: Path, tmp_path: Path
) -> None:
    sealing = ["--with-key", "--passphrase-file", "passphrase"]
    done = interlock("backup", "backup.zip", *sealing, "--data", str(used))
    assert (done.returncode, done.stderr) == (0, "")
    assert PASSPHRASE not in done.stdout
    for said, given in [("no terminal", []), ("does not open", ["--passphrase-file", "backup.zip.wrong"])]:
        (tmp_path / "backup.zip.wrong").write_text("another passphrase")
        refused = interlock("restore", "backup.zip", "--data", "new", *given)
        assert refused.returncode == 2
        assert said in refused.stderr
        assert not (tmp_path / "new").exists()
    done = interlock("restore", "backup.zip", "--data", "new", "--passphrase-file", "passphrase")
    assert (done.returncode, done.stderr) == (0, "")
    key = tmp_path / "new" / "secret.key"
    assert (key.read_bytes(), key.stat().st_mode & 0o777) == ((used / "secret.key").read_bytes(), 0o600)
    assert "ann" in interlock("users", "list", "--data", "new").stdout
    assert trail(interlock, "--data", "new")[-1][0] == "backup.restored"


def test_at_a_terminal_the_passphrase_is_asked_for_and_not_shown(used: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "backup.zip")
    with in_terminal(tmp_path / "first", "backup", file, "--with-key", "--data", str(used)) as terminal:
        terminal.waits_at("Passphrase: ")
        terminal.enter(PASSPHRASE)
        terminal.waits_at("Repeat for confirmation: ")
        terminal.enter(PASSPHRASE)
        assert terminal.exit_code() == 0
        assert PASSPHRASE not in terminal.screen()
    with in_terminal(tmp_path / "second", "restore", file, "--data", str(tmp_path / "new")) as terminal:
        terminal.waits_at("Passphrase: ")
        terminal.enter(PASSPHRASE)
        assert terminal.exit_code() == 0
        assert PASSPHRASE not in terminal.screen()
    assert (tmp_path / "new" / "secret.key").read_bytes() == (used / "secret.key").read_bytes()


def in_terminal(folder: Path, *arguments: str) -> Terminal:
    folder.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")}
    return Terminal([sys.executable, "-m", "interlock", *arguments], folder, environment)


def test_a_key_that_is_here_already_is_never_replaced(interlock: Interlock, used: Path, tmp_path: Path) -> None:
    sealing = ["--with-key", "--passphrase-file", "passphrase"]
    assert interlock("backup", "backup.zip", *sealing, "--data", str(used)).returncode == 0
    unsealing = ["restore", "backup.zip", "--passphrase-file", "passphrase"]
    (tmp_path / "other").mkdir()
    key = tmp_path / "other" / "secret.key"
    key.touch(0o600)
    key.write_bytes(bytes(32))
    refused = interlock(*unsealing, "--data", "other")
    assert refused.returncode == 2
    assert "another key" in refused.stderr
    assert key.read_bytes() == bytes(32)
    refused = interlock(*unsealing, "--data", "given", secret_key=GIVEN)
    assert refused.returncode == 2
    assert "INTERLOCK_SECRET_KEY is not the key" in refused.stderr
    assert not (tmp_path / "given" / "secret.key").exists()
    refused = interlock(*unsealing, "--data", str(used))
    assert refused.returncode == 2
    assert "not empty" in refused.stderr
    assert (used / "secret.key").exists()


def test_a_key_of_the_operator_is_needed_again_or_comes_with_the_backup(interlock: Interlock, tmp_path: Path) -> None:
    (tmp_path / "passphrase").write_text(PASSPHRASE)
    where = ["--data", "used"]
    interlock("users", "create", "ann", "--password", "wonderland", *where, secret_key=GIVEN)
    sealing = ["--with-key", "--passphrase-file", "passphrase"]
    assert interlock("backup", "backup.zip", *sealing, *where, secret_key=GIVEN).returncode == 0
    wrong = interlock("restore", "backup.zip", "--data", "new", secret_key=GIVEN + "!")
    assert wrong.returncode == 2
    assert "INTERLOCK_SECRET_KEY is not the key" in wrong.stderr
    assert interlock("restore", "backup.zip", "--data", "new", secret_key=GIVEN).returncode == 0
    assert not (tmp_path / "new" / "secret.key").exists()
    done = interlock("restore", "backup.zip", "--data", "newer", "--passphrase-file", "passphrase")
    assert done.returncode == 0, done.stderr
    assert trail(interlock, "--data", "newer")[-1][0] == "backup.restored"


def test_a_restore_that_fails_leaves_no_key_behind(interlock: Interlock, used: Path, tmp_path: Path) -> None:
    sealing = ["--with-key", "--passphrase-file", "passphrase"]
    assert interlock("backup", "backup.zip", *sealing, "--data", str(used)).returncode == 0
    assert interlock("users", "create", "bob", "--password", "wonderland", "--data", "other").returncode == 0
    (tmp_path / "other" / "secret.key").unlink()
    refused = interlock("restore", "backup.zip", "--passphrase-file", "passphrase", "--data", "other")
    assert refused.returncode == 2
    assert "not empty" in refused.stderr
    assert not (tmp_path / "other" / "secret.key").exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["backup", "there"], "there already"),
        (["backup", "nowhere/new.zip"], "cannot be made"),
        (["backup", "new.zip", "--with-key"], "--passphrase-file"),
        (["backup", "new.zip", "--with-key", "--passphrase-file", "nowhere"], "nowhere"),
        (["backup", "new.zip", "--with-key", "--passphrase-file", "there"], "12 characters"),
        (["backup", "new.zip", "--passphrase-file", "there"], "--with-key"),
        (["restore", "nowhere.zip"], "nowhere.zip cannot be read"),
        (["restore", "."], "cannot be read"),
        (["restore", "there"], "no backup"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(
    interlock: Interlock, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    (tmp_path / "there").write_text("kept\n")
    assert arguments[0] == "restore" or interlock("migrate").returncode == 0
    done = interlock(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr
    assert (tmp_path / "there").read_text() == "kept\n"
    assert not (tmp_path / "new.zip").exists()
