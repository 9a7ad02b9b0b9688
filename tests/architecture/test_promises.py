"""No promise without a test that carries its id, and no id without a promise."""

import ast
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.architecture.test_tails import ROOT, python_files

PROMISES = ROOT / "docs" / "explanation" / "promises.md"


def promised() -> list[str]:
    return re.findall(r"^\| (P\d+) \| .+ \| .+ \| .+ \|$", PROMISES.read_text(), re.MULTILINE)


@cache
def carried() -> Sequence[tuple[str, Path]]:
    return [
        (ast.literal_eval(one), path)
        for path in python_files()
        if path.name.startswith("test_") and "pytest.mark.promise" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.promise"
        for one in node.args
    ]


def test_promises_are_numbered_without_a_gap() -> None:
    assert promised() == [f"P{number}" for number in range(1, len(promised()) + 1)]
    assert promised()


def test_every_promise_has_tests_that_carry_its_id_and_no_other_id_is_carried() -> None:
    assert {identity for identity, _ in carried()} == set(promised())


def test_the_folders_that_the_page_names_are_those_of_the_tests() -> None:
    rows = re.findall(r"^\| (P\d+) \|.*\| ([^|]+) \|$", PROMISES.read_text(), re.MULTILINE)
    named = {(identity, folder) for identity, cell in rows for folder in re.findall(r"`(tests/[\w/]+)`", cell)}
    holding = {(identity, str(path.relative_to(ROOT))) for identity, path in carried()}
    unheld = {one for one in named if not any(one[0] == at[0] and at[1].startswith(f"{one[1]}/") for at in holding)}
    assert unheld == set()
