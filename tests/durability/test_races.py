"""Answers that come at the same moment, on one server with SQLite and on two with one PostgreSQL."""

from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.durability.lives import GRAPHS, LEASE_SECONDS, STREAM_SECONDS
from tests.durability.racing import Outcome, Shot, race
from tests.servers.postgres import PostgresServer
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P2")

REPETITIONS = 12
LATER = 0.012
"""Seconds by which each repetition's second answer comes later than the one of the repetition before."""


@dataclass
class Arena:
    """One or two servers on one database, a thread's owner and an admin, each of whom may answer."""

    servers: list[ServerProcess]
    owner: ThreadsClient
    admin: ThreadsClient
    witness: Witness
    answers: int
    """How many to send at once."""

    @property
    def urls(self) -> list[str]:
        return [server.url for server in self.servers]

    def shot(self, number: int, thread_id: str, **body: str) -> Shot:
        """The so-manieth answer, each from another person to another server than the one before."""
        person = (self.owner, self.admin)[number % 2]
        headers = {"authorization": person.http.headers["authorization"]}
        return Shot(self.urls[number // 2 % len(self.urls)], f"/api/resume/{thread_id}", body, headers)

    def pending(self, thread_id: str) -> tuple[str, str]:
        """The id of the one request that waits, and what it is about."""
        status = self.owner.wait_for_status(thread_id, "interrupted")
        (request,) = status["interrupt_info"]["requests"]
        return request["request_id"], request["request_data"]["args"].get("what", "")


def _servers(kind: str, folder: Path, url: str, witness: Witness, stack: ExitStack) -> list[ServerProcess]:
    environment = {
        **witness.environment,
        "INTERLOCK_SECRET_KEY": "the same on every server",
        "INTERLOCK_LEASE_SECONDS": LEASE_SECONDS,
        # They all come from one address.
        "INTERLOCK_CONNECTIONS_PER_ADDRESS": "10000",
    }
    servers: list[ServerProcess] = []
    for number in range(1 if kind == "sqlite" else 2):
        server = ServerProcess(folder / str(number), agents=GRAPHS, database=url, environment=environment)
        stack.callback(server.close)
        servers.append(server.start())
    return servers


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("sqlite", marks=pytest.mark.xdist_group("races on sqlite")),
        pytest.param("postgres", marks=pytest.mark.xdist_group("races on postgres")),
    ],
)
def arena(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Arena]:
    kind: str = request.param
    folder = tmp_path_factory.mktemp("arena")
    with ExitStack() as stack:
        witness = stack.enter_context(Witness())
        if kind == "sqlite":
            url = f"sqlite:///{folder}/interlock.db"
        else:
            database: PostgresServer = request.getfixturevalue("postgres_server")
            url = stack.enter_context(database.fresh_database())
        servers = _servers(kind, folder, url, witness, stack)
        admin = ThreadsClient(servers[0].url, "boss").sign_in()
        owner = ThreadsClient(servers[-1].url, "alice").sign_in()
        for person in (admin, owner):
            person.http.timeout = STREAM_SECONDS
            stack.callback(person.http.close)
        yield Arena(servers, owner, admin, witness, answers=1000 if kind == "sqlite" else 50)


def _winner(outcomes: list[Outcome]) -> Outcome:
    (winner,) = [outcome for outcome in outcomes if outcome.status == 200]
    assert {outcome.status for outcome in outcomes if outcome is not winner} == {409}
    return winner


def test_of_many_answers_at_once_one_is_accepted_and_the_others_are_told_whose(arena: Arena) -> None:
    thread_id = arena.owner.new_thread("deploy")
    request_id = arena.owner.chat(thread_id, "raced").first("interrupt")["request_id"]
    actions = [("continue", "cancel")[number // 4 % 2] for number in range(arena.answers)]
    outcomes = race(
        [arena.shot(number, thread_id, action=action, request_id=request_id) for number, action in enumerate(actions)]
    )
    winner = _winner(outcomes)
    by = "alice" if arena.owner.http.headers["authorization"] in winner.shot.headers.values() else "boss"
    decision = {"continue": "accept", "cancel": "reject"}[winner.shot.body["action"]]
    told = [outcome.body for outcome in outcomes if outcome is not winner]
    assert {(one["code"], one["request_id"], one["source"]) for one in told} == {
        ("already_settled", request_id, "threads")
    }
    assert {(one["answered_by"], one["answer"]["decision"]) for one in told} == {(by, decision)}
    assert len({one["answered_at"] for one in told}) == 1
    assert all(one["answered_at"] for one in told)
    assert arena.witness.count("raced") == (1 if decision == "accept" else 0)
    last = arena.owner.history(thread_id)[-1]["content"]
    assert last == ("finished raced" if decision == "accept" else "refused raced")


@pytest.mark.parametrize("named", [True, False], ids=["naming its request", "naming nothing"])
@pytest.mark.parametrize("agent", ["one_node", "two_nodes"])
def test_two_yes_to_staging_at_once_never_approve_production(arena: Arena, agent: str, named: bool) -> None:
    for number in range(REPETITIONS):
        name = f"{agent}.{named}.{number}"
        thread_id = arena.owner.new_thread(agent)
        request = arena.owner.chat(thread_id, name).first("interrupt")
        more = {"request_id": request["request_id"]} if named else {}
        mine = {"authorization": arena.owner.http.headers["authorization"]}
        # A reply that names nothing means what its sender has seen, and on one server the first reply's stream may show
        # them the next question: the second one is surely about staging only where both are sent before either is read.
        at_once = not named and len(arena.servers) == 1
        delay = 0.0 if at_once else number * LATER
        first, second = (arena.shot(2 * one, thread_id, action="continue", **more) for one in range(2))
        shots = [replace(first, headers=mine), replace(second, headers=mine, delay=delay)]
        _winner(race(shots, unread_by=arena.servers if at_once else ()))
        request_id, what = arena.pending(thread_id)
        assert what == "PRODUCTION"
        assert request_id != request["request_id"]
        assert (arena.witness.count(f"staging:{name}"), arena.witness.count(f"PRODUCTION:{name}")) == (1, 0)
        assert arena.owner.resume(thread_id, "cancel", request_id=request_id).status == 200
        assert (arena.witness.count(f"staging:{name}"), arena.witness.count(f"PRODUCTION:{name}")) == (1, 0)


@pytest.mark.parametrize("agent", ["one_node", "two_nodes"])
def test_a_late_duplicate_answer_is_refused_and_changes_nothing(arena: Arena, agent: str) -> None:
    name = f"late.{agent}"
    thread_id = arena.owner.new_thread(agent)
    staging = arena.owner.chat(thread_id, name).first("interrupt")["request_id"]
    production = arena.owner.resume(thread_id, "continue", request_id=staging).first("interrupt")["request_id"]

    def refused() -> None:
        before = arena.owner.status(thread_id), arena.owner.history(thread_id)
        outcomes = race([arena.shot(n, thread_id, action="continue", request_id=staging) for n in range(4)])
        assert [outcome.status for outcome in outcomes] == [409] * 4
        assert {outcome.body["answered_by"] for outcome in outcomes} == {"alice"}
        assert (arena.owner.status(thread_id), arena.owner.history(thread_id)) == before

    refused()
    assert arena.pending(thread_id) == (production, "PRODUCTION")
    arena.owner.resume(thread_id, "continue", request_id=production)
    refused()
    assert (arena.witness.count(f"staging:{name}"), arena.witness.count(f"PRODUCTION:{name}")) == (1, 1)
