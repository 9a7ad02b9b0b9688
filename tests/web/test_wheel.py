"""What `uv build` makes is the whole product: installed into an empty environment, it serves the pages."""

import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

REPOSITORY = Path(__file__).parents[2]
SECONDS = 300.0


def uv(*arguments: str) -> None:
    program = shutil.which("uv") or f"{sys.prefix}/bin/uv"
    done = subprocess.run([program, *arguments], cwd=REPOSITORY, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an environment that has the wheels and what they need, and nothing of the repository."""
    folder = tmp_path_factory.mktemp("wheel")
    uv("build", "--quiet", "--all-packages", "--wheel", "--out-dir", str(folder / "wheels"))
    uv("venv", "--quiet", "--python", sys.executable, str(folder / "venv"))
    wheels = [str(wheel) for wheel in (folder / "wheels").glob("*.whl")]
    python = str(folder / "venv" / "bin" / "python")
    locked = ("--constraint", "requirements/server.txt")
    uv("pip", "install", "--quiet", "--compile-bytecode", "--python", python, *locked, *wheels)
    return folder / "venv" / "bin" / "interlock"


@pytest.fixture
def link(installed: Path, tmp_path: Path) -> Generator[str]:
    """What a person is told to open."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("INTERLOCK_", "PYTHON"))}
    command = [installed, "serve", "--port", "0", "--data", str(tmp_path / "data")]
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            ready, sign_in = process.stdout.readline(), process.stdout.readline()
            assert "ready at" in ready
            yield sign_in.split()[-1]
        finally:
            process.terminate()


def test_an_installed_wheel_opens_the_inbox(browser: Browser, link: str) -> None:
    with browser.new_context(locale="en-GB") as context:
        page = context.new_page()
        page.goto(link)
        page.get_by_label("Name", exact=True).fill("admin")
        page.get_by_label("Password", exact=True).fill("correct horse battery")
        page.get_by_label("Password again").fill("correct horse battery")
        page.get_by_role("button", name="Make the account and sign in").click()
        expect(page.get_by_role("heading", level=1, name="Inbox")).to_be_visible()
        expect(page.get_by_text("Nothing waits")).to_be_visible()


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
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("INTERLOCK_", "PYTHON"))}
    if extra == "otel":
        environment["INTERLOCK_OTLP_ENDPOINT"] = "http://127.0.0.1:1/v1/traces"
    command = [str(installed), *OPTIONAL[extra], "--port", "0", "--data", str(tmp_path / "data")]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    # Who asks for Ray has to have PostgreSQL first.
    assert f"interlock-server[{'postgres' if extra == 'ray' else extra}]" in done.stderr
