"""Networks break and servers are restarted; whoever asks does not notice, and nobody is asked twice."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from interlock_client import Interlock, NetworkError, RateLimited
from interlock_client.events import RequestSettled
from tests.client.asking import Person, asking, within
from tests.client.network import Network
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient


@pytest.fixture
def server(tmp_path: Path) -> Generator[ServerProcess]:
    """One that a test may kill."""
    process = ServerProcess(tmp_path / "data", environment={"INTERLOCK_LOCALE": "en"})
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture
def network(server: ServerProcess) -> Generator[Network]:
    with Network(server.url) as running:
        yield running


@pytest.fixture
async def alice(server: ServerProcess, network: Network) -> AsyncGenerator[Person]:
    ThreadsClient(server.url, "alice").sign_in().http.close()
    client = await Person.sign_in(network.url, "alice", "wonderland")
    yield client
    await client.close()


@pytest.fixture
async def agent(network: Network, alice: Person) -> AsyncGenerator[Interlock]:
    key = (await alice.create_key("worker", "agent")).key
    async with Interlock(network.url, key=key) as client:
        yield client


async def restart(server: ServerProcess, network: Network) -> None:
    server.kill()
    await asyncio.to_thread(server.start)
    network.target = server.url


async def test_an_ask_survives_that_the_server_is_killed(
    server: ServerProcess, network: Network, agent: Interlock, alice: Person
) -> None:
    async with asking(agent.ask_clarification("Still there?")) as asked:
        [seen] = await alice.sees(agent)
        await restart(server, network)
        assert [one.request_id for one in await alice.sees(agent)] == [seen.request_id]
        await alice.respond(seen.request_id, answer="yes")
        assert await within(asked) == "yes"


async def test_a_follower_survives_that_the_server_is_killed(
    server: ServerProcess, network: Network, agent: Interlock, alice: Person
) -> None:
    async with asking(agent.ask_clarification("Still there?")) as asked:
        [seen] = await alice.sees(agent)
        events = alice.follow(seen.conversation_id)
        assert (await within(anext(events))).type == "clarification_asked"
        await restart(server, network)
        await alice.respond(seen.request_id, answer="yes")
        settled = await within(anext(events))
        await events.aclose()
        assert await within(asked) == "yes"
    assert isinstance(settled, RequestSettled)
    assert settled.response == {"answer": "yes"}


@pytest.mark.parametrize("lost", [1, 3])
async def test_an_ask_whose_reply_was_lost_is_asked_once(
    network: Network, agent: Interlock, alice: Person, lost: int
) -> None:
    network.losing = lost
    async with asking(agent.ask_approval("delete_file", {"path": "a"})) as asked:
        [seen] = await alice.sees(agent)
        await alice.respond(seen.request_id, granted=True)
        assert (await within(asked)).granted
    assert network.losing == 0
    assert [one async for one in alice.pending()] == []


async def test_an_answer_whose_reply_was_lost_is_given_once(network: Network, agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_clarification("Well?")) as asked:
        [seen] = await alice.sees(agent)
        network.cut()
        network.losing = 2
        answered = await within(alice.respond(seen.request_id, answer="yes"))
        assert answered.status == "answered"
        assert await within(asked) == "yes"


async def test_variables_survive_a_lost_look(network: Network, agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_env_vars(["TOKEN"])) as asked:
        [seen] = await alice.sees(agent)
        network.cut()
        await alice.respond(seen.request_id, values={"TOKEN": "s3cret"})
        assert await within(asked) == {"TOKEN": "s3cret"}


async def test_who_stops_waiting_while_the_reply_is_lost_leaves_nothing_pending(
    network: Network, agent: Interlock, alice: Person
) -> None:
    network.losing = 1
    async with asking(agent.ask_clarification("Never mind?")) as asked:
        await alice.sees_any()
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
    assert [one async for one in alice.pending()] == []


async def test_a_server_that_is_not_there_is_an_error_when_patience_ends() -> None:
    with Network("http://127.0.0.1:9") as nowhere:
        async with Interlock(nowhere.url, patience=0.3) as client:
            with pytest.raises(NetworkError) as lost:
                await within(client.ask_clarification("Anybody?"))
            with pytest.raises(NetworkError):
                await within(anext(client.chat("Anybody?")))
            with pytest.raises(NetworkError):
                await within(anext(client.follow("somewhere")))
        assert nowhere.url in str(lost.value)
        assert nowhere.opened > 3


async def test_who_is_told_to_slow_down_does(tmp_path: Path) -> None:
    bounds = {"INTERLOCK_RATE_LIMIT": "5", "INTERLOCK_RATE_BURST": "5"}
    process = ServerProcess(tmp_path / "slow", auth="none", environment=bounds)
    try:
        process.start()
        async with Interlock(process.url, user="ann") as patient:
            entries = await asyncio.gather(*(patient.grants() for _ in range(12)))
            assert entries == [[]] * 12
        async with Interlock(process.url, user="bob", patience=0) as hasty:
            with pytest.raises(RateLimited) as refused:
                await asyncio.gather(*(hasty.grants() for _ in range(50)))
            assert (refused.value.retry_after or 0) >= 1
    finally:
        process.close()
