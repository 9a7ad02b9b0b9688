"""Tails, not medians, tell good code from bad: no file and no function may grow one."""

import ast
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE_LINES = 600
FUNCTION_LINES = 60


@cache
def python_files() -> Sequence[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def test_no_file_is_longer_than_a_reader_keeps_in_mind() -> None:
    long = {str(path.relative_to(ROOT)): count for path in python_files() if (count := _lines(path)) > FILE_LINES}
    assert long == {}


def test_no_function_is_longer_than_a_screen() -> None:
    long = {
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}": size
        for path in python_files()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (size := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES
    }
    assert long == {}


def test_no_module_is_a_drawer_for_anything() -> None:
    drawers = {"utils.py", "helpers.py", "misc.py", "common.py"}
    assert [str(path) for path in python_files() if path.name in drawers] == []


def test_only_config_reads_the_environment() -> None:
    source = ROOT / "packages" / "server" / "src"
    readers = {
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        if any(word in path.read_text() for word in ("os.environ", "os.getenv", "getenv("))
    }
    # The composition root sets variables for LangGraph and Ray; the demo's commands have an environment of their own.
    assert readers <= {"interlock/config.py", "interlock/bootstrap.py", "interlock/agents/demo/shell.py"}
    commands = ROOT / "packages" / "client" / "src" / "interlock_client" / "cli"
    assert [path.name for path in commands.rglob("*.py") if "environ" in path.read_text()] == ["config.py"]


def _lines(path: Path) -> int:
    return path.read_text().count("\n")
