"""`interlock acp`: started by an editor as its agent, it starts the agent, and stands between the two."""

import asyncio
import os
import secrets
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from pathlib import PurePath
from typing import Any

from interlock_client.bridge.acp import (
    ASKS,
    CANCEL_REQUEST,
    CANCEL_TURN,
    Agent,
    Conversation,
    Permission,
    encode,
    id_of,
    read,
)
from interlock_client.bridge.dialogs import Dialogs, Inbox
from interlock_client.bridge.ledger import Ledger
from interlock_client.errors import InvalidInput
from interlock_client.hook.call import Outcome, object_of, optional_text
from interlock_client.hook.requests import AT_TERMINAL, GONE
from interlock_client.hook.settings import notes_folder

LONGEST_LINE = 1 << 30
CHUNK = 1 << 16
LINES = 100
"""For an editor that reads slowly."""
LEAVING = 5.0
"""Seconds that the agent has to end by itself when the editor is gone."""


class Proxy:
    def __init__(self, process: asyncio.subprocess.Process, agent: Agent, inbox: Inbox) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._to_agent, self._from_agent = process.stdin, process.stdout
        self._to_editor: asyncio.Queue[bytes] = asyncio.Queue(LINES)
        self._conversation = Conversation(agent)
        self._ledger = Ledger(notes_folder().with_name("acp"), inbox.url)
        self._dialogs = Dialogs(inbox, self._ledger)
        self._permissions: dict[str, Permission] = {}
        """What the agent waits for, by the id of its request."""
        self._answered: set[str] = set()
        """What was answered here, and not yet by the editor."""
        self._agents_ids: dict[str, Any] = {}
        """By the id under which the editor knows a dialog: the agent's own, where that was still another dialog's."""

    async def run(self) -> int:
        """Until one of the two ends; the exit code of the agent."""
        loop = asyncio.get_running_loop()
        stopped = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)):
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, stopped.set)
        tell = asyncio.create_task(self._tell_editor())
        hear = asyncio.create_task(self._hear_agent())
        others = [asyncio.create_task(self._hear_editor()), asyncio.create_task(stopped.wait())]
        tidy = asyncio.create_task(self._dialogs.withdraw_left())
        try:
            await asyncio.wait([hear, *others], return_when=asyncio.FIRST_COMPLETED)
            await asyncio.gather(self._dialogs.close_all(), self._end(hear))
            await self._write_rest(tell)
        finally:
            for task in (tell, hear, tidy, *others):
                task.cancel()
            await asyncio.gather(tell, hear, tidy, *others, return_exceptions=True)
            self._ledger.close()
        return self._process.returncode or 0

    async def _end(self, hear: "asyncio.Task[None]") -> None:
        """Let the agent end by itself, and then make it."""
        self._to_agent.close()
        for end in (self._process.terminate, self._process.kill):
            try:
                async with asyncio.timeout(LEAVING):
                    await asyncio.shield(hear)
                    await self._process.wait()
                return
            except TimeoutError:
                with suppress(ProcessLookupError):
                    end()
        await self._process.wait()

    async def _write_rest(self, tell: "asyncio.Task[None]") -> None:
        """All that the agent said has to arrive, unless the editor reads no more."""
        emptied = asyncio.create_task(self._to_editor.join())
        await asyncio.wait([emptied, tell], return_when=asyncio.FIRST_COMPLETED, timeout=LEAVING)
        emptied.cancel()

    async def _tell_editor(self) -> None:
        while True:
            line = await self._to_editor.get()
            await asyncio.to_thread(_write, line)
            self._to_editor.task_done()

    async def _hear_agent(self) -> None:
        while line := await self._from_agent.readline():
            message = read(line)
            if message and message.get("method") == ASKS and id_of(message) in self._answered:
                message, line = self._rename(message)
            # First to the editor, whose dialog is then there when a person has answered.
            await self._to_editor.put(line)
            if message:
                self._handle_agent_message(message)

    def _rename(self, message: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """Under an id that no other dialog has: what the editor still says of the one before is not about this call."""
        name = f"interlock-{secrets.token_hex(8)}"
        self._agents_ids[id_of({"id": name})] = message["id"]
        message = {**message, "id": name}
        return message, encode(message)

    def _handle_agent_message(self, message: dict[str, object]) -> None:
        self._conversation.hear_agent(message)
        method = message.get("method")
        if method == ASKS and "id" in message:
            self._ask(self._conversation.permission(message), id_of(message))
        elif method == CANCEL_REQUEST:
            request_id = (object_of(message.get("params")) or {}).get("requestId")
            for name in [
                name for name, one in self._permissions.items() if self._agents_id(name, one.id) == request_id
            ]:
                self._close(name, GONE)

    def _ask(self, permission: Permission, name: str) -> None:
        self._close(name, GONE)
        self._answered.discard(name)
        if not permission.allowed or not permission.session:
            return
        self._permissions[name] = permission

        async def answer(outcome: Outcome) -> None:
            if (reply := permission.answer(outcome, self._agents_id(name, permission.id))) is None:
                return
            # Not after a pause: from now on the editor comes second.
            del self._permissions[name]
            self._answered.add(name)
            self._to_agent.write(reply)
            await self._to_editor.put(permission.cancel())

        agent = self._conversation.agent
        call = permission.call(self._conversation.folder(permission.session))
        # The agent ends with this process, and what it asks with it: nobody comes back for the answer.
        self._dialogs.open(name, agent, call, secrets.token_hex(32), answer)

    def _agents_id(self, name: str, editors_id: Any) -> Any:
        return self._agents_ids.get(name, editors_id)

    def _close(self, name: str, reason: str) -> None:
        self._permissions.pop(name, None)
        self._dialogs.close(name, reason)

    async def _hear_editor(self) -> None:
        async for line in _lines():
            message = read(line)
            if message is None or self._handle_editor_message(message):
                if message and "method" not in message and id_of(message) in self._agents_ids:
                    line = encode({**message, "id": self._agents_ids[id_of(message)]})
                self._to_agent.write(line)
                with suppress(ConnectionError):
                    await self._to_agent.drain()

    def _handle_editor_message(self, message: dict[str, object]) -> bool:
        """Whether the agent is to hear it."""
        self._conversation.hear_editor(message)
        name = id_of(message)
        if message.get("method") == CANCEL_TURN:
            session = optional_text(object_of(message.get("params")) or {}, "sessionId")
            for name in [name for name, asked in self._permissions.items() if asked.session == session]:
                self._close(name, AT_TERMINAL)
        elif "method" not in message and name in self._answered:
            self._answered.discard(name)
            return False
        elif "method" not in message:
            self._close(name, AT_TERMINAL)
        return True


async def _lines() -> AsyncGenerator[bytes]:
    """What the editor says. By a thread, as standard input may be anything, on any system."""
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue()

    def read_chunks() -> None:
        while True:
            try:
                chunk = os.read(0, CHUNK)
            except OSError:
                chunk = b""
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)
            if not chunk:
                return

    threading.Thread(target=read_chunks, daemon=True).start()
    rest: list[bytes] = []
    while chunk := await chunks.get():
        first, *more = chunk.split(b"\n")
        rest.append(first)
        for part in more:
            yield b"".join(rest) + b"\n"
            rest = [part]
    if left := b"".join(rest):
        yield left


def _write(line: bytes) -> None:
    view = memoryview(line)
    while view:
        view = view[os.write(1, view) :]


async def serve(command: Sequence[str], inbox: Inbox) -> int:
    """Start the agent, and pass on what it and the editor say; its exit code."""
    name = PurePath(command[0]).stem
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=LONGEST_LINE
        )
    except OSError as error:
        raise InvalidInput(f"{command[0]} cannot be started: {error.strerror}") from error
    try:
        return await Proxy(process, Agent(name, name), inbox).run()
    finally:
        await inbox.close()
        sys.stdout.flush()
