"""What the workers' nodes do not have, Ray brings them."""

import json
import shutil
from pathlib import Path

from tests.cluster.looking import wait_for_workers
from tests.support.people import People
from tests.support.server import ServerProcess

AGENT = Path(__file__).parent / "shipped_agent.py"


def test_an_agent_is_shipped_to_the_workers(tmp_path: Path, database: str, environment: dict[str, str]) -> None:
    folder = tmp_path / "agents"
    folder.mkdir()
    shutil.copyfile(AGENT, folder / "brought.py")
    shipped = tmp_path / "env.json"
    shipped.write_text(json.dumps({"working_dir": str(folder)}))
    process = ServerProcess(
        tmp_path / "server",
        agents=["brought=brought:agent"],
        database=database,
        environment={
            **environment,
            "INTERLOCK_RUNNER": "ray",
            "INTERLOCK_WORKERS": "1",
            "INTERLOCK_RAY_RUNTIME_ENV": str(shipped),
        },
        folder=folder,
    )
    with process:
        wait_for_workers(process, count=1)
        with People(process.url) as people:
            person = people.named("root")
            loaded = Path(person.chat(person.new_thread("brought"), "from where?").text)
    assert loaded.name == "brought.py"
    assert loaded.parent != folder
