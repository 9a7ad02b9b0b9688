"""`interlock mcp`: what a host that starts programs has of the server, over standard input and output."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import Implementation

from tests.client.network import Network
from tests.support.hitl import HitlClient
from tests.support.mcp import SECONDS, Host, Progress, code_of, text_of, told, underway
from tests.support.server import ServerProcess

PROGRAM = str(Path(sys.executable).with_name("interlock"))
APPROVAL: dict[str, Any] = {"action": "deploy", "args": {"to": "production"}}


def environment(home: Path, url: str, key: str = "") -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "INTERLOCK_URL": url, "INTERLOCK_KEY": key}


@asynccontextmanager
async def bridged(
    host: Host, home: Path, mode: str, *arguments: str, url: str = "", name: str = "test"
) -> AsyncGenerator[Client]:
    given = StdioServerParameters(
        command=PROGRAM, args=["mcp", *arguments], env=environment(home, url or host.server.url, host.key)
    )
    info = Implementation(name=name, version="1.0")
    async with Client(stdio_client(given), mode=mode, client_info=info) as client:
        yield client


async def test_a_person_is_asked_and_the_answer_comes_back(host: Host, mode: str, tmp_path: Path) -> None:
    progress = Progress()
    async with bridged(host, tmp_path, mode) as client:
        assert "wait" in [tool.name for tool in (await client.list_tools()).tools]
        call = client.call_tool("request_approval", APPROVAL, progress_callback=progress)
        async with underway(call) as call:
            await progress.heard()
            host.person.respond(await host.ask_id(), {"granted": True, "args": {"to": "später"}})
            outcome = told(await call)
    assert (outcome["approved"], outcome["args"]) == (True, {"to": "später"})


async def test_calls_at_once_do_not_wait_for_each_other(host: Host, mode: str, tmp_path: Path) -> None:
    async with (
        bridged(host, tmp_path, mode) as client,
        underway(client.call_tool("request_approval", APPROVAL)) as first,
        underway(client.call_tool("request_approval", APPROVAL)) as second,
    ):
        one, other = await host.asked(2)
        host.person.respond(other["request_id"], {"granted": False})
        host.person.respond(one["request_id"], {"granted": True})
        approved = [told(await call)["approved"] for call in (first, second)]
    assert sorted(approved) == [False, True]


async def test_hold_and_conversation_are_the_hosts_to_set(host: Host, mode: str, tmp_path: Path) -> None:
    async with bridged(host, tmp_path, mode, "--hold", "0", "--conversation", "release") as client:
        first = told(await client.call_tool("ask_person", {"question": "Which?"}))
    async with host.connected(query="?conversation=release&hold=0") as client:
        second = told(await client.call_tool("ask_person", {"question": "When?"}))
    assert (first["status"], second["status"]) == ("pending", "pending")
    assert len({request["conversation_id"] for request in host.pending()}) == 1


async def test_a_call_that_the_host_takes_back_is_not_waited_for(host: Host, mode: str, tmp_path: Path) -> None:
    async with bridged(host, tmp_path, mode) as client:
        async with underway(client.call_tool("request_approval", APPROVAL)):
            request_id = await host.ask_id()
        await host.orphaned()
        async with underway(client.call_tool("request_approval", APPROVAL)) as call:
            host.person.respond(request_id, {"granted": True})
            assert told(await call)["request_id"] == request_id


async def test_a_server_killed_while_it_holds_is_asked_again_and_not_the_person(mode: str, tmp_path: Path) -> None:
    progress = Progress()
    with (
        ServerProcess(tmp_path / "data", auth="none") as server,
        Network(server.url) as network,
        HitlClient(network.url, "") as anybody,
    ):
        anybody.http.headers.pop("authorization")
        host = Host(server, anybody, "external", "")
        async with bridged(host, tmp_path, mode, url=network.url, name="claude-code") as client:
            call = client.call_tool("request_approval", APPROVAL, progress_callback=progress)
            async with underway(call) as call:
                await progress.heard()
                request_id = await host.ask_id()
                server.kill()
                server.start()
                network.target = server.url
                await progress.heard(2)
                host.person.respond(request_id, {"granted": True})
                outcome = told(await call)
    assert (outcome["request_id"], outcome["approved"]) == (request_id, True)
    assert progress.values == sorted(set(progress.values))


async def test_a_refusal_of_the_server_is_passed_on(host: Host, mode: str, tmp_path: Path) -> None:
    async with bridged(host, tmp_path, mode) as client:
        assert code_of(await client.call_tool("ask_person", {"choices": []})) == "invalid_input"
        large = await client.call_tool("ask_person", {"question": "é" * 200_000, "wait_seconds": 0})
        assert told(large)["status"] == "pending"
        with pytest.raises(MCPError, match="413"):
            await client.call_tool("ask_person", {"question": "x" * 2 * 1024 * 1024})


@contextmanager
def started(home: Path, url: str, key: str = "") -> Generator[subprocess.Popen[bytes]]:
    pipe = subprocess.PIPE
    process = subprocess.Popen([PROGRAM, "mcp"], stdin=pipe, stdout=pipe, stderr=pipe, env=environment(home, url, key))
    try:
        yield process
    finally:
        process.kill()
        process.wait(SECONDS)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def say(process: subprocess.Popen[bytes], line: bytes) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + b"\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


LIST = b'{"jsonrpc": "2.0", "id": 7, "method": "tools/list"}'


@pytest.mark.parametrize(("line", "code"), [(b"{", -32700), (b"[" * 100_000, -32700), (b"[]", -32600), (b"7", -32600)])
def test_what_is_no_message_is_an_error_and_the_next_one_is_served(
    host: Host, tmp_path: Path, line: bytes, code: int
) -> None:
    with started(tmp_path, host.server.url, host.key) as process:
        assert say(process, line)["error"]["code"] == code
        assert "tools" in say(process, LIST)["result"]


def test_a_key_that_is_not_taken_is_said(host: Host, tmp_path: Path) -> None:
    with started(tmp_path, host.server.url, "nonsense") as process:
        assert "INTERLOCK_KEY" in say(process, LIST)["error"]["message"]


def test_a_server_that_cannot_be_reached_is_said(tmp_path: Path) -> None:
    with started(tmp_path, "http://127.0.0.1:9") as process:
        assert "http://127.0.0.1:9 cannot be reached" in say(process, LIST)["error"]["message"]


def test_an_address_that_is_none_is_refused_at_the_start(tmp_path: Path) -> None:
    given = environment(tmp_path, "ftp://nowhere")
    ended = subprocess.run([PROGRAM, "mcp"], env=given, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"INTERLOCK_URL" in ended.stderr


def test_it_ends_when_its_host_closes_its_side(host: Host, tmp_path: Path) -> None:
    with started(tmp_path, host.server.url, host.key) as process:
        say(process, LIST)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(SECONDS) == 0


def test_it_needs_none_of_the_packages_of_the_other_commands(tmp_path: Path) -> None:
    loaded = "import sys; from interlock_client.cli import entry; sys.argv[1:] = ['mcp', '--help']\n"
    loaded += "try:\n entry.run()\nexcept SystemExit:\n"
    loaded += " print([name for name in ('typer', 'httpx', 'pydantic') if name in sys.modules])"
    given = environment(tmp_path, "")
    ended = subprocess.run([sys.executable, "-c", loaded], env=given, capture_output=True, text=True, timeout=SECONDS)
    assert ended.stdout.splitlines()[-1] == "[]"


async def test_text_of_a_pending_result_survives(host: Host, tmp_path: Path) -> None:
    async with bridged(host, tmp_path, "auto") as client:
        result = await client.call_tool("ask_person", {"question": "a\u2028b\u202ec\n", "wait_seconds": 0})
    assert "Do not go on" in text_of(result)
    assert told(result)["message"] == text_of(result)
