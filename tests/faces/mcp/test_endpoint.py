"""`/mcp` as HTTP sees it: who comes in, what is refused, and what goes over the wire as it is."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.version import LATEST_MODERN_VERSION

from tests.support.hitl import HitlClient
from tests.support.mcp import Host, told
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for

ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
LIST: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


def post(host: Host, body: Any = None, headers: Mapping[str, str] | None = None) -> httpx.Response:
    """As a host of the older era sends it."""
    sent = {**ACCEPT, "authorization": f"Bearer {host.key}", "mcp-protocol-version": "2025-06-18", **(headers or {})}
    return httpx.post(
        f"{host.server.url}/mcp", content=json.dumps(LIST if body is None else body), headers=sent, timeout=60
    )


def call(host: Host, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of it, as a host of the present era calls."""
    meta: dict[str, Any] = {PROTOCOL_VERSION_META_KEY: LATEST_MODERN_VERSION, CLIENT_CAPABILITIES_META_KEY: {}}
    body: dict[str, Any] = {
        **LIST,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments, "_meta": meta},
    }
    headers = {"mcp-protocol-version": LATEST_MODERN_VERSION, "mcp-method": "tools/call", "mcp-name": tool}
    reply = post(host, body, headers)
    [said] = [line for line in reply.text.splitlines() if '"result"' in line]
    return json.loads(said.removeprefix("data: "))["result"]


def told_by(host: Host, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return call(host, tool, arguments)["structuredContent"]


@pytest.mark.parametrize("authorization", ["", "Bearer nonsense", f"Bearer ms_sk_{'0' * 64}", "Basic YTpi"])
def test_who_brings_no_key_that_holds_is_told_how_and_no_sign_in_is_offered(host: Host, authorization: str) -> None:
    reply = post(host, headers={"authorization": authorization})
    assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
    for path in ("oauth-protected-resource", "oauth-protected-resource/mcp", "oauth-authorization-server"):
        assert httpx.get(f"{host.server.url}/.well-known/{path}", timeout=60).status_code == 404


def test_a_revoked_key_no_longer_comes_in(host: Host, person: Any) -> None:
    assert post(host).status_code == 200
    [key] = [one for one in person.http.get("/api/v1/keys").json()["keys"] if one["name"] == host.agent]
    person.http.delete(f"/api/v1/keys/{key['id']}").raise_for_status()
    assert post(host).status_code == 401


@pytest.mark.parametrize("name", ["host", "origin"])
def test_another_host_or_origin_than_the_operator_allows_is_refused(host: Host, name: str) -> None:
    strange = {"host": "evil.example", "origin": "https://evil.example"}[name]
    assert post(host, headers={name: strange}).status_code == 403


def test_a_host_and_an_origin_that_the_operator_allows_come_in(tmp_path: Path) -> None:
    names = {"INTERLOCK_ALLOWED_HOSTS": "inbox.example", "INTERLOCK_ALLOWED_ORIGINS": "https://tools.example"}
    with ServerProcess(tmp_path / "data", auth="none", environment=names) as server:
        headers = {**ACCEPT, "host": "inbox.example", "origin": "https://tools.example"}
        assert httpx.post(f"{server.url}/mcp", json=LIST, headers=headers, timeout=60).status_code == 200


def test_a_body_has_a_mebibyte_at_the_most(host: Host) -> None:
    body = {**LIST, "params": {"cursor": "x" * 1024 * 1024}}
    assert post(host, body).status_code == 413


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_are_no_sessions_to_listen_to_or_to_end(host: Host, method: str) -> None:
    headers = {"accept": "text/event-stream", "authorization": f"Bearer {host.key}"}
    assert httpx.request(method, f"{host.server.url}/mcp", headers=headers, timeout=60).status_code == 405


def test_half_a_character_and_what_is_no_number_reach_the_person_and_come_back(host: Host) -> None:
    args = {"text": "a\ud800b", "n": float("inf")}
    asked = told_by(host, "request_approval", {"action": "send", "args": args, "wait_seconds": 0})
    host.person.respond(asked["request_id"], {"granted": True})
    outcome = told_by(host, "wait", {"request_id": asked["request_id"]})
    assert (outcome["approved"], outcome["args"]) == (True, {"text": "a?b", "n": "Infinity"})


def test_what_a_permission_prompt_gives_back_is_what_it_asked(host: Host) -> None:
    given = {"command": "rm a\ud800 ü", "count": [1, 2.5, None, True]}
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(call, host, "permission_prompt", {"tool_name": "Bash", "input": given})
        [request] = wait_for(host.pending, lambda found: len(found) == 1)
        host.person.respond(request["request_id"], {"granted": True})
        [said] = held.result(60)["content"]
    assert json.loads(said["text"]) == {"behavior": "allow", "updatedInput": given}


def test_a_tool_that_there_is_not_is_an_error_of_the_protocol(host: Host) -> None:
    reply = post(host, {**LIST, "method": "tools/call", "params": {"name": "answer", "arguments": {}}})
    assert "there is no tool 'answer'" in reply.text


async def test_with_a_persons_credential_that_person_is_asked(host: Host, person: Any) -> None:
    herself = Host(host.server, person, "external", person.new_key("own")["key"])
    async with herself.connected() as client:
        asked = told(await client.call_tool("ask_person", {"question": "Which?", "wait_seconds": 0}))
    assert asked["request_id"] in [request["request_id"] for request in herself.pending()]


def test_without_accounts_the_local_user_is_asked(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data", auth="none") as server:
        anybody = Host(server, HitlClient(server.url, "none"), "external", "none")
        asked = told_by(anybody, "ask_person", {"question": "Which?", "wait_seconds": 0})
        assert [request["owner"] for request in anybody.pending()] == ["local"]
        assert asked["status"] == "pending"
        anybody.person.http.close()
