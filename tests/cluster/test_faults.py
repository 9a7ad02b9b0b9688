"""Two servers, workers on two nodes of Ray, PostgreSQL, Redis: each of them fails, and nothing is lost or doubled."""

import os
import signal
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import psycopg
import pytest

from tests.cluster.conftest import server
from tests.cluster.looking import START_SECONDS, alive, holder, pid_of, wait_for_workers
from tests.servers.postgres import Keeper, own_postgres
from tests.servers.ray import RayNodes, cut_off, is_running, node_of, processes_of, ray_nodes
from tests.servers.redis import RedisServer
from tests.support.people import People
from tests.support.puppet import calls, flood, gate, says, script
from tests.support.server import ServerProcess
from tests.support.threads import Frame, Reply, ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness

TOKENS = 50
SPOKEN = "".join(f"{number} {word} " for word in ("before", "after") for number in range(TOKENS))


@pytest.fixture(scope="module")
def environment(environment: dict[str, str]) -> dict[str, str]:
    """With leases that last longer than any test: no run goes on here because one ran out by itself."""
    return environment | {"INTERLOCK_LEASE_SECONDS": "3600"}


@dataclass
class Stack:
    first: ServerProcess
    second: ServerProcess
    nodes: RayNodes
    postgres: Keeper
    redis: RedisServer
    database: str


@pytest.fixture(scope="module")
def stack(
    tmp_path_factory: pytest.TempPathFactory,
    environment: dict[str, str],
    redis_server: RedisServer,
) -> Generator[Stack]:
    folder = tmp_path_factory.mktemp("stack")
    # Workers on other machines have the key from their own environment: Ray is never told it.
    shared = environment | {"INTERLOCK_SECRET_KEY": "of the stack, 0123456789abcdef"}
    with ExitStack() as opened:
        # What was committed is there after a hard stop.
        postgres = opened.enter_context(own_postgres(synchronous_commit="on"))
        database = opened.enter_context(postgres.server.fresh_database())
        nodes = opened.enter_context(ray_nodes(shared, folder))
        nodes.add()
        nodes.add()
        shared = shared | {"INTERLOCK_RUNNER": "ray", "INTERLOCK_RAY_ADDRESS": nodes.address}
        servers = [server(folder / name, database, shared) for name in ("first", "second")]
        for one in servers:
            opened.callback(one.close)
            one.start()
        yield Stack(servers[0], servers[1], nodes, postgres, redis_server, database)


@pytest.fixture(scope="module")
def person(stack: Stack) -> Generator[ThreadsClient]:
    wait_for_workers(stack.first)
    with People(stack.first.url) as people:
        yield people.named("root")


@contextmanager
def left_running(person: ThreadsClient, thread: str, message: str) -> Generator[None]:
    """A message is sent, and its sender goes away when the block ends."""
    headers = {"x-on-disconnect": "continue"}
    with person.http.stream("POST", f"/api/chat/{thread}", json={"message": message}, headers=headers):
        yield


def text_of(frames: list[Frame]) -> str:
    return Reply(200, frames).text


def logged(frames: list[Frame]) -> list[Frame]:
    """What stands in the log, but for what the agent said: who heard it word by word is not told it once more."""
    return [frame for frame in frames if frame.event != "messages/partial"]


def numbers(frames: list[Frame]) -> list[tuple[int, ...]]:
    return [tuple(int(part) for part in frame.id.split(".")) for frame in frames if frame.id]


def test_a_node_that_is_cut_off_in_a_tool_repeats_nothing(
    stack: Stack, person: ThreadsClient, witness: Witness
) -> None:
    thread = person.new_thread()
    with left_running(person, thread, script(calls(("hold", {"name": "cut-off"})), says("the end"))):
        wait_for(lambda: witness.count("at:cut-off"), lambda count: count == 1)
        cut_off(node_of(pid_of(holder(stack.first, thread))))
    wait_for(lambda: person.status(thread), lambda found: bool(found["has_pending_tasks"]), START_SECONDS)
    witness.release("cut-off")
    # Whether it happened is not known: a person is asked, and the run goes on with that on the other node.
    assert person.resume(thread, "answer", answers=["skip"]).text.endswith("the end")
    assert witness.count("cut-off") == 1
    stack.nodes.add()


def test_a_pause_outlives_the_node_on_which_it_was_asked(stack: Stack, person: ThreadsClient, witness: Witness) -> None:
    workers = wait_for_workers(stack.first)
    thread = person.new_thread()
    named = [("guarded", {"name": name}) for name in ("after-the-node", "after-the-node-too")]
    message = script(calls(*named, say=[gate("asked-here")]), says("the end"))
    with left_running(person, thread, message):
        wait_for(lambda: witness.count("at:asked-here"), lambda count: count == 1)
        worker = holder(stack.first, thread)
        witness.release("asked-here")
        wait_for(lambda: person.status(thread), lambda found: bool(found["has_pending_tasks"]))
    # Only the node's keeper: what it started goes on for a moment, and would take up the answered run.
    node = node_of(pid_of(worker))
    orphans = processes_of(node)[1:]
    assert pid_of(worker) in orphans
    os.kill(node, signal.SIGKILL)
    wait_for(lambda: any(is_running(pid) for pid in orphans), lambda runs: not runs, START_SECONDS)
    assert person.resume(thread, "continue").events[-1] == "end"
    person.wait_for_rest(thread)
    assert [witness.count(name) for name in ("after-the-node", "after-the-node-too")] == [1, 1]
    stack.nodes.add()
    wait_for_workers(stack.first, {worker}, len(workers))


def test_a_client_goes_on_at_the_other_server_and_sees_no_gap(
    stack: Stack, person: ThreadsClient, witness: Witness
) -> None:
    elsewhere = person.at(stack.second.url)
    thread = elsewhere.new_thread()
    message = script(says(flood(TOKENS, "before"), gate("moving"), flood(TOKENS, "after")))
    before: list[Frame] = []
    with left_running(elsewhere, thread, message), elsewhere.stream(thread, "0") as frames:
        for frame in frames:
            before.append(frame)
            if f"{TOKENS - 1} before" in text_of(before):
                break
        stack.second.kill()
    after: list[Frame] = []
    with person.stream(thread, before[-1].id) as frames:
        witness.release("moving")
        for frame in frames:
            after.append(frame)
            if frame.event == "end":
                break
    stack.second.start()
    seen = numbers([*before, *after])
    assert seen == sorted(seen)
    whole = whole_log(person, thread)
    assert logged([*before, *after]) == logged(whole)
    assert text_of([*before, *after]) == text_of(whole) == SPOKEN


def test_a_postgresql_that_is_stopped_hard_loses_nothing(stack: Stack, person: ThreadsClient, witness: Witness) -> None:
    paused, running = person.new_thread(), person.new_thread()
    person.chat(paused, script(calls(("guarded", {"name": "durable"})), says("the end")))
    message = script(calls(("hold", {"name": "no-database"})), says("the other end"))
    with left_running(person, running, message):
        wait_for(lambda: witness.count("at:no-database"), lambda count: count == 1)
    stack.postgres.stop_hard()
    assert person.http.get(f"/api/status/{paused}").status_code == 503
    witness.release("no-database")
    stack.postgres.start()
    wait_for(lambda: person.http.get("/readyz").status_code, lambda code: code == 200)
    wait_for_workers(stack.first)
    assert person.resume(paused, "continue").text == "the end"
    assert witness.count("durable") == 1
    # The tool ended while its result could not be written: it is done, or a person is asked; it never runs again.
    if wait_for(lambda: person.state(running), lambda state: state != "running", START_SECONDS) == "waiting":
        (doubt,) = person.status(running)["interrupt_info"]["requests"]
        assert person.resume(running, "answer", answers=["done"], request_id=doubt["request_id"]).status == 200
    person.wait_for_rest(running)
    assert witness.count("no-database") == 1


@pytest.mark.parametrize("fault", ["flushed", "killed", "started empty"])
def test_a_redis_that_fails_while_a_client_streams_costs_no_word(
    stack: Stack, person: ThreadsClient, witness: Witness, fault: str
) -> None:
    name = f"redis-{fault.replace(' ', '-')}"
    thread = person.new_thread()
    message = script(says(flood(TOKENS, "before"), gate(name), flood(TOKENS, "after")))
    frames: list[Frame] = []

    def follow() -> None:
        with person.at(stack.second.url).stream(thread, "0") as stream:
            for frame in stream:
                frames.append(frame)
                if frame.event == "end":
                    return

    with left_running(person, thread, message):
        following = threading.Thread(target=follow)
        following.start()
        wait_for(lambda: witness.count(f"at:{name}"), lambda count: count == 1)
        wait_for(lambda: text_of(list(frames)), lambda text: f"{TOKENS - 1} before" in text)
        if fault == "flushed":
            stack.redis.command("FLUSHALL")
        else:
            stack.redis.kill()
        if fault == "started empty":
            stack.redis.start()
        witness.release(name)
        following.join(START_SECONDS)
    if fault == "killed":
        stack.redis.start()
    assert text_of(frames) == SPOKEN
    assert numbers(frames) == sorted(numbers(frames))


def test_a_worker_that_stood_still_past_its_lease_commits_nothing(
    stack: Stack, person: ThreadsClient, witness: Witness
) -> None:
    wait_for_workers(stack.first)
    thread = person.new_thread()
    message = script(calls(("note", {"name": "stood-still"}), say=["One ", gate("still"), "two"]), says("the end"))
    with left_running(person, thread, message):
        wait_for(lambda: witness.count("at:still"), lambda count: count == 1)
        stopped = holder(stack.first, thread)
        os.kill(pid_of(stopped), signal.SIGSTOP)
        try:
            # Nobody takes it for dead: it breaks nothing off, and its lease has to run out.
            with psycopg.connect(stack.database) as connection:
                connection.execute("UPDATE threads SET lease_until = now() WHERE id = %s", [thread])
            # The other worker has taken the run over, and stands at the same gate.
            wait_for(lambda: witness.count("at:still"), lambda count: count == 2, START_SECONDS)
            assert holder(stack.first, thread) != stopped
            witness.release("still")
            person.wait_for_rest(thread)
            log, said = whole_log(person, thread), person.history(thread)
        finally:
            os.kill(pid_of(stopped), signal.SIGCONT)
    # When it has left a sign of life again, it has gone on from where it stood for some seconds.
    seen = {one["id"]: one["seen_at"] for one in alive(stack.first)}.get(stopped)
    wait_for(
        lambda: {one["id"]: one["seen_at"] for one in alive(stack.first)},
        lambda found: stopped in found and found[stopped] != seen,
        START_SECONDS,
    )
    assert logged(whole_log(person, thread)) == logged(log)
    assert person.history(thread) == said
    assert witness.count("stood-still") == 1


def whole_log(person: ThreadsClient, thread: str) -> list[Frame]:
    """Until the run ended."""
    frames: list[Frame] = []
    with person.stream(thread, "0") as stream:
        for frame in stream:
            frames.append(frame)
            if frame.event == "end":
                break
    return frames
