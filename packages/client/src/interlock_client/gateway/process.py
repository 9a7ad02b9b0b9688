"""`interlock mcp-gateway -- COMMAND`: the process between a host and the server that it would have started."""

import asyncio
import os
import signal
import sys
from contextlib import suppress

import httpx

from interlock_client.gateway.asking import Server
from interlock_client.gateway.reading import LONGEST_LINE, lines_of
from interlock_client.gateway.relay import Relay, Settings
from interlock_client.visible import one_line

END_SECONDS = 5.0


async def run(settings: Settings, url: str, key: str | None) -> int:
    """Until the host or the server ends; the server's exit code."""
    try:
        child = await asyncio.create_subprocess_exec(
            *settings.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # The host's entry is the server's, but for what is the gateway's own.
            env={name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")},
        )
    except OSError as error:
        _say(f"{one_line(settings.command[0])} cannot be started: {error.strerror}")
        return 127
    assert child.stdin is not None
    assert child.stdout is not None
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient(base_url=url, headers=headers) as http:
        relay = Relay(settings, Server(http), _write, child.stdin.write)
        hearing = asyncio.create_task(_host_to_child(relay, child.stdin))
        async for line in lines_of(child.stdout):
            if line is None:
                _say(f"the server wrote a line of more than {LONGEST_LINE} bytes, and was ended")
                child.kill()
                break
            relay.from_child(line)
        relay.child_ended()
        await relay.finish()
        hearing.cancel()
    return await child.wait()


async def _host_to_child(relay: Relay, stdin: asyncio.StreamWriter) -> None:
    host = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(host), sys.stdin)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, host.feed_eof)
    async for line in lines_of(host):
        relay.from_host(line)
        with suppress(ConnectionError):
            await stdin.drain()
    with suppress(ConnectionError):
        stdin.close()


def _say(text: str) -> None:
    sys.stderr.write(f"interlock mcp-gateway: {text}\n")


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line if line.endswith(b"\n") else line + b"\n")
    sys.stdout.buffer.flush()
