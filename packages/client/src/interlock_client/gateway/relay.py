"""Between a host and a server that speak MCP on standard input and output: lines are passed on as they are.

Only calls of tools stop here. Each is asked about, sent with the arguments that were approved, and its end reported
before the host hears of it.
"""

import asyncio
import base64
import binascii
import json
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import count
from typing import Any, cast

from interlock_client.gateway.asking import Json, Refused, Server, ServerUnreachable
from interlock_client.gateway.reading import CALL, INVALID_REQUEST, LONGEST_LINE, NotTaken, read_message
from interlock_client.visible import one_line

BEAT_SECONDS = 10.0
MOST_PAGES = 1_000
MOST_CHANGES = 5
"""How often a tool may change under the eyes of who is asked about it."""
MOST_KEPT = 1_000_000
"""Bytes of a result that the server is told: a body there may have little more."""
ENVELOPE = "io.modelcontextprotocol/"
TOOL_USE_ID = "claudecode/toolUseId"
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
NOT_CALLED = "It was not called. Do not go on as if it were a yes."
IN_DOUBT = "The server was lost after the call was sent: whether it took effect is not known, and a person is asked."

NOT_KEPT: Json = {"content": [{"type": "text", "text": "The call was made. What it gave could not be kept."}]}


class Lost(Exception):
    """The server is silent, or has ended."""


@dataclass(frozen=True, slots=True)
class Settings:
    name: str
    command: Sequence[str]
    rules: Json
    conversation: str | None = None
    timeout: float = 60.0

    def needs_definition(self, tool: str) -> bool:
        """Not where the rules decide by the name alone."""
        rules = cast("Mapping[str, str]", self.rules.get("tools") or {})
        rule = next((rule for pattern, rule in rules.items() if fnmatchcase(tool, pattern)), "ask")
        return rule not in ("pass", "deny")


def at(value: Any, *path: str) -> Any:
    """What is found there in nested objects; None where there is nothing."""
    for name in path:
        value = cast("Json", value).get(name) if isinstance(value, dict) else None
    return value


def error_result(message: str, status: str) -> Json:
    content = [{"type": "text", "text": message}]
    return {"content": content, "isError": True, "resultType": "complete", "_meta": {"interlock/status": status}}


@dataclass(slots=True)
class Relay:
    settings: Settings
    server: Server
    to_host: Callable[[bytes], None]
    to_child: Callable[[bytes], None]
    _answers: dict[str, asyncio.Future[Json]] = field(default_factory=dict[str, asyncio.Future[Json]])
    """By id, what the server behind owes to this gateway."""
    _calls: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, asyncio.Task[None]])
    _spoke: asyncio.Event = field(default_factory=asyncio.Event)
    _numbers: Any = field(default_factory=lambda: count(1))
    _has_ended: bool = False

    def from_host(self, line: bytes | None) -> None:
        if line is None:
            self._refuse(None, INVALID_REQUEST, f"a message may have up to {LONGEST_LINE} bytes")
            return
        if not line.strip():
            return
        if b"\r" in line.rstrip(b"\r\n"):
            # Between two names it means nothing in JSON. But it ends a line for many servers: what follows would be
            # another message for them, and no part of this one.
            self._refuse(None, INVALID_REQUEST, "a carriage return is taken at the end of a line only")
            return
        try:
            message = read_message(line)
        except NotTaken as error:
            # Not even passed on: whatever reads it otherwise would do what nobody was asked about.
            self._refuse(error.id, error.code, str(error))
            return
        name = json.dumps(message.get("id"))
        if "method" in message and (name in self._calls or name in self._answers):
            self._refuse(message["id"], INVALID_REQUEST, "a call with this id is under way")
            return
        if message.get("method") == CALL:
            task = asyncio.create_task(self._call(message))
            self._calls[name] = task
            task.add_done_callback(lambda _: self._calls.pop(name, None))
            return
        if at(message, "method") == "notifications/cancelled":
            name = json.dumps(at(message, "params", "requestId"))
            # One that was sent ends by itself, so that its end is recorded.
            if name in self._calls and name not in self._answers:
                self._calls[name].cancel()
                return
        self.to_child(line)

    def _refuse(self, message_id: Any, code: int, text: str) -> None:
        self._tell({"jsonrpc": "2.0", "id": message_id, "error": {"code": code, "message": text}})

    def from_child(self, line: bytes) -> None:
        self._spoke.set()
        message = _read(line)
        name = json.dumps(message.get("id"))
        if message and "method" not in message and name in self._answers:
            waiting = self._answers.pop(name)
            if not waiting.done():
                waiting.set_result(message)
            return
        self.to_host(line)

    def child_ended(self) -> None:
        self._has_ended = True
        for waiting in self._answers.values():
            if not waiting.done():
                waiting.set_exception(Lost("the server has ended"))
        self._answers.clear()

    async def finish(self) -> None:
        """What is under way tells its host how it stands."""
        if self._calls:
            await asyncio.wait(list(self._calls.values()), timeout=10)

    async def _call(self, message: Json) -> None:
        beating = asyncio.create_task(self._beat(at(message, "params", "_meta", "progressToken")))
        try:
            result = await self._result(message, beating)
        except Lost as error:
            result = {"result": error_result(f"{error}. {NOT_CALLED}", "failed")}
        except (Refused, ServerUnreachable) as error:
            result = {"result": error_result(f"{error}. {NOT_CALLED}", "unreachable")}
        except Exception as error:
            # The host waits for an answer, whatever has failed here.
            text = f"the gateway failed ({type(error).__name__}: {error})"
            result = {"error": {"code": INTERNAL_ERROR, "message": text}}
        finally:
            beating.cancel()
        self._tell({"jsonrpc": "2.0", "id": message["id"], **result})

    async def _beat(self, token: Any) -> None:
        """The host hears that its call still waits."""
        for beats in count(1):
            if token is None:
                return
            about = {"progressToken": token, "progress": beats / 1000, "message": "Waiting for a person to answer"}
            self._tell({"jsonrpc": "2.0", "method": "notifications/progress", "params": about})
            await asyncio.sleep(BEAT_SECONDS)

    async def _result(self, message: Json, beating: asyncio.Task[None]) -> Json:
        """`result` or `error`, as the host is told."""
        tool: Any = at(message, "params", "name")
        args: Any = at(message, "params", "arguments")
        args = {} if args is None else args
        if not isinstance(tool, str) or not isinstance(args, dict):
            return {"error": {"code": INVALID_PARAMS, "message": "tools/call needs the name of a tool, and arguments"}}
        key, before = at(message, "params", "_meta", TOOL_USE_ID) or str(uuid.uuid4()), _unwrap_state(message)
        for _ in range(MOST_CHANGES):
            definition = await self._definition(message, tool)
            admission = await self.server.ask(
                {
                    "upstream": self.settings.name,
                    "tool": tool,
                    "args": args,
                    "definition": definition,
                    "rules": self.settings.rules,
                    "conversation": self.settings.conversation,
                    "key": key,
                    "before": before and before[:2],
                }
            )
            if admission["outcome"] == "result":
                return {"result": admission["result"]}
            if before is None and definition != await self._definition_now(message, tool, admission):
                # It is not the tool any more that a person was shown.
                await self.server.end(admission, "failed", error="the tool changed before it was called")
                key = str(uuid.uuid4())
                continue
            beating.cancel()
            return await self._send(message, admission, before)
        return {"result": error_result(f"{tool} changes its definition all the time. {NOT_CALLED}", "changed")}

    async def _definition_now(self, message: Json, tool: str, admission: Json) -> Json:
        """After the permission: whatever fails here, or takes the call back, is known to have called nothing."""
        try:
            return await self._definition(message, tool)
        except BaseException as error:
            with suppress(Refused, ServerUnreachable):
                await self.server.end(admission, "failed", error=f"it was not called ({type(error).__name__})")
            raise

    async def _send(self, message: Json, admission: Json, before: tuple[str, str, Any] | None) -> Json:
        """Send it; where it is lost, do what a person says."""
        while True:
            if self._has_ended:
                await self.server.end(admission, "failed", error="it was not called")
                raise Lost("the server has ended")
            params = {**message["params"], "arguments": admission["args"]}
            if before is not None:
                params["requestState"] = before[2]
            params = {name: value for name, value in params.items() if name != "requestState" or value is not None}
            keeping = asyncio.create_task(self._keep(admission))
            try:
                answer = await self._ask_child({**message, "params": params})
            except Lost:
                keeping.cancel()
                if self._has_ended:
                    # There is nothing left that it could be sent to: whoever starts the server again calls it again.
                    await self.server.report_lost(admission, wait=False)
                    return {"result": error_result(IN_DOUBT, "in_doubt")}
                admission = await self.server.report_lost(admission)
                if admission["outcome"] == "result":
                    return {"result": admission["result"]}
                continue
            finally:
                keeping.cancel()
            return await self._record(answer, admission)

    async def _record(self, answer: Json, admission: Json) -> Json:
        result: Any = answer.get("result")
        try:
            if not isinstance(result, dict):
                await self.server.end(admission, "failed", error=json.dumps(answer.get("error")))
                return {"error": answer.get("error")}
            if at(result, "resultType") == "input_required":
                await self.server.end(admission, "waiting")
                own = [admission["call_id"], admission["conversation_id"], at(result, "requestState")]
                state = base64.urlsafe_b64encode(json.dumps(own).encode()).decode()
                return {"result": {**cast("Json", result), "requestState": state}}
            await self._record_result(admission, cast("Json", result))
        except (Refused, ServerUnreachable) as error:
            # It is done, and the host is to know: the server will ask a person about it.
            sys.stderr.write(f"interlock mcp-gateway: the end of a call was not recorded: {one_line(str(error))}\n")
        return {"result": result}

    async def _record_result(self, admission: Json, result: Json) -> None:
        """With what it gave, for the same call should it come again; without it where the server does not take that."""
        if len(json.dumps(result)) <= MOST_KEPT:
            with suppress(Refused):
                await self.server.end(admission, "done", result=result)
                return
        await self.server.end(admission, "done", result={**NOT_KEPT, "isError": result.get("isError") is True})

    async def _keep(self, admission: Json) -> None:
        while True:
            await asyncio.sleep(admission["lease_seconds"] / 3)
            with suppress(Refused, ServerUnreachable):
                await self.server.end(admission, "alive")

    async def _definition(self, call: Json, tool: str) -> Json:
        """As the server lists the tool now; empty where the rules need none, or it lists no such tool."""
        if not self.settings.needs_definition(tool):
            return {}
        meta: Any = at(call, "params", "_meta")
        fields = cast("Json", meta) if isinstance(meta, dict) else {}
        envelope = {key: value for key, value in fields.items() if key.startswith(ENVELOPE)}
        cursor: Any = None
        found: Json = {}
        for _ in range(MOST_PAGES):
            params: Json = ({"_meta": envelope} if envelope else {}) | ({} if cursor is None else {"cursor": cursor})
            number = f"interlock-{next(self._numbers)}"
            answer = await self._ask_child({"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": params})
            for listed in at(answer, "result", "tools") or ():
                if at(listed, "name") == tool and (found or listed) != listed:
                    # Nobody knows which of them the host has read.
                    raise Lost(f"the server lists {tool} more than once, each time otherwise")
                found = listed if at(listed, "name") == tool else found
            cursor = at(answer, "result", "nextCursor")
            if cursor is None:
                return found
        raise Lost("the server lists its tools without an end")

    async def _ask_child(self, message: Json) -> Json:
        """The answer of the server behind, which may not be silent for too long."""
        if self._has_ended:
            raise Lost("the server has ended")
        waiting: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._answers[json.dumps(message["id"])] = waiting
        self.to_child(json.dumps(message).encode() + b"\n")
        while not waiting.done():
            self._spoke.clear()
            speaking = asyncio.ensure_future(self._spoke.wait())
            done, _ = await asyncio.wait(
                [waiting, speaking], timeout=self.settings.timeout, return_when=asyncio.FIRST_COMPLETED
            )
            speaking.cancel()
            if not done:
                self._answers.pop(json.dumps(message["id"]), None)
                raise Lost(f"the server said nothing for {self.settings.timeout:g} s")
        return waiting.result()

    def _tell(self, message: Json) -> None:
        self.to_host(json.dumps(message).encode() + b"\n")


def _read(line: bytes) -> Json:
    try:
        message: Any = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return cast("Json", message) if isinstance(message, dict) else {}


def _unwrap_state(message: Json) -> tuple[str, str, Any] | None:
    """Of which call this is the rest, where the server asked the host for something before."""
    state = at(message, "params", "requestState")
    if state is None:
        return None
    try:
        call_id, conversation_id, own = json.loads(base64.urlsafe_b64decode(state))
    except (TypeError, ValueError, RecursionError, binascii.Error):
        raise Refused("requestState is not one of this gateway") from None
    return str(call_id), str(conversation_id), own
