"""Importing the client costs next to nothing; what a name needs comes with its first use."""

import subprocess
import sys
from pathlib import Path

import interlock_client

HEAVY = ("httpx", "websockets", "tkinter", "pydantic")


def imported_after(statement: str) -> set[str]:
    """Which of the heavy ones a fresh interpreter has loaded then."""
    script = f"import sys\n{statement}\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


def test_the_package_alone_imports_nothing_heavy() -> None:
    assert imported_after("import interlock_client") == set()


def test_wire_models_need_pydantic_only() -> None:
    models = "from interlock_client import hitl, threads, manage, audit, webhooks, confirm, errors"
    assert imported_after(models) == {"pydantic"}


def test_the_client_needs_no_websockets_and_no_handler_a_window() -> None:
    assert imported_after("from interlock_client import Interlock, SyncInterlock") == {"httpx", "pydantic"}
    assert imported_after("from interlock_client import GuiConfirmationHandler") == {"websockets", "pydantic"}


def test_the_hook_loads_nothing_that_takes_long() -> None:
    """It runs on every call of a tool: what it needs now and then, it loads then."""
    slow = ("argparse", "dataclasses", "http.client", "inspect", "secrets", "shutil", "ssl", "tempfile")
    script = (
        "import sys\nfrom interlock_client.hook.entry import main\n"
        f"main(['claude-code', '--timeout', '3600'])\nprint(*[name for name in {slow!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script],
        input='{"hook_event_name": "PermissionRequest", "session_id": "s", "tool_name": "Bash", "tool_input": {}}',
        env={"PYTHONPATH": str(Path(interlock_client.__file__).parents[1]), "INTERLOCK_URL": "ftp://nowhere"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    answer, loaded = done.stdout.splitlines()
    assert "deny" in answer
    assert loaded == ""


def test_every_public_name_is_there() -> None:
    missing = [name for name in interlock_client.__all__ if getattr(interlock_client, name, None) is None]
    assert missing == []
    assert set(interlock_client.__all__) <= set(dir(interlock_client))
    assert not hasattr(interlock_client, "no_such_name")


def test_nothing_of_the_server_is_needed() -> None:
    script = "import sys\nfrom interlock_client import *\nprint('interlock' in sys.modules, 'fastapi' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False", "False"]
