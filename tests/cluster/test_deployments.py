"""Servers on one Ray cluster: each deployment has workers of its own, and those of older settings are retired."""

from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cluster.conftest import server
from tests.cluster.looking import START_SECONDS, alive, cluster, wait_for_workers
from tests.servers.postgres import PostgresServer
from tests.servers.ray import RayNodes, ray_nodes
from tests.support.people import People
from tests.support.puppet import calls, says, script
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for
from tests.support.witness import Witness

KEY = {"INTERLOCK_SECRET_KEY": "of the cluster, 0123456789abcdef", "INTERLOCK_WORKERS": "1"}


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Generator[RayNodes]:
    with ray_nodes(environment | KEY, tmp_path_factory.mktemp("ray")) as running:
        running.add()
        yield running


def test_two_deployments_on_one_cluster_have_workers_of_their_own(
    tmp_path: Path, postgres_server: PostgresServer, environment: dict[str, str], nodes: RayNodes
) -> None:
    shared = environment | KEY | {"INTERLOCK_RUNNER": "ray", "INTERLOCK_RAY_ADDRESS": nodes.address}
    with ExitStack() as stack:
        servers: list[ServerProcess] = []
        for name in ("first", "second"):
            database = stack.enter_context(postgres_server.fresh_database())
            servers.append(server(tmp_path / name, database, shared))
            stack.callback(servers[-1].close)
            servers[-1].start()
        for one in servers:
            wait_for_workers(one, count=1)
            with People(one.url) as people:
                person = people.named("root")
                assert person.chat(person.new_thread(), script(says("the end"))).text == "the end"


def test_workers_of_older_settings_end_their_tools_and_are_retired(
    tmp_path: Path, postgres_server: PostgresServer, environment: dict[str, str], nodes: RayNodes, witness: Witness
) -> None:
    shared = environment | KEY | {"INTERLOCK_RUNNER": "ray", "INTERLOCK_RAY_ADDRESS": nodes.address}
    with ExitStack() as stack:
        database = stack.enter_context(postgres_server.fresh_database())
        older = server(tmp_path / "older", database, shared | {"INTERLOCK_WORKER_RUNS": "7"})
        newer = server(tmp_path / "newer", database, shared | {"INTERLOCK_WORKER_RUNS": "5"})
        stack.callback(newer.close)
        stack.callback(older.close)
        (old,) = wait_for_workers(older.start(), count=1)
        people = stack.enter_context(People(older.url))
        person = people.named("root")
        thread = person.new_thread()
        message = script(calls(("hold", {"name": "retired"})), says("the end"))
        with person.http.stream("POST", f"/api/chat/{thread}", json={"message": message}):
            wait_for(lambda: witness.count("at:retired"), lambda count: count == 1)
            newer.start()
            # The older server lives on, and does not bring its workers back.
            (new,) = wait_for(lambda: alive(newer), lambda found: capacities(found) == {5}, START_SECONDS)
            # It holds its lease for as long as the tool takes.
            (lease,) = cluster(newer)["leases"]
            assert lease["worker"] == old["id"]
            wait_for(lambda: cluster(newer)["leases"][0], lambda seen: seen["until"] > lease["until"])
            witness.release("retired")
            # While it is followed: a run that nobody follows is stopped.
            wait_for(
                lambda: person.http.get(f"/api/history/{thread}").text,
                lambda text: text.count('"content":"the end"') == 1,
            )
        assert witness.count("retired") == 1
        # A start with the settings of now finds what is there.
        newer.stop()
        newer.start()
        assert [worker["id"] for worker in wait_for_workers(newer, count=1)] == [new["id"]]


def capacities(workers: list[dict[str, int]]) -> set[int]:
    return {worker["capacity"] for worker in workers}
