"""`kill -9` while a tool lets another graph act: what that graph did is not done again unless a person says so."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.durability.lives import LEASE_SECONDS, Lives, Talk
from tests.support.server import ServerProcess
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P6")

AGENTS = ("own_thread", "at_exit", "no_saver", "after_own_thread", "mail_after_kept")


@pytest.fixture
def lives(tmp_path: Path, database_url: str, witness: Witness) -> Generator[Lives]:
    graphs = Path(__file__).parent / "unkept_graphs.py"
    server = ServerProcess(
        tmp_path / "data",
        agents=[f"{name}={graphs}:{name}" for name in AGENTS],
        database=database_url,
        auth="none",
        environment={**witness.environment, "INTERLOCK_LEASE_SECONDS": LEASE_SECONDS, "INTERLOCK_LOCALE": "en"},
    )
    lives = Lives(server, witness)
    yield lives
    lives.close()
    server.close()


@pytest.mark.parametrize("database_url", ["sqlite", "postgres"], indirect=True)
def test_skip_holds_for_what_a_tool_did_in_a_graph_that_the_run_does_not_keep(lives: Lives) -> None:
    lives.start()
    for agent in ("own_thread", "at_exit", "no_saver", "after_own_thread"):
        talk = Talk(lives, agent)
        with talk.under_way():
            lives.server.kill()
        lives.start()

        request = talk.pending()

        assert request["request_data"]["title"].startswith("delegate "), agent
        assert "Inside it began: send" in request["request_data"]["description"], agent
        assert talk.answer("skip").events[-1] == "end"
        assert talk.effects == 1, agent
        assert talk.person.history(talk.thread_id)[-1]["content"] == "finished"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_containers_own_work_in_an_effect_is_put_to_a_person_and_its_tools_are_not_run_again(lives: Lives) -> None:
    lives.start()
    talk = Talk(lives, "mail_after_kept")
    with talk.under_way():
        lives.person.wait_for(lambda: lives.witness.count(f"{talk.name}mail."), lambda count: count == 1)
        lives.server.kill()
        lives.witness.release(f"{talk.name}mail.")
    lives.start()

    request = talk.pending()

    assert request["request_data"]["title"].startswith("mail ")
    assert talk.answer("skip").events[-1] == "end"
    assert [lives.witness.count(name) for name in (talk.name, f"{talk.name}mail.")] == [1, 1]
    assert talk.person.history(talk.thread_id)[-1]["content"] == "finished"
