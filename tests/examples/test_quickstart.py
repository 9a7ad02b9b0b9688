"""The quickstart, run as it stands against a server with the demo agent."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.examples.readme import ROOT, Readme, run_shell
from tests.support.server import ServerProcess

QUICKSTART = Readme((ROOT / "docs" / "quickstart.md").read_text())


@pytest.fixture
def server(tmp_path: Path) -> Generator[ServerProcess]:
    process = ServerProcess(tmp_path / "data")
    try:
        yield process.start()
    finally:
        process.close()


def test_the_quickstart_writes_a_file_after_a_person_said_so(server: ServerProcess, tmp_path: Path) -> None:
    said = QUICKSTART.block("text").strip().removesuffix("...").replace("http://127.0.0.1:8000", server.url)
    assert said.splitlines()[-1] in server.output.read_text()
    lines = "\n".join(block for block in QUICKSTART.blocks("bash") if "$URL" in block)
    output = run_shell(lines, server.url, tmp_path, language="en")
    asked, _, answered = output.partition('"status":"interrupted"')
    assert "event: interrupt" in asked
    assert "event: tool/start" not in asked
    assert "event: tool/end" in answered
    assert "Interlock" in (server.data / "workspace" / "hello.py").read_text()
