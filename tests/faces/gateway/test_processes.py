"""Processes of an upstream with a command: one for each caller or session, ended when unused and started again."""

import json
import sys
from collections.abc import AsyncGenerator, Generator
from typing import Any

import pytest

from interlock.domain.gateway import ToolPolicy, UpstreamSettings
from interlock.ports.gateway import Exchange
from interlock.upstreams.stdio import SESSION, StdioUpstream
from tests.support.gateway import ROOT
from tests.support.witness import Witness

BEGIN: dict[str, Any] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
STARTED = "started"


@pytest.fixture
def witness() -> Generator[Witness]:
    with Witness() as process:
        yield process


@pytest.fixture
async def upstream(witness: Witness) -> AsyncGenerator[StdioUpstream]:
    settings = UpstreamSettings(
        "files",
        ToolPolicy(),
        command=[sys.executable, "-m", "tests.support.upstream", "stdio"],
        env={**witness.environment, "PYTHONPATH": str(ROOT), "UPSTREAM_STARTED": STARTED},
    )
    started = StdioUpstream(settings, {})
    yield started
    await started.close()


async def posted(
    upstream: StdioUpstream, method: str, caller: str = "ann", session: str = "", **params: Any
) -> tuple[dict[str, str], Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
    if method.startswith("notifications/"):
        del message["id"]
    headers = {SESSION: session} if session else {}
    async with upstream.open(Exchange("POST", caller, headers, message)) as reply:
        body = b"".join([chunk async for chunk in reply.body]).decode()
    events = [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: ")]
    return dict(reply.headers), events[-1] if events else reply.status


async def begun(upstream: StdioUpstream, caller: str = "ann") -> str:
    headers, answer = await posted(upstream, "initialize", caller, **BEGIN)
    assert answer["result"]["serverInfo"]["name"] == "notes"
    await posted(upstream, "notifications/initialized", caller, headers[SESSION])
    return headers[SESSION]


async def test_each_session_has_a_process_and_is_its_callers_alone(upstream: StdioUpstream, witness: Witness) -> None:
    first, second = await begun(upstream), await begun(upstream)
    assert witness.count(STARTED) == 2
    for session in (first, second):
        _, answer = await posted(upstream, "tools/list", session=session)
        assert answer["result"]["tools"]
    assert (await posted(upstream, "tools/list", "bob", first))[1] == 404
    assert witness.count(STARTED) == 2


async def test_a_session_goes_on_after_its_unused_process_was_ended(upstream: StdioUpstream, witness: Witness) -> None:
    session = await begun(upstream)
    await upstream.end_unused(3600)
    assert (await posted(upstream, "tools/list", session=session))[1]["result"]["tools"]
    assert witness.count(STARTED) == 1
    await upstream.end_unused(0)
    assert (await posted(upstream, "tools/list", session=session))[1]["result"]["tools"]
    assert witness.count(STARTED) == 2


async def test_callers_without_sessions_share_no_process(upstream: StdioUpstream, witness: Witness) -> None:
    envelope = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    for caller in ("ann", "ann", "bob"):
        _, answer = await posted(upstream, "tools/list", caller, _meta=envelope)
        assert answer["result"]["tools"]
    assert witness.count(STARTED) == 2


async def test_a_command_that_cannot_be_started_says_so() -> None:
    broken = StdioUpstream(UpstreamSettings("files", ToolPolicy(), command=["/nowhere/server"]), {})
    with pytest.raises(Exception, match="cannot be started"):
        await posted(broken, "tools/list")
    await broken.close()
