"""A call of a tool through the gateway against the same call without it."""

import asyncio
import json
import statistics
import time
from pathlib import Path

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from bench.table import Row, Table
from tests.support.hitl import of
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.upstream import HttpUpstreamProcess
from tests.support.witness import Witness

ROUNDS = 3
"""The two sides take turns, so that whatever else the machine does falls on both."""


def against_direct(table: Table, folder: Path, calls: int) -> None:
    with Witness() as witness, HttpUpstreamProcess(witness.environment) as upstream:
        file = folder / "gateway.yaml"
        file.write_text(json.dumps({"notes": {"url": upstream.url, "tools": {"*": "pass"}}}))
        environment = {"INTERLOCK_MCP_GATEWAY": str(file), "INTERLOCK_RATE_LIMIT": "1000000"}
        with ServerProcess(folder / "data", environment=environment) as server, People(server.url) as people:
            with of(people.named("alice")) as person:
                key = person.new_key("bench", "agent")["key"]
            through, direct = f"{server.url}/mcp/g/notes", upstream.url
            times: dict[str, list[float]] = {through: [], direct: []}
            for _ in range(ROUNDS):
                for url in (direct, through):
                    times[url] += asyncio.run(_measure(url, key, calls // ROUNDS))
    ours, base = (statistics.median(times[url]) * 1000 for url in (through, direct))
    table.add(Row("gateway", "a call that passes, recorded, median", ours, base, "ms", "direct"))


async def _measure(url: str, key: str, calls: int) -> list[float]:
    async with (
        create_mcp_http_client({"authorization": f"Bearer {key}"}) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        await client.call_tool("read_note", {"text": "warm"})
        times: list[float] = []
        for number in range(calls):
            started = time.perf_counter()
            result = await client.call_tool("read_note", {"text": f"note-{number}"})
            times.append(time.perf_counter() - started)
            assert not result.is_error, result
    return times
