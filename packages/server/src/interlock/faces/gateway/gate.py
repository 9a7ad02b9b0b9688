"""What stands between a call and its upstream: the rules, a person, and the record. Who passes it may send the call."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

import anyio
from fastapi.requests import HTTPConnection

from interlock.domain.errors import InterlockError
from interlock.domain.gateway import ToolPolicy, UpstreamCall
from interlock.domain.json_value import JsonObject
from interlock.domain.kinds import ApprovalAnswer
from interlock.domain.policy import Ruling
from interlock.domain.principal import Principal
from interlock.domain.request import RequestEnd, RequestStatus
from interlock.faces.http.problems import public_message
from interlock.faces.http.server_state import state_of
from interlock.faces.http.watching import wait_until_settled
from interlock.services.core import Core
from interlock.services.gateway import calls, doubts
from interlock.services.gateway.calls import ProposedCall, RecordedResult, SendCall, StillRunning, error_result
from interlock.services.requests import holding
from interlock.services.requests.holding import HoldHandle
from interlock.services.requests.pending import RequestView

BEAT_SECONDS = 10.0
"""How often a host hears that its call still waits."""
LOOK_SECONDS = 0.25
MOST_CHANGES = 5
"""How often a tool may change under the eyes of who is asked about it."""
NOT_A_YES = "Do not go on as if it were a yes."
PENDING = (
    "Nobody has answered yet. Call the tool again with the same arguments: the answer is kept for that. " + NOT_A_YES
)
IN_DOUBT = (
    "The call was sent, and whether it took effect is not known. A person is asked. Do not call it in another way; "
    "call it again with the same arguments to hear what they say."
)

Definition = Callable[[], Awaitable[JsonObject]]


@dataclass(slots=True)
class Gate:
    connection: HTTPConnection
    principal: Principal
    proposal: ProposedCall
    policy: ToolPolicy
    holder: str
    hold_seconds: float
    beat: Callable[[], Awaitable[None]]
    definition: Definition
    """As upstream lists the tool now."""
    _until: float = field(init=False)

    def __post_init__(self) -> None:
        self._until = time.monotonic() + self.hold_seconds

    @property
    def _core(self) -> Core:
        return state_of(self.connection).core

    async def admit(self) -> SendCall | JsonObject:
        """Leave to send the call, or what its host is told in place of a result."""
        try:
            with state_of(self.connection).limits.stream(self.principal.person_id):
                return await self._admit()
        except InterlockError as error:
            return refusal(error)

    async def settle_doubt(self, call: UpstreamCall) -> SendCall | JsonObject:
        """The same, for a call that was sent and of which nobody knows how it ended."""
        try:
            with state_of(self.connection).limits.stream(self.principal.person_id):
                return await self._settle_doubt(call)
        except InterlockError as error:
            return refusal(error, IN_DOUBT)

    async def _admit(self) -> SendCall | JsonObject:
        if self.proposal.terms.ruling is Ruling.DENY:
            return error_result(f"{self.proposal.tool} may not be called here: the operator denies it.", "denied")
        before = await self._resume()
        if isinstance(before, SendCall):
            return before
        if isinstance(before, RecordedResult):
            return before.result
        if before is not None:
            return await self._settle_doubt(before)
        if self.proposal.terms.ruling is Ruling.ALLOW:
            return await calls.begin(self._core, self.principal, self.proposal, self.holder, None)
        for _ in range(MOST_CHANGES):
            decided = await self._ask()
            if decided is not None:
                return decided
        return error_result(f"{self.proposal.tool} changes its definition all the time. It was not called.", "changed")

    async def _resume(self) -> UpstreamCall | RecordedResult | SendCall | None:
        while True:
            try:
                return await calls.resume(self._core, self.principal, self.proposal, self.holder)
            except StillRunning:
                if time.monotonic() >= self._until:
                    raise
            await anyio.sleep(LOOK_SECONDS)

    async def _ask(self) -> SendCall | JsonObject | None:
        """None where the tool has changed since it was shown: it has to be shown anew."""
        hold = await calls.ask(self._core, self.principal, self.proposal, self.holder)
        is_told = False
        try:
            view = await self._wait_until_settled(hold.request_id, lambda: holding.renew(self._core, hold, self.holder))
            if view.request.status is RequestStatus.PENDING:
                return error_result(PENDING, "pending")
            if (refusal := self._refusal(view)) is not None:
                await holding.finish(self._core, hold, self.holder)
                is_told = True
                return refusal
            send_call = await self._begin(hold)
            is_told = True
            return send_call
        finally:
            if not is_told:
                with anyio.CancelScope(shield=True):
                    await holding.abandon(self._core, hold, self.holder)

    async def _begin(self, hold: HoldHandle) -> SendCall | None:
        now = await self.definition() if self.proposal.definition else {}
        if now == self.proposal.definition:
            return await calls.begin(self._core, self.principal, self.proposal, self.holder, hold)
        await calls.set_pin(self._core, self.principal, self.proposal)
        await holding.finish(self._core, hold, self.holder)
        terms = replace(self.policy.terms_of(self.proposal.tool, now), ruling=Ruling.ASK)
        self.proposal = replace(self.proposal, definition=now, terms=terms, key=None)
        return None

    def _refusal(self, view: RequestView) -> JsonObject | None:
        """What is not a person's yes, or a remembered one, is a no: with who said so, when, from where and how."""
        end = RequestEnd.of(view.request, view.answer)
        refused = self._no(view, end)
        if refused is not None:
            refused["_meta"]["interlock/details"] = end.to_json()
        return refused

    def _no(self, view: RequestView, end: RequestEnd) -> JsonObject | None:
        because = f" ({end.reason})" if end.reason else ""
        match view.request.status:
            case RequestStatus.EXPIRED:
                return error_result(f"Nobody answered in time. It was not called. {NOT_A_YES}", "expired")
            case RequestStatus.CANCELLED:
                return error_result(f"It was cancelled{because}. It was not called.", "cancelled")
            case _:
                value = view.answer.value if view.answer else None
        if isinstance(value, ApprovalAnswer) and value.runs:
            return None
        message = value.message if isinstance(value, ApprovalAnswer) else ""
        because = f": {message}" if message else because
        return error_result(f"{end.by or 'A person'} refused it{because}. It was not called.", "refused")

    async def _settle_doubt(self, call: UpstreamCall) -> SendCall | JsonObject:
        is_settled = False
        try:
            request_id = await doubts.doubt(self._core, call)
            if request_id is None:
                args = await doubts.resend(self._core, call)
                is_settled = True
                return SendCall(call, args)
            view = await self._wait_until_settled(request_id, lambda: calls.renew(self._core, call))
            if view.request.status is RequestStatus.PENDING:
                return error_result(IN_DOUBT, "in_doubt")
            is_answered = view.request.status is RequestStatus.ANSWERED and view.answer is not None
            outcome = await doubts.resolve(self._core, call, view.answer.value if view.answer and is_answered else None)
            is_settled = True
            return outcome.result if isinstance(outcome, RecordedResult) else SendCall(call, outcome)
        finally:
            if not is_settled:
                with anyio.CancelScope(shield=True):
                    await calls.abandon(self._core, call)

    async def _wait_until_settled(self, request_id: str, keep: Callable[[], Awaitable[None]]) -> RequestView:
        """The request once it is settled, or as it is when the host waits no longer."""
        state, beats = state_of(self.connection), 0
        seconds = min(BEAT_SECONDS, self._core.settings.lease_seconds / 3)
        while True:
            left = max(0.0, self._until - time.monotonic())
            view = await wait_until_settled(self.connection, request_id, min(seconds if beats else 0.0, left))
            if view.request.status is not RequestStatus.PENDING or not left or state.closing.is_set():
                return view
            beats += 1
            await self.beat()
            await keep()


def refusal(error: InterlockError, note: str = NOT_A_YES) -> JsonObject:
    """What a host is told of an error of its call, as every face tells it."""
    return error_result(f"{error.code}: {public_message(error)}\n{note}", error.code)
