"""A secret is given by a person on a page of the server: a host is told where, and a model never what."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext
from mcp_types import ElicitRequestParams, ElicitResult, InputRequiredResult

from tests.servers.postgres import PostgresServer
from tests.support.hitl import HitlClient, of
from tests.support.mcp import Host, Progress, code_of, text_of, told, underway
from tests.support.people import People
from tests.support.server import ServerProcess

ASKED: dict[str, Any] = {"names": ["GITHUB_TOKEN", "REGION"], "why": "to push the release"}
VALUES = {"GITHUB_TOKEN": "ghp_planted", "REGION": "eu-planted"}


class Page:
    """A host that can open pages: it notes where to, and says what its user said."""

    def __init__(self, action: str = "accept", then: Callable[[str], None] = lambda _: None) -> None:
        self._action = action
        self._then = then
        self.opened: list[dict[str, Any]] = []

    async def __call__(self, _context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        self.opened.append(params.model_dump(by_alias=True, exclude_none=True))
        await asyncio.to_thread(self._then, self.request_id)
        return ElicitResult.model_validate({"action": self._action})

    @property
    def request_id(self) -> str:
        return self.opened[0]["url"].rpartition("/")[2]


@asynccontextmanager
async def with_pages(host: Host, page: Page, mode: str = "auto") -> AsyncGenerator[Client]:
    async with host.connected(mode, elicitation_callback=page) as client:
        yield client


def give(host: Host, request_id: str) -> None:
    host.person.respond(request_id, {"values": VALUES})


def silent(told_text: str) -> bool:
    return "planted" not in told_text


async def test_a_secret_comes_back_as_names_and_a_handle_and_is_collected_once(host: Host, mode: str) -> None:
    async with host.connected(mode) as client, underway(client.call_tool("request_secret", ASKED)) as call:
        [request] = await host.asked()
        assert [field["description"] for field in request["request_data"]["fields"]] == [ASKED["why"]] * 2
        give(host, request["request_id"])
        outcome = told(result := await call)
    assert outcome["answer"] == {"names": ["GITHUB_TOKEN", "REGION"], "handle": request["request_id"]}
    assert silent(result.model_dump_json())
    with HitlClient(host.server.url, host.key) as program:
        path = f"/api/v1/agent/hitl/requests/{outcome['answer']['handle']}/collect"
        assert program.http.post(path).json()["data"]["values"] == VALUES
        assert program.http.post(path).status_code == 409


async def test_who_cannot_open_a_page_is_told_its_address(host: Host, mode: str) -> None:
    async with host.connected(mode) as client:
        result = await client.call_tool("request_secret", {**ASKED, "wait_seconds": 0})
        page = f"{host.server.url}/give/{told(result)['request_id']}"
        assert (told(result)["page"], page in text_of(result)) == (page, True)
        waited = await client.call_tool("wait", {"request_id": told(result)["request_id"], "wait_seconds": 0})
        assert told(waited)["page"] == page


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_whatever_a_host_says_of_the_page_the_request_stays_and_is_waited_for(host: Host, action: str) -> None:
    page, progress = Page(action), Progress()
    async with (
        with_pages(host, page) as client,
        underway(client.call_tool("request_secret", ASKED, progress_callback=progress)) as call,
    ):
        await progress.heard()
        [request] = host.pending()
        assert progress.messages == [f"Waiting for a person to answer at {page.opened[0]['url']}"]
        give(host, request["request_id"])
        outcome = told(result := await call)
    [opened] = page.opened
    assert (opened["mode"], opened["url"]) == ("url", f"{host.server.url}/give/{request['request_id']}")
    assert "GITHUB_TOKEN, REGION" in opened["message"]
    assert (outcome["request_id"], outcome["answer"]["names"]) == (request["request_id"], sorted(VALUES))
    assert silent(result.model_dump_json())


async def test_what_was_given_while_the_page_was_open_is_there_when_the_host_comes_back(host: Host) -> None:
    page = Page(then=lambda request_id: give(host, request_id))
    async with with_pages(host, page) as client:
        assert told(await client.call_tool("request_secret", ASKED))["status"] == "answered"


async def test_a_host_of_the_older_era_is_not_asked_to_open_pages(host: Host) -> None:
    page = Page()
    async with with_pages(host, page, "legacy") as client:
        outcome = told(await client.call_tool("request_secret", {**ASKED, "wait_seconds": 0}))
    assert (outcome["status"], page.opened) == ("pending", [])


@pytest.mark.parametrize("tool", ["ask_person", "decide", "request_approval"])
async def test_nothing_but_a_secret_goes_through_the_host(host: Host, tool: str) -> None:
    every: dict[str, dict[str, Any]] = {
        "ask_person": {"question": "Which?"},
        "decide": {"title": "Go on?", "options": ["yes", "no"]},
        "request_approval": {"action": "deploy", "args": {}},
    }
    page = Page()
    async with with_pages(host, page) as client:
        outcome = told(await client.call_tool(tool, {**every[tool], "wait_seconds": 0}))
    assert (outcome["status"], page.opened) == ("pending", [])


async def first_round(client: Client, arguments: dict[str, Any]) -> str:
    result = await client.session.call_tool("request_secret", arguments, allow_input_required=True)
    assert isinstance(result, InputRequiredResult)
    return result.request_state or ""


async def second_round(client: Client, arguments: dict[str, Any], state: str) -> Any:
    return await client.session.call_tool(
        "request_secret", arguments, request_state=state, input_responses={"page": ElicitResult(action="accept")}
    )


async def test_what_a_client_carries_is_sealed_and_bound_to_its_key_and_arguments(host: Host, person: Any) -> None:
    asked = {**ASKED, "wait_seconds": 0}
    name = f"{host.agent}-b"
    other = Host(host.server, person, name, person.new_key(name, "agent")["key"])
    async with with_pages(host, Page()) as client, with_pages(other, Page()) as stranger:
        state = await first_round(client, asked)
        [request] = host.pending()
        assert request["request_id"] not in state
        assert told(await second_round(client, asked, state))["request_id"] == request["request_id"]
        spoiled = state[:-4] + ("AAAA" if state[-4:] != "AAAA" else "BBBB")
        for who, arguments, carried in [
            (stranger, asked, state),
            (client, {**asked, "names": ["OTHER"]}, state),
            (client, asked, spoiled),
        ]:
            with pytest.raises(MCPError, match="requestState"):
                await second_round(who, arguments, carried)
    assert [one["request_id"] for one in host.pending()] == [request["request_id"]]
    assert other.pending() == []


async def test_another_server_on_the_database_opens_what_the_first_sealed(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    with postgres_server.fresh_database() as database:
        key = {"INTERLOCK_SECRET_KEY": "k" * 64}
        with (
            ServerProcess(tmp_path / "a", database=database, environment=key) as first,
            ServerProcess(tmp_path / "b", database=database, environment=key) as second,
            People(first.url) as people,
            of(people.named("alice")) as person,
        ):
            host = Host(first, person, "host", person.new_key("host", "agent")["key"])
            asked = {**ASKED, "wait_seconds": 0}
            async with with_pages(host, Page()) as client:
                state = await first_round(client, asked)
            async with with_pages(Host(second, person, "host", host.key), Page()) as client:
                outcome = told(await second_round(client, asked, state))
            assert [one["request_id"] for one in host.pending()] == [outcome["request_id"]]


async def test_bad_names_are_refused(host: Host) -> None:
    async with host.connected() as client:
        for names in ([], ["A", "A"], [""], [7]):
            assert code_of(await client.call_tool("request_secret", {"names": names})) == "invalid_input"
    assert host.pending() == []


def test_the_address_of_the_page_leads_to_the_request(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "index.html").write_text("<!doctype html>")
    built = {"INTERLOCK_WEB_DIR": str(tmp_path / "web")}
    with ServerProcess(tmp_path / "data", auth="none", environment=built) as server:
        reply = httpx.get(f"{server.url}/give/envv_0123456789abcdef", timeout=60)
        assert (reply.status_code, reply.headers["location"]) == (303, "/requests/envv_0123456789abcdef")
        odd = httpx.get(f"{server.url}/give/%2F%2Fevil.example", timeout=60)
        assert odd.headers.get("location", "/requests/").startswith("/requests/")
