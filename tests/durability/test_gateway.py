"""A gateway that is killed, or loses its upstream, while a call is under way: nothing is done twice by itself."""

import asyncio
import json
from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.faces.gateway.test_odd_messages import say, wrapped_process
from tests.support.gateway import Gateway, GatewayHost, Wrapped, gateway_on, status_of
from tests.support.hitl import of
from tests.support.mcp import Host, text_of, underway
from tests.support.people import People
from tests.support.waiting import wait_for

pytestmark = pytest.mark.promise("P4", "P6")

YES = {"granted": True}
NOTE = "the-note"


@dataclass(frozen=True)
class Scene:
    gateway: Gateway
    host: GatewayHost

    async def did(self, tool: str) -> None:
        """Wait until upstream has done it."""
        await asyncio.to_thread(wait_for, lambda: self.count(tool), lambda count: count == 1)

    def count(self, tool: str) -> int:
        return self.gateway.witness.count(f"{tool} {NOTE}")

    async def doubt(self) -> dict[str, Any]:
        """What a person is asked about the call."""
        [asked] = await asyncio.to_thread(
            wait_for, self.host.host.pending, lambda found: [one["type"] for one in found] == ["decision"]
        )
        assert [one["key"] for one in asked["request_data"]["options"]] == ["retry", "skip", "done"]
        return asked


Start = Callable[[str, str], Scene]


@pytest.fixture
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Start]:
    with ExitStack() as stack:

        def started(database: str, upstream: str) -> Scene:
            gateway = stack.enter_context(gateway_on(database, request, tmp_path, {"INTERLOCK_LEASE_SECONDS": "5"}))
            server = gateway.server
            # Where it was, so that whoever knows it finds it there again.
            server.port = int(server.url.rpartition(":")[2])
            people = stack.enter_context(People(server.url))
            person = stack.enter_context(of(people.named("alice")))
            key = person.new_key("host", "agent")["key"]
            return Scene(gateway, GatewayHost(Host(server, person, "host", key), upstream))

        yield started


async def killed_while_upstream_works(scene: Scene) -> None:
    async with scene.host.connected(query="?hold=0") as client:
        assert status_of(await client.call_tool("hang", {"text": NOTE})) == "pending"
    await scene.host.respond(YES)
    calling = asyncio.create_task(call(scene, "hang"))
    await scene.did("hang")
    scene.gateway.server.kill()
    await asyncio.wait([calling])
    assert calling.exception() is not None
    scene.gateway.server.start()


async def call(scene: Scene, tool: str) -> Any:
    async with scene.host.connected() as client:
        # As hosts do: the client holds a result against the definition, and upstream may be gone by then.
        await client.list_tools()
        return await client.call_tool(tool, {"text": NOTE})


@pytest.mark.parametrize(
    ("database", "upstream", "said", "times"),
    [
        ("sqlite", "files", "retry", 2),
        ("postgres", "web", "retry", 2),
        ("sqlite", "web", "done", 1),
        ("postgres", "files", "skip", 1),
    ],
)
async def test_a_call_that_was_under_way_when_the_server_was_killed_is_put_to_a_person(
    start: Start, database: str, upstream: str, said: str, times: int
) -> None:
    scene = start(database, upstream)
    await killed_while_upstream_works(scene)
    # Nobody calls: it is asked about all the same, and not repeated.
    doubt = await scene.doubt()
    assert scene.count("hang") == 1
    scene.host.host.person.respond(doubt["request_id"], {"decision": said, "reason": "I looked: it is there"})
    scene.gateway.witness.release(NOTE)
    result = await call(scene, "hang")
    match said:
        case "retry":
            assert text_of(result) == f"hang: {NOTE}"
        case "done":
            assert (result.is_error, text_of(result)) == (False, "I looked: it is there")
        case _:
            assert status_of(result) == "skipped"
    assert scene.count("hang") == times


@pytest.mark.parametrize(
    ("database", "upstream", "point", "times"),
    [("sqlite", "files", "effect.intended", 0), ("postgres", "web", "effect.returned", 1)],
)
async def test_a_crash_before_and_after_the_call_is_in_doubt_and_the_yes_is_used_up(
    start: Start, database: str, upstream: str, point: str, times: int
) -> None:
    scene = start(database, upstream)
    scene.gateway.server.stop()
    scene.gateway.server.start(failpoints=f"{point}=kill")
    async with scene.host.connected() as client, underway(client.call_tool("write_note", {"text": NOTE})) as calling:
        await scene.host.respond(YES)
        await asyncio.to_thread(scene.gateway.server.wait_until_dead)
        calling.cancel()
    scene.gateway.server.start()
    doubt = await scene.doubt()
    scene.host.host.person.respond(doubt["request_id"], {"decision": "skip"})
    assert status_of(await call(scene, "write_note")) == "skipped"
    assert scene.count("write_note") == times


@pytest.mark.parametrize(("database", "upstream"), [("sqlite", "web"), ("postgres", "files")])
async def test_an_upstream_that_is_lost_after_the_call_was_sent_is_asked_about(
    start: Start, database: str, upstream: str
) -> None:
    scene = start(database, upstream)
    calling = asyncio.create_task(call(scene, "die"))
    await scene.host.respond(YES)
    await scene.did("die")
    doubt = await scene.doubt()
    assert not calling.done()
    scene.host.host.person.respond(doubt["request_id"], {"decision": "done", "reason": "it is done"})
    assert text_of(await calling) == "it is done"
    assert scene.count("die") == 1


async def test_an_idempotent_call_is_sent_again_by_itself(start: Start) -> None:
    scene = start("sqlite", "files")
    assert text_of(await call(scene, "die_once")) == f"die_once: {NOTE}"
    assert scene.count("die_once") == 2
    assert scene.host.host.pending() == []


async def test_a_gateway_beside_its_host_that_dies_leaves_a_question_and_no_second_call(start: Start) -> None:
    scene = start("sqlite", "files")
    wrapped = Wrapped(scene.host.host, scene.gateway.witness)
    async with wrapped.connected() as client, underway(client.call_tool("die", {"text": NOTE})) as calling:
        await scene.host.respond(YES)
        result = await calling
    assert status_of(result) == "in_doubt"
    doubt = await scene.doubt()
    assert scene.count("die") == 1
    scene.host.host.person.respond(doubt["request_id"], {"decision": "done", "reason": "it is there"})
    async with wrapped.connected() as client:
        assert text_of(await client.call_tool("die", {"text": NOTE})) == "it is there"
    assert scene.count("die") == 1

    # The same where it is the gateway that is killed, and the server behind it goes on.
    with wrapped_process(wrapped) as process:
        params = {"name": "hang", "arguments": {"text": NOTE}}
        say(process, json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}))
        await scene.host.respond(YES)
        await scene.did("hang")
        process.kill()
        scene.gateway.witness.release(NOTE)
    doubt = await scene.doubt()
    async with wrapped.connected() as client, underway(client.call_tool("hang", {"text": NOTE})) as calling:
        scene.host.host.person.respond(doubt["request_id"], {"decision": "done", "reason": "it is there, too"})
        assert text_of(await calling) == "it is there, too"
    assert scene.count("hang") == 1


async def test_what_is_asked_beside_a_host_outlives_the_server(start: Start) -> None:
    scene = start("sqlite", "files")
    wrapped = Wrapped(scene.host.host, scene.gateway.witness)
    async with wrapped.connected() as client, underway(client.call_tool("write_note", {"text": NOTE})) as calling:
        [asked] = await scene.host.host.asked()
        scene.gateway.server.kill()
        scene.gateway.server.start()
        scene.host.host.person.respond(asked["request_id"], YES)
        assert text_of(await calling) == f"write_note: {NOTE}"
    assert scene.count("write_note") == 1
