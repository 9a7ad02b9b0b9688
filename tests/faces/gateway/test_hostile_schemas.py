"""What a server behind says of its arguments is held against a person's edit, and costs the server nothing."""

import socket
from typing import Any

import httpx
import pytest

from tests.support.gateway import GatewayHost
from tests.support.waiting import wait_for


@pytest.mark.parametrize("upstream", ["odd"], indirect=True)
def test_an_odd_list_of_tools_is_no_failure_of_the_server(host: GatewayHost, note: str) -> None:
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "other", "arguments": {"text": note}}}
    headers = {"authorization": f"Bearer {host.host.key}", "accept": "application/json, text/event-stream"}
    url = f"{host.host.server.url}/mcp/g/{host.upstream}"
    replied = httpx.post(url, json=call, headers=headers, timeout=60).raise_for_status().json()
    assert "there are write_note" in replied["result"]["content"][0]["text"]
    assert host.host.pending() == []


@pytest.mark.parametrize("upstream", ["files"], indirect=True)
def test_no_schema_keeps_the_server_busy_calls_elsewhere_or_fails_a_call(host: GatewayHost, note: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        elsewhere.setblocking(False)
        address = f"http://127.0.0.1:{elsewhere.getsockname()[1]}/schema.json"
        hostile: list[Any] = [
            {"properties": {"text": {"pattern": "^(a+)+$"}}},
            {"properties": {"text": {"$ref": address}}},
            {"properties": {"text": {"$ref": "#/$defs/nowhere"}}, "patternProperties": {"^(a+)+$": {}}},
        ]
        for number, schema in enumerate(hostile):
            call = {
                "upstream": note,
                "tool": "write_note",
                "args": {"text": "a"},
                "definition": {"name": "write_note", "inputSchema": {"type": "object", **schema}},
                "key": f"{note}-{number}",
                "holder": note,
                "wait_seconds": 0,
            }
            edited = {"text": "a" * 40 + "!", "a" * 40 + "!": 1}
            assert _post(host, "", call)["outcome"] == "pending"
            [asked] = wait_for(host.host.pending, bool)
            host.host.person.respond(asked["request_id"], {"granted": True, "args": edited})
            admission = _post(host, "", call)
            assert (admission["outcome"], admission["args"]) == ("run", edited)
            _post(host, f"/{admission['call_id']}", {"holder": note, "outcome": "done"})
        with pytest.raises(BlockingIOError):
            elsewhere.accept()


def _post(host: GatewayHost, path: str, body: Any) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {host.host.key}"}
    reply = httpx.post(f"{host.host.server.url}/mcp/calls{path}", json=body, headers=headers, timeout=60)
    return reply.raise_for_status().json()
