"""The page on faults of other systems says what the tests say."""

import ast
import re

from tests.architecture.test_tails import ROOT

PAGE = ROOT / "docs" / "explanation" / "peers.md"
FOLDER = ROOT / "tests" / "peers"


def rows() -> list[list[str]]:
    """The cells of each row: project and number, what happened there, what happens here, the tests."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ") and not line.startswith("| there")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def names_in(file: str) -> set[str]:
    nodes = ast.walk(ast.parse((ROOT / file).read_text()))
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return {f"{file}::{node.name}" for node in functions if node.name.startswith("test_")}


def test_each_test_that_the_page_names_exists() -> None:
    named = [test for row in rows() for test in re.findall(r"`(tests/[^`]+)`", row[-1])]
    assert [test for test in named if test not in names_in(test.partition("::")[0])] == []


def test_each_fault_has_a_test_and_each_test_of_the_folder_a_fault() -> None:
    assert [row[0] for row in rows() if len(row) != 4 or "`tests/" not in row[-1]] == []
    written = {test for path in FOLDER.glob("test_*.py") for test in names_in(str(path.relative_to(ROOT)))}
    assert {test for test in written if f"`{test}`" not in PAGE.read_text()} == set()


def test_the_numbers_of_the_page_are_those_of_the_tests() -> None:
    """A test of the folder says in its docstring which report it is about."""
    told = "\n".join(path.read_text() for path in FOLDER.glob("test_*.py"))
    own = [row for row in rows() if "`tests/peers/" in row[-1]]
    missing = [(row[0], number) for row in own for number in re.findall(r"\d{2,}", row[0]) if number not in told]
    assert missing == []
