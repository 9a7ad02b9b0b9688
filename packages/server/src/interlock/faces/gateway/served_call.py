"""One call of a tool through a served gateway: admitted, sent, and told to its host as upstream tells it."""

import asyncio
import base64
import binascii
import json
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

from fastapi import Request
from mcp.shared.inbound import mcp_param_headers, x_mcp_header_map

from interlock.domain.canonical import json_text
from interlock.domain.errors import InterlockError, InvalidInput
from interlock.domain.ids import new_id
from interlock.domain.json_value import JsonObject, JsonValue, member, object_at
from interlock.domain.policy import Ruling
from interlock.domain.principal import Principal
from interlock.faces.gateway.gate import Gate, refusal
from interlock.faces.gateway.messages import HostReply, messages_of, reason_of
from interlock.faces.gateway.tools import ToolLists
from interlock.faces.http.server_state import state_of
from interlock.faces.mcp.hosts import hold_seconds
from interlock.ports.gateway import Exchange, Reply, Upstream, UpstreamLost, UpstreamUnreachable
from interlock.services.core import Core
from interlock.services.gateway import calls, doubts
from interlock.services.gateway.calls import SERVED, ProposedCall, SendCall, error_result
from interlock.services.teams.routing import MCP_TIMEOUT
from interlock_client.gateway.relay import TOOL_USE_ID

CLIENT = "io.modelcontextprotocol/clientInfo"
MOST_TRIES = 3
"""Of an idempotent call whose upstream is lost."""
_SERVER_ERROR = 500
_REFUSED = 400


class UpstreamRefused(Exception):
    """Upstream did not take the call."""


@dataclass(slots=True)
class CallsInFlight:
    """Calls that go on when their host has gone: their end is to be recorded."""

    tasks: set[asyncio.Task[Any]] = field(default_factory=set[asyncio.Task[Any]])

    def start(self, work: Coroutine[Any, Any, JsonObject]) -> asyncio.Task[JsonObject]:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._discard)
        return task

    def _discard(self, task: asyncio.Task[Any]) -> None:
        self.tasks.discard(task)
        if not task.cancelled():
            # Read, so that one which nobody waited for is not reported as forgotten.
            task.exception()


@dataclass(slots=True)
class ServedCall:
    request: Request
    principal: Principal
    upstream: Upstream
    lists: ToolLists
    underway: CallsInFlight
    exchange: Exchange
    host: HostReply
    _progress: asyncio.Queue[JsonObject] = field(default_factory=asyncio.Queue[JsonObject])
    _holder: str = field(default_factory=lambda: SERVED + new_id("call"))

    @property
    def _core(self) -> Core:
        return state_of(self.request).core

    @property
    def _message(self) -> JsonObject:
        assert self.exchange.message is not None
        return self.exchange.message

    async def run(self) -> None:
        try:
            await self.host.end(await self._reply())
        except (UpstreamLost, UpstreamUnreachable) as error:
            await self.host.result(error_result(f"{error}. It was not called.", "failed"))
        except InterlockError as error:
            await self.host.result(refusal(error))

    async def _reply(self) -> JsonObject:
        """The message that ends the call."""
        proposal, state = await self._read_proposal()
        gate = self._gate(proposal)
        admission: SendCall | JsonObject
        if state is None:
            admission = await gate.admit()
        else:
            admission = await calls.continue_call(
                self._core, self.principal, proposal, self._holder, (state[0], state[1])
            )
        tries = 0
        while isinstance(admission, SendCall):
            send_call, tries = admission, tries + 1
            try:
                return await self._await_answer(send_call, gate.proposal, state)
            except UpstreamRefused as error:
                return self._response(error_result(str(error), "failed"))
            except UpstreamLost as error:
                if proposal.terms.is_idempotent and tries < MOST_TRIES:
                    admission = SendCall(send_call.call, await doubts.resend(self._core, send_call.call))
                elif proposal.terms.is_idempotent:
                    await calls.record_failure(self._core, send_call.call, str(error))
                    admission = error_result(f"{error}.", "failed")
                else:
                    admission = await gate.settle_doubt(send_call.call)
        return self._response(admission)

    def _response(self, result: JsonObject) -> JsonObject:
        return {"jsonrpc": "2.0", "id": self._message["id"], "result": result}

    async def _read_proposal(self) -> tuple[ProposedCall, tuple[str, str, Any] | None]:
        """What is called, and, where upstream asked its host for something before, of which call this is the rest."""
        params = object_at(self._message, "params")
        name: JsonValue = params.get("name")
        args: JsonValue = params.get("arguments", {})
        if not isinstance(name, str) or not isinstance(args, dict):
            raise InvalidInput("tools/call needs the name of a tool, and arguments as an object")
        policy = self.upstream.settings.policy
        definition = await self.lists.definition(self.exchange, name) if policy.needs_definition(name) else {}
        key = member(params, "_meta", TOOL_USE_ID)
        proposal = ProposedCall(
            self.upstream.settings.name,
            name,
            cast("JsonObject", args),
            definition,
            policy.terms_of(name, definition),
            self.request.query_params.get("conversation"),
            key if isinstance(key, str) else None,
            MCP_TIMEOUT,
        )
        state = params.get("requestState")
        return proposal, None if state is None else _unwrap_state(state)

    def _gate(self, proposal: ProposedCall) -> Gate:
        name = member(self._message, "params", "_meta", CLIENT, "name")
        client = name if isinstance(name, str) else self.request.headers.get("user-agent", "")
        return Gate(
            self.request,
            self.principal,
            proposal,
            self.upstream.settings.policy,
            self._holder,
            hold_seconds(client, self.request.query_params.get("hold"), None),
            self.host.beat,
            lambda: self.lists.definition(self.exchange, proposal.tool),
        )

    async def _await_answer(
        self, send_call: SendCall, proposal: ProposedCall, state: tuple[str, str, Any] | None
    ) -> JsonObject:
        """What upstream answers, with its end on record. Should the host go, it is recorded all the same."""
        sending = self.underway.start(self._send(send_call, self._exchange_for(send_call, proposal, state)))
        while not sending.done() or not self._progress.empty():
            telling = asyncio.ensure_future(self._progress.get())
            try:
                await asyncio.wait([telling, sending], return_when=asyncio.FIRST_COMPLETED)
                if telling.done():
                    await self.host.relay(telling.result())
            finally:
                telling.cancel()
        return sending.result()

    def _exchange_for(
        self, send_call: SendCall, proposal: ProposedCall, state: tuple[str, str, Any] | None
    ) -> Exchange:
        params = {**object_at(self._message, "params"), "arguments": send_call.args}
        if state is not None:
            params["requestState"] = state[2]
            if state[2] is None:
                del params["requestState"]
        headers = dict(self.exchange.headers)
        if proposal.terms.ruling is Ruling.ASK or proposal.definition:
            # Arguments that upstream wants in headers too are those that a person saw, whatever the host says there.
            headers = {name: value for name, value in headers.items() if not name.startswith("mcp-param-")}
            headers |= mcp_param_headers(x_mcp_header_map(proposal.definition.get("inputSchema")), send_call.args)
        return replace(self.exchange, headers=headers, message={**self._message, "params": params})

    async def _send(self, send_call: SendCall, exchange: Exchange) -> JsonObject:
        keeping = asyncio.create_task(self._keep(send_call))
        try:
            answer = await self._answer(exchange)
        except UpstreamUnreachable as error:
            await calls.record_failure(self._core, send_call.call, str(error))
            raise UpstreamRefused(f"{error}. It was not called.") from None
        except UpstreamRefused as error:
            await calls.record_failure(self._core, send_call.call, str(error))
            raise
        finally:
            keeping.cancel()
        return await self._record(send_call, answer)

    async def _record(self, send_call: SendCall, answer: JsonObject) -> JsonObject:
        result: Any = answer.get("result")
        if not isinstance(result, dict):
            await calls.record_failure(self._core, send_call.call, json_text(answer.get("error")))
            return answer
        known = cast("JsonObject", result)
        if known.get("resultType") == "input_required":
            await calls.wait_for_host(self._core, send_call.call)
            return {**answer, "result": {**known, "requestState": _wrap_state(send_call, known.get("requestState"))}}
        await calls.record_result(self._core, send_call.call, known, text_of(known))
        return answer

    async def _keep(self, send_call: SendCall) -> None:
        while True:
            await asyncio.sleep(self._core.settings.lease_seconds / 3)
            # Whoever took it over, or a database that is away for a moment: the end is recorded all the same.
            with suppress(InterlockError):
                await calls.renew(self._core, send_call.call)

    async def _answer(self, exchange: Exchange) -> JsonObject:
        """What upstream answers; its silence has an end, counted from here and from all that it says."""
        seconds, loop = self.upstream.settings.timeout, asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds) as limit, self.upstream.open(exchange) as reply:
                if reply.status >= _REFUSED:
                    return await self._read_refusal(reply)
                async for message in messages_of(reply):
                    if message.get("id") == self._message["id"] and "method" not in message:
                        return message
                    limit.reschedule(loop.time() + seconds)
                    self._progress.put_nowait(message)
        except TimeoutError:
            raise UpstreamLost(f"{self.upstream.settings.name} said nothing for {seconds:g} s") from None
        raise UpstreamLost(f"{self.upstream.settings.name} ended the call without an answer")

    async def _read_refusal(self, reply: Reply) -> JsonObject:
        error, reason = await reason_of(reply)
        if error is not None:
            return {**error, "id": self._message["id"]}
        message = f"{self.upstream.settings.name} answered {reply.status}: {reason}".strip(": ")
        if reply.status >= _SERVER_ERROR:
            # It may have been at work when it failed, or stand behind a proxy that gave up.
            raise UpstreamLost(message)
        raise UpstreamRefused(message)


def text_of(result: JsonObject) -> str:
    """What people are shown of it."""
    blocks = result.get("content")
    texts = [member(one, "text") for one in cast("list[JsonValue]", blocks)] if isinstance(blocks, list) else []
    return "\n".join(text for text in texts if isinstance(text, str))


def _wrap_state(send_call: SendCall, state: Any) -> str:
    """Upstream's state with the call that it is of, by which the approval is found again. It is not a secret."""
    content = json.dumps([send_call.call.id, send_call.call.thread_id, state])
    return base64.urlsafe_b64encode(content.encode()).decode()


def _unwrap_state(state: Any) -> tuple[str, str, Any]:
    try:
        call_id, thread_id, own = json.loads(base64.urlsafe_b64decode(state))
    except (TypeError, ValueError, RecursionError, binascii.Error):
        raise InvalidInput("requestState is not one of this gateway") from None
    return str(call_id), str(thread_id), own
