"""What a server behind says of its arguments is held against a person's edit, and costs the server nothing."""

import json
import socket
from typing import Any

import httpx
import pytest

from tests.faces.gateway.test_odd_messages import call, post
from tests.support.gateway import GatewayHost
from tests.support.waiting import wait_for


@pytest.mark.parametrize("upstream", ["odd"], indirect=True)
def test_an_odd_list_of_tools_is_no_failure_of_the_server(host: GatewayHost, note: str) -> None:
    for name, told in (
        ("other", "there are two_notes, write_note"),
        ("two_notes", "more than once, each time otherwise"),
    ):
        replied = post(host, json.dumps(call("", params={"name": name, "arguments": {"text": note}})))
        assert told in replied.raise_for_status().json()["result"]["content"][0]["text"]
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
            asked_for = {
                "upstream": note,
                "tool": "write_note",
                "args": {"text": "a"},
                "definition": {"name": "write_note", "inputSchema": {"type": "object", **schema}},
                "key": f"{note}-{number}",
                "holder": note,
                "wait_seconds": 0,
            }
            edited = {"text": "a" * 40 + "!", "a" * 40 + "!": 1}
            assert _post(host, "", asked_for)["outcome"] == "pending"
            [asked] = wait_for(host.host.pending, bool)
            host.host.person.respond(asked["request_id"], {"granted": True, "args": edited})
            admission = _post(host, "", asked_for)
            assert (admission["outcome"], admission["args"]) == ("run", edited)
            _post(host, f"/{admission['call_id']}", {"holder": note, "outcome": "done"})
        with pytest.raises(BlockingIOError):
            elsewhere.accept()


def _post(host: GatewayHost, path: str, body: Any) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {host.host.key}"}
    reply = httpx.post(f"{host.host.server.url}/mcp/calls{path}", json=body, headers=headers, timeout=60)
    return reply.raise_for_status().json()
