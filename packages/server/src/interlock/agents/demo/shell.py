"""One shell command: bounded in time and output, in a process group of its own, with an environment of its own."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_CHUNK = 64 * 1024
_LAST_WORDS_SECONDS = 1.0
"""How long output may still come after the group is gone: only a process that left the group can hold it open."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    code: int | None
    """None when the time was over."""
    output: str


class _OutputEnds:
    """The beginning and the end of what was written: errors are at the end, their cause often at the beginning."""

    def __init__(self, limit: int) -> None:
        self._half = max(limit // 2, 1)
        self._head = b""
        self._tail = b""
        self._cut = 0

    def add(self, data: bytes) -> None:
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        surplus = len(self._tail) - self._half
        if surplus > 0:
            self._tail = self._tail[surplus:]
            self._cut += surplus

    def text(self) -> str:
        if not self._cut:
            return _readable(self._head + self._tail)
        head, tail = _readable(self._head), _readable(self._tail)
        return f"{head}\n[... {self._cut} bytes of output were cut here ...]\n{tail}"


def _readable(data: bytes) -> str:
    # PostgreSQL stores no NUL in a text.
    return data.decode(errors="replace").replace("\0", "\ufffd")


async def run(command: str, cwd: Path, *, seconds: float, output_bytes: int) -> CommandResult:
    """Run `command` to its end; when the time is over, or the caller is cancelled, all that it started is killed."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        try:
            process = await _start(command, cwd, writing)
        finally:
            os.close(writing)
        output = _OutputEnds(output_bytes)
        collecting = asyncio.create_task(_collect(pipe, output))
        try:
            code = await _wait(process, seconds)
            # Also after a good end: what it left in the background is no longer bounded by anything.
            _kill_group(process.pid)
            await asyncio.wait({collecting}, timeout=_LAST_WORDS_SECONDS)
        finally:
            _kill_group(process.pid)
            collecting.cancel()
            await asyncio.wait({collecting})
            await process.wait()
    return CommandResult(code, output.text())


async def _start(command: str, cwd: Path, output: int) -> asyncio.subprocess.Process:
    # `output` is a pipe of our own: with asyncio's, waiting for the shell would also wait for every
    # background process that holds its output open.
    return await asyncio.create_subprocess_shell(
        command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        cwd=cwd,
        env=_environment(cwd),
        start_new_session=True,
    )


async def _wait(process: asyncio.subprocess.Process, seconds: float) -> int | None:
    try:
        async with asyncio.timeout(seconds):
            return await process.wait()
    except TimeoutError:
        return None


async def _collect(pipe: IO[bytes], into: _OutputEnds) -> None:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    try:
        while data := await reader.read(_CHUNK):
            into.add(data)
    finally:
        transport.close()


def _kill_group(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _environment(home: Path) -> dict[str, str]:
    """Nothing of the server's own: its variables hold secrets, and its home folder holds other people's settings."""
    places = ("/usr/local/bin", "/usr/bin", "/bin", os.path.dirname(sys.executable))
    return {"PATH": os.pathsep.join(places), "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb"}
