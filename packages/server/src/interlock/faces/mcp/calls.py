"""One call of a tool: it asks, holds for as long as its host waits, and tells how the request stands."""

import math
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import anyio
from fastapi import Request
from mcp.server.context import ServerRequestContext
from mcp_types import CallToolResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from interlock.domain.canonical import digest
from interlock.domain.ids import is_own_new_thread_id, new_id
from interlock.domain.principal import Principal
from interlock.domain.request import RequestStatus
from interlock.faces.http.credentials import caller_still
from interlock.faces.http.server_state import ServerState, state_of
from interlock.faces.http.watching import wait_until_settled
from interlock.faces.mcp.arguments import AskArguments
from interlock.faces.mcp.hosts import hold_seconds
from interlock.faces.mcp.results import page_of, result_of
from interlock.services.requests import answering, holding, outside, pending
from interlock.services.requests.answering import Reply, Sender
from interlock.services.requests.holding import CallAsk, HoldHandle
from interlock.services.requests.outside import Ask
from interlock.services.requests.pending import RequestView

SOURCE = "mcp"
BEAT_SECONDS = 10.0
"""How often a host hears that the call still waits."""
CALL_IDS = ("claudecode/toolUseId", "interlock/callId")
"""By these a call is known when it comes again: Claude Code names the model's call, our bridge what it forwards."""
LONGEST_ID = 200
TASKS = "io.modelcontextprotocol/tasks"


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    context: ServerRequestContext[Any, Request]
    connection: Request
    principal: Principal
    request_state: str | None = None
    """What an earlier round of this call was told to bring again."""

    @classmethod
    async def of(cls, tool: str, context: ServerRequestContext[Any, Any], request_state: str | None = None) -> "Call":
        connection = cast("Request", context.request)
        return cls(tool, context, connection, await caller_still(connection), request_state)

    @property
    def state(self) -> ServerState:
        return state_of(self.connection)

    @property
    def meta(self) -> Mapping[str, Any]:
        return self.context.meta or {}

    @property
    def is_modern(self) -> bool:
        """Whether each request says what its client can: before, that was said once, to a server we may not be."""
        return self.context.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def takes_tasks(self) -> bool:
        known = self.context.session.client_capabilities if self.is_modern else None
        return TASKS in ((known and known.extensions) or {})

    @property
    def takes_pages(self) -> bool:
        known = self.context.session.client_capabilities if self.is_modern else None
        return bool(known and known.elicitation and known.elicitation.url is not None)

    @property
    def pages(self) -> str:
        """Where this server is found by its host, and so by whoever sits there."""
        return str(self.connection.base_url).rstrip("/")

    def hold_seconds(self, wait_seconds: float | None) -> float:
        known = self.context.session.client_params
        client = known.client_info.name if known else self.connection.headers.get("user-agent", "")
        return hold_seconds(client, self.connection.query_params.get("hold"), wait_seconds)

    def result(self, view: RequestView) -> CallToolResult:
        return result_of(view, self.pages)

    async def place(self, asking: AskArguments, key: str | None = None) -> RequestView:
        """Put the request and tell its id at once: it lives until its deadline, whoever comes for the answer."""
        return await self._ask_and_hold(asking, key, 0.0)

    async def ask(self, asking: AskArguments) -> RequestView:
        """Put the request, and hold until it is settled or this host waits no longer."""
        return await self._ask_and_hold(asking, None, self.hold_seconds(asking.wait_seconds))

    async def ask_to_the_end(self, asking: AskArguments, key: str | None) -> RequestView:
        """The same, for hosts that are told of an end only: a request that is still pending keeps its hold free."""
        return await self._ask_and_hold(asking, key, math.inf, tells_pending=False)

    async def _ask_and_hold(
        self, asking: AskArguments, key: str | None, seconds: float, *, tells_pending: bool = True
    ) -> RequestView:
        holder = new_id("call")
        hold = await self._ask(asking, holder, key or self.call_id(asking))
        is_over = False
        try:
            view = await self._wait(hold, holder, seconds)
            if tells_pending or view.request.status is not RequestStatus.PENDING:
                await holding.finish(self.state.core, hold, holder)
                is_over = True
        finally:
            if not is_over:
                # The caller went: what it asked stays open, for the same call when it comes again.
                with anyio.CancelScope(shield=True):
                    await holding.abandon(self.state.core, hold, holder)
        return view

    async def withdraw(self, request_id: str, reason: str | None) -> None:
        """`AlreadySettled` where it was answered, or ended otherwise, before."""
        core = self.state.core
        await outside.check_asker(core, self.principal, request_id)
        reply = Reply(request_id, None, reason or "withdrawn")
        await answering.answer(core, Sender(self.principal, SOURCE), reply)

    def call_id(self, asking: AskArguments) -> str | None:
        """By what the same call is known when it comes again, where it says so."""
        given = (self.request_state, asking.idempotency_key, *(self.meta.get(name) for name in CALL_IDS))
        return next((one for one in given if isinstance(one, str) and 0 < len(one) <= LONGEST_ID), None)

    async def _ask(self, asking: AskArguments, holder: str, key: str | None) -> HoldHandle:
        core = self.state.core
        kind, data = asking.to_request()
        conversation = asking.conversation or self.connection.query_params.get("conversation")
        # Without the day: what was asked before midnight is asked again after it.
        content = {"tool": self.tool, "conversation": conversation, "arguments": asking.content()}
        key = None if key is None else f"{self.tool} {key}"
        ask = replace(Ask(kind, data, asking.timeout_seconds), **self._conversation(conversation))
        return await holding.ask(core, self.principal, CallAsk(ask, digest(content), holder, key))

    def _conversation(self, conversation: str | None) -> dict[str, str]:
        """The one named, by its id or by a name of the host's own, or the one of the day."""
        person = self.principal.on_behalf_of or self.principal
        if conversation is not None and is_own_new_thread_id(conversation, person.name):
            return {"conversation_id": conversation}
        return {"conversation_key": f"mcp {conversation or f'day {self.state.core.clock.now().date().isoformat()}'}"}

    async def _wait(self, hold: HoldHandle, holder: str, seconds: float) -> RequestView:
        if not seconds:
            return await pending.view_request(self.state.core, self.principal, hold.request_id)
        return await self.wait_until_settled(
            hold.request_id, seconds, lambda: holding.renew(self.state.core, hold, holder)
        )

    async def wait_until_settled(
        self, request_id: str, seconds: float, keep: Callable[[], Awaitable[None]] | None = None
    ) -> RequestView:
        """The request once it is settled, or as it is after so many seconds; the host hears of the waiting."""
        until = time.monotonic() + seconds
        beats = 0
        with self.state.limits.stream(self.principal.person_id):
            while True:
                left = max(0.0, until - time.monotonic())
                view = await wait_until_settled(self.connection, request_id, min(BEAT_SECONDS if beats else 0.0, left))
                if view.request.status is not RequestStatus.PENDING or not left or self.state.closing.is_set():
                    return view
                beats += 1
                page = page_of(view.request, self.pages)
                waiting = f"Waiting for a person to answer{f' at {page}' if page else ''}"
                await self.context.session.report_progress(beats, message=waiting)
                if beats % 2 == 0 and keep is not None:
                    await keep()
