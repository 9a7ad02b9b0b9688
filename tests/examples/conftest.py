"""One server that hosts the README's agent, taken from its text, and every file in `examples/`."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.examples.readme import ENGLISH
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    folder = tmp_path_factory.mktemp("readme")
    (folder / "from_readme.py").write_text(ENGLISH.block("python"))
    agents = [f"refunds={folder}/from_readme.py:agent", *(f"{path.stem}={path}:agent" for path in EXAMPLES)]
    process = ServerProcess(folder / "data", agents=agents, environment={"INTERLOCK_LOCALE": "en"})
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="package")
def person(server: ServerProcess) -> Generator[ThreadsClient]:
    client = ThreadsClient(server.url, "reader").sign_in()
    yield client
    client.http.close()
