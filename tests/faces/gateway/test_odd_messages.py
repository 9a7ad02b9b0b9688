"""What no host should say to a gateway: refused in words, passed on to nobody, and what comes after it goes on."""

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from interlock_client.gateway.reading import LONGEST_LINE
from tests.support.gateway import Gateway, GatewayHost, Wrapped
from tests.support.mcp import text_of, underway
from tests.support.waiting import wait_for

SECONDS = 60.0
PING = {"jsonrpc": "2.0", "id": "ping-1", "method": "ping"}


def call(note: str, **more: Any) -> dict[str, Any]:
    params = {"name": "read_note", "arguments": {"text": note}}
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params, **more}


def odd_messages(note: str) -> dict[str, str]:
    """By what is odd in them; each would call a tool which passes, if it were taken."""
    good = json.dumps(call(note))
    without_id = {name: value for name, value in call(note).items() if name != "id"}
    in_capitals = {("Method" if name == "method" else name): value for name, value in call(note).items()}
    return {
        "a batch": f"[{good}]",
        "an empty batch": "[]",
        "a text": '"tools/call"',
        "nothing": "null",
        "half": good[:-1],
        "no JSON": good.replace('"', "'"),
        "no id": json.dumps(without_id),
        "id null": json.dumps(call(note, id=None)),
        "id true": json.dumps(call(note, id=True)),
        "id a list": json.dumps(call(note, id=[7])),
        "id an object": json.dumps(call(note, id={"a": 1})),
        "id a fraction": json.dumps(call(note, id=7.5)),
        "id NaN": json.dumps(call(note, id=float("nan"))),
        "id too large": json.dumps(call(note, id=2**53)),
        "id of 5000 digits": good.replace('"id": 7', f'"id": {"7" * 5000}'),
        "method twice": good.replace('"method"', '"method": "ping", "method"'),
        "method twice, the call first": good[:-1] + ', "method": "ping"}',
        "method in capitals": json.dumps(in_capitals),
        "method in capitals too": json.dumps(in_capitals | {"method": "ping"}),
        "method a list": json.dumps(call(note, method=["tools/call"])),
        "method in other letters": json.dumps(call(note, method="Tools/Call ")),
        "method in wide letters": json.dumps(call(note, method="\uff54ools/call")),
        "name in capitals too": good.replace('"name": "read_note"', '"name": "read_note", "Name": "write_note"'),
        "name in other letters": good.replace('"arguments"', '"argument\u017f": {"text": "b"}, "arguments"'),
        "params a list": json.dumps(call(note, params=["read_note", {"text": note}])),
        "params a text": json.dumps(call(note, params="read_note")),
        "too deep": good.replace('"text":', f'"deep": {"[" * 100_000}{"]" * 100_000}, "text":'),
        "an endless number": good.replace('"text":', '"much": 1e999, "text":'),
    }


ODD = list(odd_messages(""))
ODD_CALLS: dict[str, Any] = {
    "no params": None,
    "no name": {"arguments": {}},
    "a name that is a number": {"name": 7, "arguments": {}},
    "arguments as a list": {"name": "read_note", "arguments": ["x"]},
    "arguments as a text": {"name": "read_note", "arguments": "x"},
    "arguments that are false": {"name": "read_note", "arguments": False},
    "a state of nobody": {"name": "write_note", "arguments": {}, "requestState": 7},
    "a state that is no base64": {"name": "write_note", "arguments": {}, "requestState": "\u00e9"},
    "a state that is another's": {"name": "write_note", "arguments": {}, "requestState": "WzEsMiwzXQ=="},
    "meta as a list": {"name": "broken", "arguments": {}, "_meta": ["x"]},
    "a tool that is not there": {"name": "\ud800", "arguments": {}, "requestState": []},
}


def post(host: GatewayHost, body: str | bytes, **headers: str) -> httpx.Response:
    url = f"{host.host.server.url}/mcp/g/{host.upstream}?hold=5"
    given = {"authorization": f"Bearer {host.host.key}", "content-type": "application/json"}
    given |= {"accept": "application/json, text/event-stream", **headers}
    return httpx.post(url, content=body, headers=given, timeout=SECONDS)


@pytest.mark.parametrize("what", ODD)
def test_an_odd_message_over_http_is_refused_and_nobody_behind_hears_it(
    gateway: Gateway, host: GatewayHost, note: str, what: str
) -> None:
    refused = post(host, odd_messages(note)[what])
    assert refused.status_code == 400, refused.text
    assert refused.json()
    assert gateway.witness.count(f"read_note {note}") == 0
    assert host.host.pending() == []


@pytest.mark.parametrize("what", ODD_CALLS)
def test_an_odd_call_over_http_is_answered_and_calls_nothing(host: GatewayHost, what: str) -> None:
    message = {"jsonrpc": "2.0", "id": "odd", "method": "tools/call", "params": ODD_CALLS[what]}
    answered = post(host, json.dumps({name: value for name, value in message.items() if value is not None}))
    assert answered.status_code == 200, answered.text
    said = answered.json()
    assert said["id"] == "odd"
    assert "error" in said or said["result"]["isError"] is True
    assert host.host.pending() == []


@pytest.mark.parametrize(
    "headers", [{"mcp-method": "tools/list"}, {"mcp-name": "write_note"}, {"mcp-name": "=?base64?x?="}]
)
def test_headers_that_say_something_else_are_refused(
    gateway: Gateway, host: GatewayHost, note: str, headers: dict[str, str]
) -> None:
    assert post(host, json.dumps(call(note)), **headers).status_code == 400
    assert gateway.witness.count(f"read_note {note}") == 0


@pytest.mark.parametrize("name", ["mcp-method", "mcp-name"])
@pytest.mark.parametrize("upstream", ["web"], indirect=True)
def test_a_header_that_stands_twice_is_refused(gateway: Gateway, host: GatewayHost, note: str, name: str) -> None:
    said = {"mcp-method": ["tools/call", "tools/list"], "mcp-name": ["read_note", "write_note"]}[name]
    refused = httpx.post(
        f"{host.host.server.url}/mcp/g/{host.upstream}",
        content=json.dumps(call(note)),
        headers=[("authorization", f"Bearer {host.host.key}"), *((name, one) for one in said)],
        timeout=SECONDS,
    )
    assert (refused.status_code, "more than once" in refused.text) == (400, True), refused.text
    assert gateway.witness.count(f"read_note {note}") == 0


@pytest.mark.parametrize("upstream", ["web"], indirect=True)
@pytest.mark.parametrize("approved", ["shown", "edited", None])
async def test_an_argument_in_a_header_is_the_one_that_was_approved(
    gateway: Gateway, host: GatewayHost, note: str, mode: str, approved: str | None
) -> None:
    async def claim(request: httpx.Request) -> None:
        request.headers["mcp-param-folder"] = "elsewhere"
        request.headers["mcp-param-other"] = "elsewhere"

    host.before_sending.append(claim)
    args = {"text": note, "folder": approved}
    edit = {"args": {name: value for name, value in args.items() if value is not None}} if approved != "shown" else {}
    async with (
        host.connected(mode) as client,
        underway(client.call_tool("file_note", {"text": note, "folder": "shown"})) as calling,
    ):
        await host.respond({"granted": True, **edit})
        assert text_of(await calling) == f"file_note: {note}"
    assert gateway.witness.count(f"file_note {note} in {approved}") == 1


@contextmanager
def wrapped_process(wrapped: Wrapped) -> Generator[subprocess.Popen[str]]:
    given = wrapped.parameters
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [given.command, *given.args], env=given.env, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    )
    begins = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "odd", "version": "1"}}
    try:
        say(process, json.dumps({"jsonrpc": "2.0", "id": "begin", "method": "initialize", "params": begins}))
        assert "result" in heard(process, "begin")
        say(process, json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        yield process
    finally:
        process.kill()
        process.communicate(timeout=SECONDS)


def say(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()


def heard(process: subprocess.Popen[str], message_id: Any) -> dict[str, Any]:
    assert process.stdout is not None
    for line in process.stdout:
        message = json.loads(line)
        if message.get("id", "none") == message_id and "method" not in message:
            return message
    raise AssertionError("the gateway ended")


@pytest.fixture
def wrapped(gateway: Gateway, host: GatewayHost) -> Wrapped:
    return Wrapped(host.host, gateway.witness)


@pytest.mark.parametrize("upstream", ["files"], indirect=True)
def test_odd_messages_to_a_wrapper_are_refused_and_nobody_behind_hears_them(
    gateway: Gateway, host: GatewayHost, wrapped: Wrapped, note: str
) -> None:
    with wrapped_process(wrapped) as process:
        for what, line in odd_messages(note).items():
            say(process, line)
            message_id = 7 if what in ("method a list", "params a list", "params a text") else None
            message_id = 7 if "capitals" in what or "letters" in what else message_id
            refused = heard(process, message_id)
            assert refused["error"]["code"] in (-32700, -32600), what
            assert refused["error"]["message"], what
        say(process, "")
        say(process, json.dumps({"jsonrpc": "2.0", "method": "notifications/of-nobody", "params": {}}))
        for number, (what, params) in enumerate(ODD_CALLS.items()):
            message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            say(process, json.dumps({name: value for name, value in message.items() if value is not None}))
            said = heard(process, number)
            assert "error" in said or said["result"]["isError"] is True, what
        say(process, json.dumps(PING))
        assert "result" in heard(process, PING["id"])
        assert gateway.witness.count(f"read_note {note}") == 0
        say(process, json.dumps(call(note)))
        assert heard(process, 7)["result"]["content"][0]["text"] == f"read_note: {note}"
    assert host.host.pending() == []


@pytest.mark.parametrize("upstream", ["files"], indirect=True)
def test_a_call_inside_of_another_message_is_no_line_of_its_own(
    gateway: Gateway, host: GatewayHost, wrapped: Wrapped, note: str
) -> None:
    """Servers that read lines as Python does end one at a carriage return, which JSON takes for a blank."""
    hidden = json.dumps(call(note, params={"name": "write_note", "arguments": {"text": note}}))
    with wrapped_process(wrapped) as process:
        say(process, f'{{"jsonrpc": "2.0", "method": "notifications/of-nobody", "params": {{"a":\r{hidden}\r}}}}')
        assert "carriage return" in heard(process, None)["error"]["message"]
        say(process, json.dumps(PING) + "\r")
        assert "result" in heard(process, PING["id"])
    assert gateway.witness.count(f"write_note {note}") == 0


@pytest.mark.parametrize("upstream", ["files"], indirect=True)
def test_a_line_that_is_too_long_is_refused_with_its_rest_and_what_follows_is_heard(
    gateway: Gateway, host: GatewayHost, wrapped: Wrapped, note: str
) -> None:
    with wrapped_process(wrapped) as process:
        say(process, " " * LONGEST_LINE + json.dumps(call(note)))
        assert f"{LONGEST_LINE} bytes" in heard(process, None)["error"]["message"]
        say(process, json.dumps(PING))
        assert "result" in heard(process, PING["id"])
    assert gateway.witness.count(f"read_note {note}") == 0


def test_a_server_whose_line_is_too_long_is_ended_with_a_sentence() -> None:
    writes = f"print('x' * {LONGEST_LINE + 1}, flush=True); input()"
    command = [str(Path(sys.executable).with_name("interlock")), "mcp-gateway", "--", sys.executable, "-c", writes]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.wait(SECONDS) != 0
        assert process.stderr is not None
        assert f"wrote a line of more than {LONGEST_LINE} bytes, and was ended" in process.stderr.read()


@pytest.mark.parametrize("upstream", ["files"], indirect=True)
def test_an_id_that_is_in_use_is_refused_and_the_first_call_goes_on(
    gateway: Gateway, host: GatewayHost, wrapped: Wrapped, note: str
) -> None:
    asks = call(note, params={"name": "write_note", "arguments": {"text": note}})
    with wrapped_process(wrapped) as process:
        say(process, json.dumps(asks))
        [asked] = wait_for(host.host.pending, bool, SECONDS)
        say(process, json.dumps(call(f"{note}-second")))
        assert "under way" in heard(process, 7)["error"]["message"]
        # Its answer would be taken for that of the call.
        say(process, json.dumps({**PING, "id": 7}))
        assert "under way" in heard(process, 7)["error"]["message"]
        host.host.person.respond(asked["request_id"], {"granted": True})
        assert heard(process, 7)["result"]["content"][0]["text"] == f"write_note: {note}"
        say(process, json.dumps(call(note)))
        assert heard(process, 7)["result"]["content"][0]["text"] == f"read_note: {note}"
    assert gateway.witness.count(f"write_note {note}") == 1
    assert gateway.witness.count(f"read_note {note}-second") == 0


async def test_an_id_that_two_hosts_have_at_once_is_two_calls(gateway: Gateway, host: GatewayHost, note: str) -> None:
    # With one key, and each counts by itself.
    async with host.connected() as one, host.connected() as other:
        first = underway(one.call_tool("write_note", {"text": f"{note}-1"}))
        async with first as call, underway(other.call_tool("write_note", {"text": f"{note}-2"})) as second:
            for asked in await host.host.asked(2):
                host.host.person.respond(asked["request_id"], {"granted": True})
            assert text_of(await call) == f"write_note: {note}-1"
            assert text_of(await second) == f"write_note: {note}-2"
    assert [gateway.witness.count(f"write_note {note}-{number}") for number in (1, 2)] == [1, 1]


def test_a_notification_that_nobody_knows_is_passed_on(host: GatewayHost) -> None:
    unknown = post(host, json.dumps({"jsonrpc": "2.0", "method": "notifications/of-nobody", "params": {"a": [1]}}))
    assert unknown.status_code < 500
