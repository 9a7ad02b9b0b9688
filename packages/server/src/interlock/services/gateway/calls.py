"""One call of an upstream's tool: asked about where the rules say so, recorded before it is sent and when it ended."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from interlock import failpoints
from interlock.domain.canonical import action_digest, digest, json_text, plain
from interlock.domain.effect import Effect, EffectState
from interlock.domain.errors import AlreadySettled, Conflict, Forbidden, TakenOver
from interlock.domain.event import ToolEnded, ToolStarted, ToolStatus
from interlock.domain.gateway import CallTerms, ToolPin, UpstreamCall, definition_digest
from interlock.domain.ids import new_id
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody, RequestKind
from interlock.domain.principal import SYSTEM, Principal
from interlock.domain.request import Request, RequestStatus
from interlock.domain.risk import HIGH, RISK_LEVELS
from interlock.domain.thread import Thread
from interlock.services.core import Core, Unit, undo_on_cancel, unit
from interlock.services.requests import holding, outside
from interlock.services.requests.answering import Reply, Sender, settle_one
from interlock.services.requests.holding import CallAsk, HoldHandle
from interlock.services.runs.effects import OUTPUT_SHOWN
from interlock.texts import LOCALES, Locale
from interlock.texts import gateway_text as text

SERVED = "served "
"""Before the names of holders that are processes of this server."""
ENDED = "the call has ended meanwhile"
NOT_SENT = "It was not called: who wanted it went before."
SOURCE = "mcp"


@dataclass(frozen=True, slots=True)
class ProposedCall:
    """A call as the host makes it, and what the rules say of it."""

    upstream: str
    tool: str
    args: JsonObject
    definition: JsonObject
    """As upstream lists the tool; empty where the rules need none."""
    terms: CallTerms
    conversation: str | None = None
    key: str | None = None
    """By which the host names this very call, also when it sends it again."""
    timeout: float | None = None

    @property
    def pin(self) -> str:
        return definition_digest(self.upstream, self.definition)

    @property
    def digest(self) -> str:
        return digest([self.upstream, self.tool, self.args, self.pin, self.conversation])

    def call_id(self, principal: Principal) -> str:
        if self.key is None:
            return new_id("call")
        return f"call_{digest([principal.id, self.upstream, self.tool, self.key])[:32]}"


@dataclass(frozen=True, slots=True)
class SendCall:
    """Send it: the intent is on disk."""

    call: UpstreamCall
    args: JsonObject


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """Do not send it: this is what it gave."""

    result: JsonObject


class StillRunning(Conflict):
    """The very same call is under way."""

    code = "still_running"


async def lease_of(work: Unit) -> datetime:
    """Until when a holder is believed that shows life now."""
    return await work.shared_time() + timedelta(seconds=work.core.settings.lease_seconds)


async def resume(
    core: Core, principal: Principal, proposal: ProposedCall, holder: str
) -> UpstreamCall | RecordedResult | SendCall | None:
    """What became of the same call before: one that nobody knows the end of is the caller's from now on.

    `StillRunning` where this very call, by its key, is under way. A holder that was not told is told again.
    """

    async def give_back(taken: UpstreamCall | RecordedResult | SendCall | None) -> None:
        if isinstance(taken, UpstreamCall):
            await abandon(core, taken)

    return await undo_on_cancel(_resume(core, principal, proposal, holder), give_back)


async def _resume(
    core: Core, principal: Principal, proposal: ProposedCall, holder: str
) -> UpstreamCall | RecordedResult | SendCall | None:
    async with unit(core) as work:
        own_id = proposal.call_id(principal)
        now = await work.shared_time()
        until = now + timedelta(seconds=core.settings.lease_seconds)
        for call in await work.tx.upstream_calls.same(principal.id, proposal.digest):
            if call.until <= now and await work.tx.upstream_calls.take(call, holder, until):
                return replace(call, holder=holder, until=until)
            if call.id == own_id and call.holder == holder and call.doubt_id is None:
                effect = await work.tx.effects.get(call.key)
                return None if effect is None else SendCall(call, effect.args)
            if call.id == own_id:
                raise StillRunning(f"{proposal.tool} is under way already: it was sent before, and has not ended")
        if proposal.key is None:
            return None
        thread = await outside.lock_conversation(work, principal, _ask(work.now, proposal), proposal.upstream)
        known = UpstreamCall(own_id, principal.id, thread.id, proposal.upstream, "", holder, work.now)
        effect = await work.tx.effects.get(known.key)
        return None if effect is None else RecordedResult(recorded_result(effect))


def recorded_result(effect: Effect) -> JsonObject:
    if effect.result:
        return json.loads(effect.result.partition(b"\n")[2])
    return error_result(effect.error or f"{effect.tool} did not end", "failed")


def error_result(message: str, status: str) -> JsonObject:
    """What a host is told in place of a result: nothing was done, or nobody knows."""
    return {
        "content": [{"type": "text", "text": message}],
        "isError": True,
        "resultType": "complete",
        "_meta": {"interlock/status": status},
    }


async def ask(core: Core, principal: Principal, proposal: ProposedCall, holder: str) -> HoldHandle:
    """Put the call to a person, or take over the same ask that no call waits for."""
    async with core.store.snapshot() as tx:
        person = principal.on_behalf_of or principal
        pinned = await tx.upstream_calls.pin(person.id, proposal.upstream, proposal.tool)
    bodies = {
        language: _body(proposal, language, is_changed=pinned not in (None, proposal.pin)) for language in LOCALES
    }
    body = bodies[core.settings.locale].with_translations(bodies)
    what = _ask(core.clock.now(), proposal)
    key = None if proposal.key is None else f"{proposal.upstream} {proposal.tool} {proposal.key}"
    return await holding.ask(core, principal, CallAsk(what, proposal.digest, holder, key, body))


def _ask(now: datetime, proposal: ProposedCall) -> outside.Ask:
    conversation = proposal.conversation or f"day {now.date().isoformat()}"
    return outside.Ask(
        RequestKind.APPROVAL,
        {},
        proposal.timeout,
        conversation_key=f"mcp {proposal.upstream} {conversation}",
        title=proposal.upstream,
        definition=proposal.pin,
    )


def _body(proposal: ProposedCall, language: Locale, *, is_changed: bool) -> ApprovalBody:
    description = proposal.definition.get("description")
    parts = [text("changed", language, upstream=proposal.upstream)] if is_changed else []
    parts += [description] if isinstance(description, str) else []
    risk = proposal.terms.risk
    if is_changed:
        risk = max(risk or HIGH, HIGH, key=RISK_LEVELS.index)
    title = proposal.definition.get("title")
    shown = title if isinstance(title, str) and title else proposal.tool
    body = ApprovalBody.ask(
        proposal.tool, proposal.args, description="\n\n".join(parts), risk_level=risk,
        display_name=f"{proposal.upstream}: {shown}",
    )  # fmt: skip
    schema = proposal.definition.get("inputSchema")
    return replace(body, tool_schema=schema) if isinstance(schema, dict) else body


async def begin(
    core: Core, principal: Principal, proposal: ProposedCall, holder: str, hold: HoldHandle | None
) -> SendCall:
    """Record the intent. The approval that `hold` stands for is used up in the same transaction: it starts one call."""
    return await undo_on_cancel(
        _begin(core, principal, proposal, holder, hold), lambda begun: fail_unsent(core, begun.call)
    )


async def fail_unsent(core: Core, call: UpstreamCall) -> None:
    """Its host went before it was sent. Who sends it elsewhere may come again, and is told again."""
    if call.holder.startswith(SERVED):
        await record_failure(core, call, NOT_SENT)


async def _begin(
    core: Core, principal: Principal, proposal: ProposedCall, holder: str, hold: HoldHandle | None
) -> SendCall:
    async with unit(core) as work:
        if hold is None:
            thread = await outside.lock_conversation(work, principal, _ask(work.now, proposal), proposal.upstream)
            args = proposal.args
        else:
            thread, args = await _spend(work, proposal, holder, hold)
        call = UpstreamCall(
            proposal.call_id(principal), principal.id, thread.id, proposal.upstream, proposal.digest, holder,
            await lease_of(work),
        )  # fmt: skip
        if proposal.key is not None and await work.tx.effects.get(call.key) is not None:
            raise StillRunning(f"{proposal.tool} was sent by this very call a moment ago")
        effect = Effect(
            call.key, hold.request_id if hold else "", 0, proposal.tool, plain(dict(args)),
            action_digest(proposal.tool, args), EffectState.INTENDED, proposal.terms.is_idempotent, 0,
            work.now, work.now,
        )  # fmt: skip
        await work.tx.effects.add(effect)
        await work.tx.upstream_calls.add(call)
        await work.record(thread.id, ToolStarted(call.id, proposal.tool, effect.args))
        about = {
            "tool": proposal.tool,
            "digest": effect.digest,
            "upstream": proposal.upstream,
            "definition": proposal.pin,
        }
        await audit(work, "effect.intended", call, about)
    # What waits for it to be left has to look earlier than it would.
    core.deadline_set.set()
    failpoints.hit("effect.intended")
    return SendCall(call, args)


async def _spend(work: Unit, proposal: ProposedCall, holder: str, hold: HoldHandle) -> tuple[Thread, JsonObject]:
    """The conversation and the arguments of a yes, which is gone with it."""
    if not hold.is_active or not await work.tx.holds.end(hold.request_id, holder):
        raise TakenOver("the answer was for another call: call the tool again to ask anew")
    request = await work.tx.requests.get(hold.request_id)
    thread = await work.tx.threads.lock(request.thread_id) if request else None
    answer = (await work.tx.answers.of_requests([hold.request_id])).get(hold.request_id)
    value = answer.value if answer else None
    if request is None or thread is None or request.status is not RequestStatus.ANSWERED:
        raise Forbidden("nobody approved this call")
    if not isinstance(request.body, ApprovalBody) or not isinstance(value, ApprovalAnswer) or not value.runs:
        raise Forbidden("nobody approved this call")
    await work.tx.upstream_calls.set_pin(ToolPin(thread.owner_id, proposal.upstream, proposal.tool, proposal.pin))
    return thread, request.body.args if value.args is None else value.args


async def wait_for_host(core: Core, call: UpstreamCall) -> None:
    """Upstream asks the host for something before it goes on: the host sends the call once more, with that."""
    async with unit(core) as work:
        await work.tx.effects.change(call.key, EffectState.WAITING, work.now)
        await work.tx.upstream_calls.end(call.id)


async def continue_call(
    core: Core, principal: Principal, proposal: ProposedCall, holder: str, before: tuple[str, str]
) -> SendCall:
    """The same call with what upstream asked for; `before` is its id and its conversation. Nobody is asked again."""

    async def give_back(begun: SendCall) -> None:
        if holder.startswith(SERVED):
            await wait_for_host(core, begun.call)

    return await undo_on_cancel(_continue_call(core, principal, proposal, holder, before), give_back)


async def _continue_call(
    core: Core, principal: Principal, proposal: ProposedCall, holder: str, before: tuple[str, str]
) -> SendCall:
    call_id, thread_id = before
    async with unit(core) as work:
        call = UpstreamCall(
            call_id, principal.id, thread_id, proposal.upstream, proposal.digest, holder, await lease_of(work)
        )
        thread = await work.tx.threads.lock(thread_id)
        effect = await work.tx.effects.get(call.key)
        if thread is None or thread.asker_id != principal.id or effect is None or effect.tool != proposal.tool:
            raise Forbidden("requestState is of another call, or of another caller")
        request = await work.tx.requests.get(effect.run_id) if effect.run_id else None
        args_as_asked = request.body.args if request and isinstance(request.body, ApprovalBody) else effect.args
        if args_as_asked != proposal.args:
            raise Forbidden("the arguments are not those that the call began with")
        if effect.state is not EffectState.WAITING or not await work.tx.effects.change(
            call.key, EffectState.INTENDED, work.now, epoch=effect.epoch + 1
        ):
            raise TakenOver("this requestState was used before")
        await work.tx.upstream_calls.add(call)
        await audit(work, "effect.intended", call, {"tool": effect.tool, "digest": effect.digest})
    failpoints.hit("effect.intended")
    return SendCall(call, effect.args)


async def set_pin(core: Core, principal: Principal, proposal: ProposedCall) -> None:
    """A person approved a call of the tool as it was then."""
    person = principal.on_behalf_of or principal
    async with unit(core) as work:
        await work.tx.upstream_calls.set_pin(ToolPin(person.id, proposal.upstream, proposal.tool, proposal.pin))


async def renew(core: Core, call: UpstreamCall) -> None:
    """The holder is alive; `TakenOver` when another one has the call."""
    async with unit(core) as work:
        if not await work.tx.upstream_calls.renew(call.id, call.holder, await lease_of(work)):
            raise TakenOver("another call waits for this one's end now")


async def abandon(core: Core, call: UpstreamCall) -> None:
    """The holder waits no longer."""
    async with unit(core) as work:
        await work.tx.upstream_calls.renew(call.id, call.holder, await work.shared_time())


async def record_result(core: Core, call: UpstreamCall, result: Mapping[str, JsonValue], output: str) -> None:
    """It gave this, be it an error that the tool itself reports."""
    failpoints.hit("effect.returned")
    is_error = result.get("isError") is True
    async with unit(core) as work:
        await end(work, call, EffectState.DONE, "failed" if is_error else "success", output, result)
    failpoints.hit("effect.done")


async def record_failure(core: Core, call: UpstreamCall, error: str) -> None:
    """It was not done: upstream refused it, or was never reached."""
    async with unit(core) as work:
        await end(work, call, EffectState.FAILED, "failed", error)


async def end(
    work: Unit,
    call: UpstreamCall,
    state: EffectState,
    status: ToolStatus,
    output: str,
    result: Mapping[str, JsonValue] | None = None,
) -> None:
    """Write how it ended, in the caller's transaction. Where its conversation was deleted there is nothing to write."""
    # First, as whoever begins a call does: in another order the two would wait for each other.
    await work.tx.threads.lock(call.thread_id)
    known = await work.tx.upstream_calls.get(call.id)
    await work.tx.upstream_calls.end(call.id)
    effect = await work.tx.effects.get(call.key)
    content = None if result is None else b"json\n" + json_text(result).encode()
    error = output if state is EffectState.FAILED else None
    if effect is None or not await work.tx.effects.change(call.key, state, work.now, result=content, error=error):
        return
    await audit(work, f"effect.{state}", call, {"tool": effect.tool})
    await work.record(call.thread_id, ToolEnded(call.id, effect.tool, output[:OUTPUT_SHOWN], status))
    if known is not None and known.doubt_id is not None:
        await _withdraw(work, known.doubt_id)


async def _withdraw(work: Unit, request_id: str) -> None:
    """Nobody has to say any more what became of it."""
    request: Request | None = await work.tx.requests.get(request_id)
    if request is not None and request.status is RequestStatus.PENDING:
        try:
            await settle_one(work, Sender(SYSTEM, SOURCE), Reply(request_id, None, ENDED))
        except AlreadySettled:
            return


async def audit(work: Unit, action: str, call: UpstreamCall, data: JsonObject) -> None:
    entry: JsonObject = {"task_id": call.key.task_id, "call_id": call.id, **data}
    await work.tx.audit.append(call.thread_id, SYSTEM, action, entry, work.now)
