"""What `make dist` makes is the whole product: installed into an empty environment, it serves the pages."""

import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
from playwright.sync_api import Browser, expect

from interlock_client import __version__
from tests.support.node import node, npm
from tests.support.waiting import wait_for

REPOSITORY = Path(__file__).parents[2]
SECONDS = 300.0


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr


def uv(*arguments: str) -> None:
    run(shutil.which("uv") or f"{sys.prefix}/bin/uv", *arguments)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel") / "dist"
    run("make", "--no-print-directory", "dist", f"DIST={folder}")
    return folder


def environment_of(dist: Path, name: str, *packages: str) -> Path:
    """The programs of an environment that has these packages and what they need, and nothing of the repository."""
    folder = dist.parent / name
    uv("venv", "--quiet", "--python", sys.executable, str(folder))
    locked = ("--constraint", "requirements/server.txt", "--find-links", str(dist))
    python = str(folder / "bin" / "python")
    uv("pip", "install", "--quiet", "--compile-bytecode", "--python", python, *locked, *packages)
    return folder / "bin"


@pytest.fixture(scope="module")
def installed(dist: Path) -> Path:
    """The command where everything is installed."""
    return environment_of(dist, "server", *(str(wheel) for wheel in dist.glob("*.whl"))) / "interlock"


@pytest.fixture(scope="module")
def client_wheel(dist: Path) -> str:
    (wheel,) = dist.glob("interlock_client-*.whl")
    return str(wheel)


@pytest.fixture(scope="module")
def light(dist: Path, client_wheel: str) -> Path:
    """The programs on a reviewer's laptop: the client and its commands."""
    return environment_of(dist, "light", f"{client_wheel}[cli]")


@pytest.fixture(scope="module")
def bare(dist: Path, client_wheel: str) -> Path:
    """The programs where the client is a library only."""
    return environment_of(dist, "bare", client_wheel)


@pytest.fixture(scope="module")
def script(dist: Path) -> list[str]:
    """A program that asks, where nothing but the npm package is installed."""
    folder = dist.parent / "npm"
    (package,) = dist.glob("interlock-client-*.tgz")
    quietly = ("--silent", "--offline", "--no-audit", "--no-fund")
    run(*npm(), "install", *quietly, "--prefix", str(folder), str(package))
    (folder / "ask.mjs").write_text(ASKING_IN_JAVASCRIPT)
    return [node(), str(folder / "ask.mjs")]


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("INTERLOCK_", "PYTHON"))}


@contextmanager
def serving(installed: Path, folder: Path, *options: str) -> Generator[IO[str]]:
    command = [installed, "serve", "--port", "0", "--data", str(folder / "data"), *options]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            command, cwd=folder, env=clean_environment(), stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            yield process.stdout
        finally:
            process.terminate()


@pytest.fixture
def link(installed: Path, tmp_path: Path) -> Generator[str]:
    """What a person is told to open."""
    with serving(installed, tmp_path) as lines:
        ready, sign_in = lines.readline(), lines.readline()
        assert "ready at" in ready
        yield sign_in.split()[-1]


@pytest.fixture
def address(installed: Path, tmp_path: Path) -> Generator[str]:
    """Of a server that needs no sign-in."""
    with serving(installed, tmp_path, "--auth", "none") as lines:
        yield lines.readline().partition("ready at ")[2].split()[0]


def done_by(program: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), *arguments],
        cwd=folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_an_installed_wheel_opens_the_inbox(browser: Browser, link: str) -> None:
    with browser.new_context(locale="en-GB") as context:
        page = context.new_page()
        page.goto(link)
        page.get_by_label("Username", exact=True).fill("admin")
        page.get_by_label("Password", exact=True).fill("correct horse battery")
        page.get_by_label("Repeat password").fill("correct horse battery")
        page.get_by_role("button", name="Create account and sign in").click()
        expect(page.get_by_role("heading", level=1, name="Inbox")).to_be_visible()
        expect(page.get_by_text("Nothing is waiting")).to_be_visible()


OPTIONAL = {
    "postgres": ["serve", "--database", "postgresql://nobody@127.0.0.1:1/none"],
    "redis": ["serve", "--bus", "redis://127.0.0.1:1/0"],
    "ray": ["serve", "--runner", "ray", "--database", "postgresql://nobody@127.0.0.1:1/none"],
    "otel": ["serve"],
}


@pytest.mark.parametrize("extra", OPTIONAL)
def test_what_is_optional_is_not_installed_and_who_wants_it_is_told_its_name(
    installed: Path, tmp_path: Path, extra: str
) -> None:
    environment = clean_environment()
    if extra == "otel":
        environment["INTERLOCK_OTLP_ENDPOINT"] = "http://127.0.0.1:1/v1/traces"
    command = [str(installed), *OPTIONAL[extra], "--port", "0", "--data", str(tmp_path / "data")]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    # Who asks for Ray has to have PostgreSQL first.
    assert f"interlock-server[{'postgres' if extra == 'ray' else extra}]" in done.stderr


ASKING = """
import sys
from interlock_client import SyncInterlock
with SyncInterlock(sys.argv[1], user="ann", agent="bot") as client:
    print(client.ask_approval("send_mail", {"to": "bob"}).granted)
"""
ASKING_IN_JAVASCRIPT = """
import { InterlockClient } from "interlock-client";
const client = new InterlockClient({ baseUrl: process.argv[2], user: "ann", agent: "bot" });
const { granted } = await client.askApproval("send_mail", { to: "bob" });
console.log(granted ? "True" : "False");
"""
OF_SERVER = ("langgraph", "langchain", "sqlalchemy", "fastapi", "uvicorn", "interlock")


def installed_in(programs: Path) -> set[str]:
    (packages,) = (programs.parent / "lib").glob("python*/site-packages")
    return {one.name for one in packages.iterdir()}


def test_a_client_alone_answers_on_a_running_server(
    light: Path, bare: Path, script: list[str], address: str, tmp_path: Path
) -> None:
    where = ("--url", address, "--user", "ann")
    for command in ([str(bare / "python"), "-c", ASKING], script):
        with subprocess.Popen(
            [*command, address], cwd=tmp_path, env=clean_environment(), stdout=subprocess.PIPE, text=True
        ) as asking:
            try:
                waiting = wait_for(
                    lambda: done_by(light / "interlock", tmp_path, "pending", *where).stdout.splitlines(), bool
                )
                (line,) = waiting
                assert "send_mail" in line
                answered = done_by(light / "interlock", tmp_path, "answer", line.split("\t")[0], "--yes", *where)
                assert (answered.returncode, answered.stderr) == (0, "")
                assert asking.communicate(timeout=SECONDS)[0] == "True\n"
            finally:
                asking.kill()
        assert done_by(light / "interlock", tmp_path, "pending", *where).stdout == ""


@pytest.mark.parametrize("command", [["serve"], ["users", "create", "ann"], ["backup", "--help"]], ids=" ".join)
def test_a_client_alone_says_which_package_a_command_of_the_server_is_in(
    light: Path, tmp_path: Path, command: list[str]
) -> None:
    done = done_by(light / "interlock", tmp_path, *command)
    said = f"interlock: `interlock {command[0]}` is a command of the server, which is not installed here: "
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{said}pip install interlock-server\n"
    listed = done_by(light / "interlock", tmp_path, "--help")
    assert (listed.returncode, f"  {command[0]} " in listed.stdout) == (0, False)
    assert set(OF_SERVER) & installed_in(light) == set()


def test_a_client_without_the_extra_is_a_library_and_its_command_says_what_to_install(
    bare: Path, tmp_path: Path
) -> None:
    for arguments in (["pending"], ["--version"], []):
        done = done_by(bare / "interlock", tmp_path, *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            "interlock: the commands are an extra of this package: pip install 'interlock-client[cli]'\n"
        )
    assert {"typer", "rich", "textual", *OF_SERVER} & installed_in(bare) == set()


def test_both_tell_the_same_version(installed: Path, light: Path, tmp_path: Path) -> None:
    told = [done_by(program, tmp_path, "--version").stdout for program in (installed, light / "interlock")]
    assert told == [f"{__version__}\n"] * 2
