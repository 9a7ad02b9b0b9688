"""A process that speaks MCP on its standard input and output, one JSON-RPC message in a line."""

import asyncio
import json
import logging
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from interlock.domain.json_value import JsonObject
from interlock.ports.gateway import UpstreamLost, UpstreamUnreachable

LONGEST_LINE = 64 * 1024 * 1024
END_SECONDS = 5.0

logger = logging.getLogger(__name__)


class Child:
    """Whatever it says is given to `hear`, and None when it has ended."""

    def __init__(self, process: asyncio.subprocess.Process, hear: Callable[[JsonObject | None], None]) -> None:
        self._process = process
        self._hear = hear
        self._listener = asyncio.create_task(self._listen())

    @classmethod
    async def start(
        cls, command: Sequence[str], environment: Mapping[str, str], hear: Callable[[JsonObject | None], None]
    ) -> "Child":
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=dict(environment),
                limit=LONGEST_LINE,
                # Of its own group, so that what it starts ends with it, and an interrupt at a terminal is not its.
                start_new_session=True,
            )
        except OSError as error:
            raise UpstreamUnreachable(f"{command[0]} cannot be started: {error.strerror}") from None
        return cls(process, hear)

    @property
    def has_ended(self) -> bool:
        return self._listener.done()

    async def send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        if self.has_ended:
            raise UpstreamUnreachable("its process has ended")
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            await self._process.stdin.drain()
        except (OSError, RuntimeError):
            raise UpstreamLost("its process has ended") from None

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        try:
            while line := await self._process.stdout.readline():
                try:
                    message: Any = json.loads(line)
                except (ValueError, RecursionError):
                    # Not with the line: it may hold what nobody is to read in a log.
                    logger.warning("an MCP server wrote a line that is no JSON (%d bytes)", len(line))
                    continue
                if isinstance(message, dict):
                    self._hear(cast("JsonObject", message))
        except ValueError:
            logger.warning("an MCP server wrote a line of more than %d bytes, and was ended", LONGEST_LINE)
        finally:
            self._hear(None)

    async def close(self) -> None:
        """As the protocol has it: end of input, then a signal, then another."""
        assert self._process.stdin is not None
        with suppress(OSError, RuntimeError):
            self._process.stdin.close()
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, number)
            with suppress(TimeoutError):
                async with asyncio.timeout(END_SECONDS if number else 1.0):
                    await self._process.wait()
                    break
        # What it started may still hold its output open.
        self._listener.cancel()
        await asyncio.wait([self._listener])
