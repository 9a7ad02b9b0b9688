"""Commands that need little load little."""

import os
import subprocess
import sys

import pytest

from interlock import __version__
from tests.cli.conftest import Interlock

HEAVY = ("langgraph", "langchain_core", "langchain", "deepagents", "sqlalchemy", "alembic", "fastapi", "uvicorn", "jwt")
FOR_CLIENTS = ("textual", "httpx")
LIGHT = [
    ["--help"],
    ["users", "--help"],
    ["users", "create", "--help"],
    ["serve", "--help"],
    ["migrate", "--help"],
    ["audit", "verify", "--help"],
    ["inbox", "--help"],
    ["answer", "--help"],
    ["pending", "--help"],
    ["follow", "--help"],
    ["policy", "--help"],
    ["policy", "check", "--help"],
    ["groups", "add", "--help"],
    ["away", "--help"],
    ["chat", "--help"],
    ["login", "--help"],
    ["logout", "--help"],
    ["hook", "--help"],
    ["watch", "--help"],
    ["acp", "--help"],
    ["version"],
    ["--version"],
    ["--show-completion", "bash"],
]


@pytest.mark.parametrize("arguments", LIGHT, ids=" ".join)
def test_help_is_printed_without_loading_anything_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from interlock_client.cli.entry import run\n"
        "try:\n"
        f"    run({arguments!r})\n"
        "except SystemExit as end:\n"
        "    assert not end.code, end.code\n"
        f"print('LOADED', sorted(set({(*HEAVY, *FOR_CLIENTS)!r}) & set(sys.modules)))\n"
    )
    # The shell that is named counts, and not the one that started the tests, where one did.
    named = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=named)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "LOADED []"
    assert done.stderr == ""


def test_the_version_is_told_without_loading_a_command() -> None:
    code = (
        "import sys\n"
        "from interlock_client.cli.entry import run\n"
        "run(['--version'])\n"
        "print([name for name in ('typer', 'interlock', 'interlock_client.cli.plug_ins') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{__version__}\n[]\n", "")


def test_no_command_shows_what_there_is(interlock: Interlock) -> None:
    done = interlock()
    for command in ("serve", "migrate", "users", "version"):
        assert command in done.stdout + done.stderr


@pytest.mark.parametrize(("typed", "offered"), [("interlock ser", "serve"), ("interlock users cr", "create")])
def test_a_shell_completes_commands_without_loading_anything_heavy(typed: str, offered: str) -> None:
    code = (
        "import sys\n"
        "from interlock_client.cli.main import app\n"
        "try:\n"
        "    app(prog_name='interlock')\n"
        "except SystemExit:\n"
        f"    print('LOADED', sorted(set({(*HEAVY, *FOR_CLIENTS)!r}) & set(sys.modules)))\n"
    )
    asked = {"_INTERLOCK_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **asked}, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines() == [offered, "LOADED []"], done.stderr


def test_an_unknown_command_is_refused(interlock: Interlock) -> None:
    done = interlock("nonsense")
    assert done.returncode == 2
    assert "nonsense" in done.stderr


def test_the_client_package_loads_nothing_of_the_server() -> None:
    code = (
        "import sys, interlock_client.threads\n"
        f"print(sorted(name for name in {(*HEAVY, 'interlock')!r} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
