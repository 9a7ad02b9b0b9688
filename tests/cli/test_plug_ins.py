"""Packages add commands by entry points, and one that is broken takes no other command down."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from interlock_client.cli.main import ORDER, OWN

ROOT = Path(__file__).parents[2]
MODULE = """
import typer

class Refused(Exception):
    message = "not on\\na Sunday"

def greet(name: str) -> None:
    typer.echo(f"good day, {name}")

def refuse() -> None:
    raise Refused

def fail() -> None:
    raise KeyError("a fault of the program")

app = typer.Typer()

@app.callback()
def tools() -> None: ...

@app.command()
def sharpen() -> None:
    typer.echo("sharp")
"""
POINTS = """
[interlock.commands]
greet = visitor:greet
refuse = visitor:refuse
fail = visitor:fail
tools = visitor:app
answer = visitor:greet
torn = visitor_of_nowhere:app
worn = visitor:not_there

[interlock.refusals]
torn = visitor_of_nowhere:Refused
visitor = visitor:Refused
"""


@pytest.fixture
def visitor(tmp_path: Path) -> Path:
    """A folder with an installed package of somebody else's."""
    (tmp_path / "visitor.py").write_text(MODULE)
    described = tmp_path / "visitor-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: visitor\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(POINTS)
    return tmp_path


def interlock(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")}
    return subprocess.run(
        [sys.executable, "-m", "interlock", *arguments],
        env=environment | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_package_adds_a_command_and_a_group_of_commands(visitor: Path) -> None:
    assert interlock(visitor, "greet", "Ann").stdout == "good day, Ann\n"
    assert interlock(visitor, "tools", "sharpen").stdout == "sharp\n"


def test_a_command_that_cannot_be_loaded_says_so_in_a_line_and_takes_no_other_down(visitor: Path) -> None:
    listed = interlock(visitor, "--help")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "torn" in listed.stdout
    for arguments in (["torn"], ["torn", "--help"], ["torn", "deep", "--down", "3"]):
        torn = interlock(visitor, *arguments)
        assert (torn.returncode, torn.stdout) == (2, "")
        assert torn.stderr == (
            "interlock: `interlock torn`, of visitor, cannot be loaded: "
            "ModuleNotFoundError: No module named 'visitor_of_nowhere'\n"
        )
    assert "AttributeError" in interlock(visitor, "worn").stderr
    for other in (["version"], ["users", "--help"], ["pending", "--help"]):
        done = interlock(visitor, *other)
        assert (done.returncode, done.stderr) == (0, "")


def test_nobody_replaces_a_command_that_answers(visitor: Path) -> None:
    assert "Answer one request" in interlock(visitor, "answer", "--help").stdout


def test_what_a_package_refuses_is_a_line_and_its_faults_are_not_hidden(visitor: Path) -> None:
    refused = interlock(visitor, "refuse")
    assert (refused.returncode, refused.stdout, refused.stderr) == (2, "", "interlock: not on a Sunday\n")
    failed = interlock(visitor, "fail")
    assert failed.returncode == 1
    assert "KeyError: 'a fault of the program'" in failed.stderr


def test_the_client_knows_the_name_of_every_command_that_the_server_adds() -> None:
    described = tomllib.loads((ROOT / "packages" / "server" / "pyproject.toml").read_text())
    added = described["project"]["entry-points"]["interlock.commands"]
    assert [name for name in ORDER if name not in OWN] == list(added)
