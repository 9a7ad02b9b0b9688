"""What cannot be is one line, exit code 2, and leaves nothing behind."""

import socket
import subprocess
from pathlib import Path

import pytest

from interlock import __version__
from tests.cli.conftest import Interlock

READERS = [
    ["keys", "list"],
    ["users", "list"],
    ["audit", "verify"],
    ["audit", "export"],
    ["threads", "list"],
    ["threads", "export", "x"],
    ["webhooks", "list"],
    ["channels", "list"],
    ["webhooks", "deliveries", "webhook_1"],
    ["cluster", "status"],
    ["backup", "all.backup"],
]
WRITERS = [
    ["keys", "create", "a", "--user", "ann"],
    ["keys", "revoke", "key_1"],
    ["users", "reset", "ann", "--password", "correct horse"],
    ["users", "role", "ann", "admin"],
    ["threads", "expire", "--days", "3"],
    ["webhooks", "remove", "webhook_1"],
    ["channels", "remove", "chan_1"],
    ["channels", "test", "chan_1", "ann@example.com"],
    ["secrets", "rotate"],
]


def assert_one_line(done: subprocess.CompletedProcess[str], *reasons: str) -> None:
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("interlock: ")
    for reason in reasons:
        assert reason in line


@pytest.mark.parametrize("arguments", [*READERS, *WRITERS], ids=" ".join)
def test_a_command_that_needs_what_is_there_makes_no_data_folder(
    interlock: Interlock, tmp_path: Path, arguments: list[str]
) -> None:
    assert_one_line(interlock(*arguments, "--data", "mistyped"), "mistyped", "--data")
    assert list(tmp_path.iterdir()) == []


def test_the_first_account_may_be_made_before_the_first_start(interlock: Interlock, tmp_path: Path) -> None:
    done = interlock("users", "create", "ann", "--password", "correct horse", "--data", "new")
    assert (done.returncode, done.stdout) == (0, "ann is admin\n"), done.stderr
    assert done.stderr == "interlock: there was no database in new; a new one was made\n"
    assert interlock("users", "list", "--data", "new").stdout.startswith("ann\tadmin")


def test_a_migration_says_that_it_made_a_database(interlock: Interlock) -> None:
    done = interlock("migrate", "--data", "new")
    assert done.returncode == 0
    assert done.stderr == "interlock: there was no database in new; a new one was made\n"
    assert interlock("migrate", "--data", "new").stderr == ""


@pytest.mark.parametrize(
    "command", [["serve", "--port", "0"], ["users", "create", "ann", "--password", "correct horse"]]
)
def test_a_data_folder_that_cannot_be_made_is_named(interlock: Interlock, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert_one_line(interlock(*command, "--data", "file/inside"), "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("port", ["eighty", "-1", "65536", "80 80", "1e3"])
def test_a_port_that_is_none_is_named_by_its_variable(interlock: Interlock, tmp_path: Path, port: str) -> None:
    assert_one_line(interlock("serve", port=port), "INTERLOCK_PORT", port, "between 0 and 65535")
    assert list(tmp_path.iterdir()) == []


def test_a_port_in_use_is_named_before_anything_is_made(interlock: Interlock, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert_one_line(interlock("serve", port=str(port)), f"127.0.0.1:{port}", "in use")
    assert list(tmp_path.iterdir()) == []


def test_the_inbox_without_a_terminal_says_what_there_is_instead(interlock: Interlock) -> None:
    assert_one_line(interlock("inbox"), "terminal", "interlock pending", "interlock answer")


def test_the_version_is_an_option_too(interlock: Interlock) -> None:
    done = interlock("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{__version__}\n", "")


STEERING = "x\x1b[2J\x1b]0;owned\x07\u202egnp\u2028y\nz"


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["keys", "list", "--data", STEERING], {}),
        (["serve", "--port", "0", "--agent", f"{STEERING}=a.b:c"], {}),
        (["serve"], {"port": STEERING}),
        (["serve", "--port", "0", "--database", f"mysql://{STEERING}"], {}),
        (["serve", "--port", "0", "--agent", f"a={STEERING}/b.py:c"], {}),
        (["keys", "list", "--data", f"{'a' * 300}{STEERING}"], {}),
        (["users", "create", "ann", "--password", "long enough", "--role", STEERING], {}),
        (["pending", "--url", f"http://{STEERING}"], {}),
        (["restore", STEERING], {}),
    ],
    ids=["folder", "agent", "port", "database", "agent's file", "long folder", "role", "address", "backup"],
)
def test_what_would_steer_a_terminal_is_written_out_in_an_error(
    interlock: Interlock, arguments: list[str], variables: dict[str, str]
) -> None:
    done = interlock(*arguments, **variables)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("interlock: ")
    assert line.isprintable(), line


@pytest.mark.parametrize("arguments", [["serve", f"--no{STEERING}"], ["version", STEERING]], ids=["option", "argument"])
def test_what_would_steer_a_terminal_is_written_out_where_a_command_is_not_understood(
    interlock: Interlock, arguments: list[str]
) -> None:
    done = interlock(*arguments)
    assert done.returncode == 2
    assert all(line.isprintable() for line in done.stderr.split("\n")), done.stderr
    assert r"x\x1b[2J\x1b]0;owned\x07\u202egnp\u2028y\x0az" in done.stderr


def test_a_data_folder_without_a_name_is_not_the_current_one(interlock: Interlock) -> None:
    assert_one_line(interlock("serve", "--port", "0", "--data", ""), "--data", "empty")
    assert_one_line(interlock("keys", "list", "--data", " "), "--data", "empty")
