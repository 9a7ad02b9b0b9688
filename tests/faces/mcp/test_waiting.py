"""While a call is held: what its host hears, what ends the wait, and what is left of it when a server dies."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.servers.postgres import PostgresServer
from tests.support.hitl import HitlClient, of
from tests.support.mcp import SECONDS, Host, Progress, code_of, text_of, told, underway
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for

APPROVAL: dict[str, Any] = {"action": "deploy", "args": {"to": "production"}}
TOOL_USE = "claudecode/toolUseId"


async def test_a_host_hears_at_once_and_again_that_its_call_is_held(host: Host, mode: str) -> None:
    progress = Progress()
    async with host.connected(mode) as client:
        call = client.call_tool("request_approval", APPROVAL, progress_callback=progress)
        async with underway(call) as call:
            await progress.heard(2)
            host.person.respond(await host.ask_id(), {"granted": True})
            assert told(await call)["approved"] is True
    assert progress.values == sorted(set(progress.values))


async def test_a_wait_is_heard_of_too(host: Host, mode: str) -> None:
    progress = Progress()
    async with host.connected(mode) as client:
        asked = told(await client.call_tool("ask_person", {"question": "Which?", "wait_seconds": 0}))
        call = client.call_tool("wait", {"request_id": asked["request_id"]}, progress_callback=progress)
        async with underway(call) as call:
            await progress.heard()
            host.person.respond(asked["request_id"], {"answer": "this"})
            assert told(await call)["answer"] == "this"


async def test_the_address_says_how_long_and_where(host: Host, mode: str) -> None:
    async with host.connected(mode, query="?hold=0&conversation=release", client="claude-code") as client:
        first = told(await client.call_tool("ask_person", {"question": "Which?"}))
        second = told(await client.call_tool("ask_person", {"question": "When?", "conversation": "release"}))
    assert (first["status"], second["status"]) == ("pending", "pending")
    assert len({request["conversation_id"] for request in host.pending()}) == 1


async def test_an_address_that_says_no_number_is_refused(host: Host) -> None:
    async with host.connected(query="?hold=long") as client:
        assert code_of(await client.call_tool("ask_person", {"question": "Which?"})) == "invalid_input"
    assert host.pending() == []


async def test_what_a_key_asks_on_one_day_is_one_conversation(host: Host, person: Any) -> None:
    name = f"{host.agent}-b"
    other = Host(host.server, person, name, person.new_key(name, "agent")["key"])
    for one, question in [(host, "First?"), (host, "Second?"), (other, "First?")]:
        async with one.connected() as client:
            told(await client.call_tool("ask_person", {"question": question, "wait_seconds": 0}))
    own = {request["conversation_id"] for request in host.pending()}
    others = {request["conversation_id"] for request in other.pending()}
    assert (len(own), len(others), own & others) == (1, 1, set())


async def test_a_key_that_is_revoked_ends_the_wait_and_is_told_nothing_more(host: Host, person: Any, mode: str) -> None:
    progress = Progress()
    async with host.connected(mode) as client:
        call = client.call_tool("request_approval", APPROVAL, progress_callback=progress)
        async with underway(call) as call:
            await progress.heard()
            [request] = host.pending()
            [key] = [one for one in person.http.get("/api/v1/keys").json()["keys"] if one["name"] == host.agent]
            person.http.delete(f"/api/v1/keys/{key['id']}").raise_for_status()
            assert code_of(await call) == "not_authenticated"
    assert host.person.look(request["request_id"])["status"] in ("pending", "cancelled")


async def test_ids_that_are_no_texts_are_no_ids(host: Host, mode: str) -> None:
    strange: list[Any] = [{"a": 1}, ["x"], 7, "", "x" * 10_000]
    async with host.connected(mode) as client:
        for given in strange:
            asked = {"question": "Which?", "wait_seconds": 0}
            told(await client.call_tool("ask_person", asked, meta={TOOL_USE: given}))
    assert len(host.pending()) == len(strange)


@contextmanager
def alone(folder: Path, **settings: Any) -> Generator[tuple[ServerProcess, HitlClient]]:
    """A server without accounts, which a test may end."""
    with ServerProcess(folder, auth="none", **settings) as server, HitlClient(server.url, "") as anybody:
        anybody.http.headers.pop("authorization")
        yield server, anybody


async def test_a_server_that_stops_tells_the_id_of_what_it_holds(tmp_path: Path) -> None:
    with alone(tmp_path / "data") as (server, anybody):
        host = Host(server, anybody, "external", "none")
        progress = Progress()
        async with host.connected(client="claude-code") as client:
            # It looks at the tool's schema when it has a result, and the server is gone then.
            await client.list_tools()
            call = client.call_tool("request_approval", APPROVAL, progress_callback=progress)
            async with underway(call) as call:
                await progress.heard()
                request_id = await host.ask_id()
                await asyncio.to_thread(server.stop)
                result = await call
        assert (told(result)["status"], told(result)["request_id"]) == ("pending", request_id)
        assert "Do not go on as if it were a yes" in text_of(result)


async def killed_while_it_held(host: Host, seen_by: Host, mode: str, **more: Any) -> str:
    """Ask, and have the server die; the client says in many words that its connection is gone."""
    request_id = ""
    try:
        async with (
            host.connected(mode) as client,
            underway(client.call_tool("request_approval", APPROVAL, **more)) as call,
        ):
            request_id = await seen_by.ask_id()
            host.server.kill()
            await asyncio.wait([call], timeout=SECONDS)
    except* httpx2.TransportError:
        pass
    return request_id


async def test_the_same_ask_after_a_crash_has_the_same_request(tmp_path: Path, mode: str) -> None:
    """Without an id of its own: the server that starts again knows that nobody waits."""
    with alone(tmp_path / "data") as (server, anybody):
        host = Host(server, anybody, "external", "none")
        request_id = await killed_while_it_held(host, host, mode)
        server.start()
        with HitlClient(server.url, "") as person:
            person.http.headers.pop("authorization")
            again = Host(server, person, "external", "none")
            async with again.connected(mode) as client:
                outcome = told(await client.call_tool("request_approval", {**APPROVAL, "wait_seconds": 0}))
            assert outcome["request_id"] == request_id
            assert len(again.pending()) == 1


@pytest.mark.parametrize("answered", ["before", "after"])
async def test_another_server_takes_the_call_of_one_that_was_killed(
    postgres_server: PostgresServer, tmp_path: Path, answered: str
) -> None:
    keyed: dict[str, Any] = {"meta": {TOOL_USE: "toolu_1"}}
    with postgres_server.fresh_database() as database:
        secret = {"INTERLOCK_SECRET_KEY": "k" * 64}
        with (
            ServerProcess(tmp_path / "a", database=database, environment=secret) as first,
            ServerProcess(tmp_path / "b", database=database, environment=secret) as second,
            People(second.url) as people,
            of(people.named("alice")) as person,
        ):
            key = person.new_key("host", "agent")["key"]
            host, other = Host(first, person, "host", key), Host(second, person, "host", key)
            request_id = await killed_while_it_held(host, other, "auto", **keyed)
            if answered == "before":
                person.respond(request_id, {"granted": True})
            async with (
                other.connected() as client,
                underway(client.call_tool("request_approval", APPROVAL, **keyed)) as call,
            ):
                if answered == "after":
                    # The hold of the call that was killed is believed for a while: this one stands in its place.
                    await asyncio.to_thread(wait_for, other.held, any)
                    person.respond(request_id, {"granted": True})
                outcome = told(await call)
            assert (outcome["request_id"], outcome["approved"]) == (request_id, True)
            assert other.pending() == []


def test_the_log_warns_once_of_a_persons_own_credential(tmp_path: Path) -> None:
    with (
        ServerProcess(tmp_path / "data") as server,
        People(server.url) as people,
        of(people.named("alice")) as person,
    ):
        own, agents = person.new_key("own")["key"], person.new_key("host", "agent")["key"]
        for key in (agents, own, own):
            asyncio.run(_list(Host(server, person, "host", key)))
        assert server.log.read_text().count("uses /mcp with a credential of their own") == 1


async def _list(host: Host) -> None:
    async with host.connected() as client:
        await client.list_tools()
