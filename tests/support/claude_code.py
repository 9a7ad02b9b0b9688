"""Claude Code as the Agent SDK sees it: a transport that speaks the control protocol, and follows a script."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from claude_agent_sdk import Transport

Message = dict[str, Any]


class ScriptedCli(Transport):
    """Asks for permission to use the given tools, all at once; with every answer it ends the turn."""

    def __init__(self, *calls: tuple[str, Mapping[str, Any]], about: Mapping[str, Any] | None = None) -> None:
        self._calls = calls
        self._about = dict(about or {})
        self._says: asyncio.Queue[Message | None] = asyncio.Queue()
        self.replies: dict[str, Message] = {}
        """The control responses, by the tool they are about."""

    async def connect(self) -> None:
        pass

    async def write(self, data: str) -> None:
        for line in data.splitlines():
            self._hear(json.loads(line))

    def _hear(self, message: Message) -> None:
        match message["type"]:
            case "control_request":
                reply: Message = {"subtype": "success", "request_id": message["request_id"], "response": {}}
                self._says.put_nowait({"type": "control_response", "response": reply})
            case "user":
                for number, (name, args) in enumerate(self._calls):
                    self._says.put_nowait(self._permission(number, name, args))
            case _:
                response = message["response"]
                name = self._calls[int(response["request_id"])][0]
                self.replies[name] = response
                if len(self.replies) == len(self._calls):
                    self.end()

    def _permission(self, number: int, name: str, args: Mapping[str, Any]) -> Message:
        asked = {"subtype": "can_use_tool", "tool_name": name, "input": args, "tool_use_id": f"toolu_{number}"}
        return {"type": "control_request", "request_id": str(number), "request": {**asked, **self._about}}

    def withdraw(self, number: int) -> None:
        """As when somebody stops the turn in a terminal."""
        self._says.put_nowait({"type": "control_cancel_request", "request_id": str(number)})

    def end(self) -> None:
        result = {"subtype": "success", "is_error": False, "num_turns": 1, "result": "done"}
        times = {"duration_ms": 1, "duration_api_ms": 1}
        self._says.put_nowait({"type": "result", "session_id": "s", **result, **times})
        self._says.put_nowait(None)

    async def read_messages(self) -> AsyncIterator[Message]:
        while (message := await self._says.get()) is not None:
            yield message

    async def close(self) -> None:
        pass

    def is_ready(self) -> bool:
        return True

    async def end_input(self) -> None:
        pass

    @property
    def decisions(self) -> Sequence[Message]:
        """What the SDK answered to each call, in the order of the calls."""
        return [self.replies[name]["response"] for name, _ in self._calls]
