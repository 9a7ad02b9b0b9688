"""Every requirement of the MCP API has an id of its own and tests that there are, and every test one that it is for."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "mcp-api.md"
ROW = re.compile(r"^\| (MCP-[A-Z]\d+) \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)
TEST = re.compile(r"^(?:async )?def (test_\w+)\(", re.MULTILINE)


def test_requirements_and_tests_name_each_other() -> None:
    rows = ROW.findall(PAGE.read_text())
    ids = [found[0] for found in rows]
    assert len(ids) > 20
    assert len(set(ids)) == len(ids)
    named = {test for _, tests in rows for test in re.findall(r"`([^`]+)`", tests)}
    files = [file for file in Path(__file__).parent.glob("test_*.py") if file.name != Path(__file__).name]
    assert named == {f"{file.name}::{test}" for file in files for test in TEST.findall(file.read_text())}
