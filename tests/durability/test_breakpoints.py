"""`kill -9` between the stop of a graph at a breakpoint and the pause for it: nobody was asked, and nothing has run."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.durability.lives import LEASE_SECONDS, Lives, Talk
from tests.support.server import ServerProcess
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P8", "P10")

AGENTS = ("own", "as_node", "after_node", "after_last", "twice", "in_function", "in_tool", "beside")
on_either_database = pytest.mark.parametrize("database_url", ["sqlite", "postgres"], indirect=True)


@pytest.fixture
def lives(tmp_path: Path, database_url: str, witness: Witness) -> Generator[Lives]:
    graphs = Path(__file__).parent / "breakpoint_graphs.py"
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


def described(request: dict[str, Any]) -> str:
    return request["request_data"]["description"]


def dies_before_it_asks(lives: Lives, agent: str) -> Talk:
    lives.start("ask.committing=kill")
    talk = Talk(lives, agent)
    with lives.dying():
        talk.send()
    lives.start()
    return talk


def allow(talk: Talk) -> list[str]:
    talk.request_id = talk.pending()["request_id"]
    return talk.approve().events


@pytest.mark.parametrize(
    ("database_url", "agent", "text"),
    [
        ("sqlite", "own", "The graph stopped before act."),
        ("sqlite", "as_node", "The graph in inner stopped before act."),
        ("sqlite", "after_node", "The graph in inner stopped after prepare; next: act."),
        ("sqlite", "after_last", "The graph in inner stopped after prepare, its last node."),
        ("sqlite", "in_function", "The graph in call stopped before act."),
        ("sqlite", "in_tool", "The graph in tools stopped before act."),
        ("postgres", "after_node", "The graph in inner stopped after prepare; next: act."),
        ("postgres", "in_tool", "The graph in tools stopped before act."),
    ],
    indirect=["database_url"],
)
def test_a_breakpoint_is_asked_about_after_a_crash_in_whatever_graph_it_is(lives: Lives, agent: str, text: str) -> None:
    talk = dies_before_it_asks(lives, agent)

    assert described(talk.pending()) == text
    assert talk.effects == 0

    assert allow(talk)[-1] == "end"
    assert talk.effects == 1
    assert talk.person.history(talk.thread_id)[-1]["content"] == "finished"


@on_either_database
def test_the_yes_to_one_breakpoint_does_not_pass_the_next_of_the_same_graph_after_a_crash(lives: Lives) -> None:
    lives.start()
    talk = Talk(lives, "twice")
    talk.is_asked()
    lives.server.stop()
    lives.start("ask.committing=kill")
    with lives.dying():
        talk.approve()
    lives.start()

    assert described(talk.pending()) == "The graph in inner stopped before again."
    assert lives.witness.names(talk.name) == [talk.name]
    assert allow(talk)[-1] == "end"
    assert talk.effects == 2


@on_either_database
def test_a_breakpoint_beside_an_interrupt_is_asked_about_too_and_not_passed_by_its_answer(lives: Lives) -> None:
    talk = dies_before_it_asks(lives, "beside")
    status = talk.person.wait_for_status(talk.thread_id, "interrupted")
    wondering, stopped = status["interrupt_info"]["requests"]
    assert wondering["request_data"]["question"] == "Which colour?"
    assert described(stopped) == "The graph in inner stopped before act."

    talk.person.resume(talk.thread_id, "answer", answers=["blue"], request_id=wondering["request_id"])
    assert talk.pending()["request_id"] == stopped["request_id"]
    assert talk.effects == 0

    assert allow(talk)[-1] == "end"
    assert talk.effects == 1
    assert talk.person.history(talk.thread_id)[-1]["content"] == "finished"
