"""Agents in workers that Ray keeps: runs go on once, whoever dies."""

import os
import signal
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.conftest import server
from tests.cluster.looking import START_SECONDS, alive, cluster, holder, pid_of, wait_for_workers
from tests.servers.ray import command_of, is_running, node_of, processes_of
from tests.servers.redis import RedisServer
from tests.support.hitl import HitlClient, error_of
from tests.support.people import People
from tests.support.puppet import calls, gate, says, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness

LEFT_RUNNING = {"x-on-disconnect": "continue"}


def token_of(person: ThreadsClient) -> str:
    return person.http.headers["authorization"].removeprefix("Bearer ")


@pytest.fixture(scope="module")
def environment(environment: dict[str, str]) -> dict[str, str]:
    """With leases that last longer than any test: no run goes on here because one ran out."""
    return environment | {"INTERLOCK_LEASE_SECONDS": "3600"}


@pytest.fixture(scope="module")
def person(node: ServerProcess) -> Generator[ThreadsClient]:
    wait_for_workers(node)
    with People(node.url) as people:
        yield people.named("root")


def test_the_status_shows_workers_runs_and_leases(node: ServerProcess, person: ThreadsClient, witness: Witness) -> None:
    assert {worker["kind"] for worker in alive(node)} == {"ray"}
    thread = person.new_thread()
    with person.http.stream("POST", f"/api/chat/{thread}", json={"message": script(says(gate("status")))}):
        wait_for(lambda: witness.count("at:status"), lambda count: count == 1)
        found = cluster(node)
        assert found["runs"]["running"] == 1
        (lease,) = found["leases"]
        assert (lease["conversation_id"], lease["worker"] in {one["id"] for one in alive(node)}) == (thread, True)
        witness.release("status")
        person.wait_for_rest(thread)


def test_a_run_streams_its_tokens_pauses_and_goes_on_elsewhere(person: ThreadsClient, witness: Witness) -> None:
    thread = person.new_thread()
    turns = script(calls(("guarded", {"name": "on-ray"}), say=["One ", "two ", "three"]), says("the end"))
    reply = person.chat(thread, turns)
    assert (reply.text, reply.events[-2:]) == ("One two three", ["interrupt", "end"])
    assert person.resume(thread, "continue").text == "the end"
    assert witness.count("on-ray") == 1


def test_a_worker_that_is_killed_in_a_tool_repeats_nothing_and_is_replaced(
    node: ServerProcess, person: ThreadsClient, witness: Witness
) -> None:
    before = {worker["id"] for worker in alive(node)}
    thread = person.new_thread()
    message = script(calls(("hold", {"name": "cut-short"})), says("the end"))
    with person.http.stream("POST", f"/api/chat/{thread}", json={"message": message}, headers=LEFT_RUNNING):
        wait_for(lambda: witness.count("cut-short"), lambda count: count == 1)
        os.kill(pid_of(holder(node, thread)), signal.SIGKILL)
    status = wait_for(lambda: person.status(thread), lambda found: bool(found["has_pending_tasks"]), START_SECONDS)
    assert status["status"] == "interrupted"
    witness.release("cut-short")
    # A person decides what became of it; the run goes on with that on a worker that lives.
    assert person.resume(thread, "answer", answers=["skip"]).text.endswith("the end")
    assert witness.count("cut-short") == 1
    wait_for_workers(node, before, 1)


@pytest.mark.parametrize("process", ["raylet", "gcs_server", "agent"])
def test_a_ray_of_the_servers_own_of_which_one_process_dies_is_replaced_and_its_runs_go_on(
    node: ServerProcess, person: ThreadsClient, witness: Witness, process: str
) -> None:
    before = {worker["id"] for worker in wait_for_workers(node)}
    thread, point = person.new_thread(), f"{process}-dies"
    message = script(calls(("note", {"name": point})), says(gate(point), "the end"))
    with person.http.stream("POST", f"/api/chat/{thread}", json={"message": message}, headers=LEFT_RUNNING):
        wait_for(lambda: witness.count(f"at:{point}"), lambda count: count == 1)
        # One that was killed a moment ago is still taken for alive.
        raylet = node_of(next(pid for pid in map(pid_of, before) if is_running(pid)))
        head, below = processes_of(node_of(raylet))[1:], processes_of(raylet)[1:]
        among = below if process == "agent" else head
        os.kill(next(one for one in among if process in command_of(one).lower()), signal.SIGKILL)

    wait_for(lambda: witness.count(f"at:{point}"), lambda count: count == 2, START_SECONDS)
    assert not before & {holder(node, thread)}
    witness.release(point)
    person.wait_for_rest(thread)
    assert "".join(one["content"] for one in person.history(thread)[-1:]) == "the end"
    assert witness.count(point) == 1
    # Nothing of the old one is left, but for agents of the node, which look for their head for a minute.
    old = [*head, *map(pid_of, before)]
    wait_for(lambda: [one for one in old if is_running(one)], lambda left: not left, START_SECONDS)


def test_a_run_that_is_stopped_ends_with_the_tool_under_way(person: ThreadsClient, witness: Witness) -> None:
    thread = person.new_thread()
    message = script(calls(("hold", {"name": "stopped"})), calls(("note", {"name": "after-the-stop"})))
    with person.http.stream("POST", f"/api/chat/{thread}", json={"message": message}):
        wait_for(lambda: witness.count("at:stopped"), lambda count: count == 1)
        assert person.http.post(f"/api/v1/inbox/conversations/{thread}/stop", json={}).status_code == 200
        witness.release("stopped")
        person.wait_for_rest(thread)
    assert (witness.count("stopped"), witness.count("after-the-stop")) == (1, 0)


def test_a_lost_redis_costs_no_run(person: ThreadsClient, witness: Witness, redis_server: RedisServer) -> None:
    thread = person.new_thread()
    assert person.chat(thread, script(calls(("guarded", {"name": "no-redis"})), says("the end"))).events[-1] == "end"
    redis_server.kill()
    try:
        assert person.resume(thread, "continue").text == "the end"
        assert witness.count("no-redis") == 1
    finally:
        redis_server.start()
    assert person.chat(person.new_thread(), script(says("again"))).text == "again"


def test_without_a_worker_an_answer_is_refused_and_can_be_given_later(
    tmp_path: Path, postgres_server: Any, environment: dict[str, str], witness: Witness
) -> None:
    with postgres_server.fresh_database() as database:
        complete = server(tmp_path, database, environment)
        # Where there is no Ray, there are no workers.
        bare = server(
            tmp_path, database, environment | {"INTERLOCK_RUNNER": "ray", "INTERLOCK_RAY_ADDRESS": "127.0.0.1:1"}
        )
        try:
            with People(complete.start().url) as people:
                person = people.named("root")
                thread = person.new_thread()
                person.chat(thread, script(calls(("guarded", {"name": "later"})), says("the end")))
            complete.stop()
            with HitlClient(bare.start().url, token_of(person)) as reviewer:
                request_id = reviewer.one_pending(thread)["request_id"]
                refused = wait_for(
                    lambda: reviewer.try_respond(request_id, {"granted": True}), lambda reply: reply.status_code == 500
                )
                error_of(refused, 500, "HITL_ACTOR_ERROR", "WORKFLOW_ERROR")
                assert reviewer.look(request_id)["status"] == "pending"
            with person.at(bare.url).http as http:
                elsewhere = http.post(f"/api/resume/{thread}", json={"action": "continue", "request_id": request_id})
            assert (elsewhere.status_code, elsewhere.json()["code"]) == (503, "no_worker")
            assert elsewhere.headers["retry-after"]
            bare.stop()
            with HitlClient(complete.start().url, token_of(person)) as reviewer:
                reviewer.respond(request_id, {"granted": True})
            wait_for(lambda: witness.count("later"), lambda count: count == 1)
        finally:
            for process in (complete, bare):
                process.close()


def test_a_ray_that_ends_is_started_again_and_its_runs_go_on(
    node: ServerProcess, person: ThreadsClient, witness: Witness
) -> None:
    before = {worker["id"] for worker in wait_for_workers(node)}
    thread = person.new_thread()
    person.chat(thread, script(calls(("guarded", {"name": "ray-is-back"})), says("the end")))
    (keeper,) = [one for one in processes_of(node.running.pid)[1:] if "ray_keeper" in command_of(one)]
    # Ray ends with whoever speaks to it; as when somebody replaces it.
    os.kill(keeper, signal.SIGKILL)
    wait_for(lambda: any(is_running(pid_of(one)) for one in before), lambda runs: not runs, START_SECONDS)
    # The answer is taken all the same: it is in the store, and the run goes on when there is somebody to run it.
    assert person.resume(thread, "continue").text == "the end"
    assert witness.count("ray-is-back") == 1
    wait_for_workers(node, before)
