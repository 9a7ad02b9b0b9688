"""Calls whose end nobody knows: put to a person, and acted on by the call that waits for their word."""

from datetime import datetime

from interlock.domain.canonical import canonical_json
from interlock.domain.effect import SKIPPED_TEXT, Effect, EffectState
from interlock.domain.errors import Forbidden, TakenOver
from interlock.domain.gateway import UpstreamCall
from interlock.domain.hold import ORPHANS_KEPT
from interlock.domain.json_value import JsonObject
from interlock.domain.kinds import DecisionAnswer, DecisionBody, Value
from interlock.domain.request import RequestEnd, RequestStatus
from interlock.domain.thread import Thread
from interlock.services.core import Core, Unit, shared_time, undo_on_cancel, unit
from interlock.services.gateway import calls
from interlock.services.gateway.calls import SERVED, RecordedResult
from interlock.services.requests import outside
from interlock.services.requests.opening import NewRequest
from interlock.texts import LOCALES, Locale
from interlock.texts import doubts_text as text

CUT_SHORT = "It was cut short, and may be sent again."
LOST_AT_ONCE = 100
_STYLES = {"retry": "danger", "skip": "default", "done": "primary"}


async def doubt(core: Core, call: UpstreamCall) -> str | None:
    """Ask a person what became of the call, unless that was asked; None where it may simply be sent again."""
    async with unit(core) as work:
        return await _doubt(work, call)


async def _doubt(work: Unit, call: UpstreamCall) -> str | None:
    known = await work.tx.upstream_calls.get(call.id)
    if known is not None and known.doubt_id is not None:
        return known.doubt_id
    thread = await work.tx.threads.lock(call.thread_id)
    effect = await work.tx.effects.get(call.key)
    if known is None or thread is None or effect is None:
        raise Forbidden("the conversation of this call was deleted: what became of it is not known")
    if effect.idempotent:
        return None
    await work.tx.effects.change(call.key, EffectState.IN_DOUBT, work.now)
    await calls.audit(work, "effect.in_doubt", call, {"tool": effect.tool})
    bodies = {language: _body(call, effect, language) for language in LOCALES}
    body = bodies[work.core.settings.locale].with_translations(bodies)
    asked = await outside.ask_on(work, thread, NewRequest(body))
    await work.tx.upstream_calls.doubt(call.id, asked.request.id)
    return asked.request.id


def _body(call: UpstreamCall, effect: Effect, language: Locale) -> DecisionBody:
    return DecisionBody.ask(
        text("title", language, tool=f"{call.upstream}: {effect.tool}"),
        [{"key": key, "label": text(key, language), "style": style} for key, style in _STYLES.items()],
        description=f"{effect.tool} {canonical_json(effect.args)}",
        risks=[text("risk", language)],
        decision_type="effect_in_doubt",
    )


async def resend(core: Core, call: UpstreamCall) -> JsonObject:
    """The call may be sent once more, with these arguments: a person said so, or it is idempotent."""

    async def send_again() -> JsonObject:
        async with unit(core) as work:
            return await _resend(work, call)

    return await undo_on_cancel(send_again(), lambda _: calls.fail_unsent(core, call))


async def _resend(work: Unit, call: UpstreamCall) -> JsonObject:
    until = await calls.lease_of(work)
    effect = await work.tx.effects.get(call.key)
    if effect is None or not await work.tx.upstream_calls.renew(call.id, call.holder, until):
        raise TakenOver("another call has this one by now")
    await work.tx.effects.change(call.key, EffectState.INTENDED, work.now, epoch=effect.epoch + 1)
    await calls.audit(work, "effect.intended", call, {"tool": effect.tool, "digest": effect.digest})
    return effect.args


async def resolve(core: Core, call: UpstreamCall, value: Value | None) -> JsonObject | RecordedResult:
    """What a person said of it; None: nobody did. The arguments to send it with once more, or what it gave."""

    async def stop(outcome: JsonObject | RecordedResult) -> None:
        if not isinstance(outcome, RecordedResult):
            await calls.fail_unsent(core, call)

    return await undo_on_cancel(_resolve(core, call, value), stop)


async def _resolve(core: Core, call: UpstreamCall, value: Value | None) -> JsonObject | RecordedResult:
    async with unit(core) as work:
        await work.tx.threads.lock(call.thread_id)
        if not await work.tx.upstream_calls.renew(call.id, call.holder, await calls.lease_of(work)):
            raise TakenOver("another call waits for this one's end now")
        if isinstance(value, DecisionAnswer) and value.decision == "retry":
            await _retry(work, call)
            return await _resend(work, call)
        return await _close(work, call, value)


async def _retry(work: Unit, call: UpstreamCall) -> None:
    await work.tx.effects.change(call.key, EffectState.RETRY, work.now)
    await calls.audit(work, "effect.retry", call, {})
    await work.tx.upstream_calls.doubt(call.id, None)


async def _close(work: Unit, call: UpstreamCall, value: Value | None) -> RecordedResult:
    if isinstance(value, DecisionAnswer) and value.decision == "done":
        result: JsonObject = {"content": [{"type": "text", "text": value.reason or "It took effect."}]}
        result |= {"isError": False, "resultType": "complete", "_meta": {"interlock/status": "done"}}
    else:
        unsaid = "" if isinstance(value, DecisionAnswer) else " Nobody said what to do about it."
        result = calls.error_result(SKIPPED_TEXT + unsaid, "skipped")
    await calls.end(
        work,
        call,
        EffectState.DONE,
        "refused" if result["isError"] else "success",
        result["content"][0]["text"],
        result,
    )
    return RecordedResult(result)


async def ask_about_lost(core: Core) -> None:
    """Ask people about calls whose holder is gone, and end those that were spoken of and that nobody came back for."""
    async with core.store.snapshot() as tx:
        left = await tx.upstream_calls.list_expired(await shared_time(core, tx), LOST_AT_ONCE)
    for call in left:
        async with unit(core) as work:
            thread = await work.tx.threads.lock(call.thread_id)
            if await work.tx.upstream_calls.take(call, call.holder, call.until):
                await _ask_about(work, call, thread)


async def _ask_about(work: Unit, call: UpstreamCall, thread: Thread | None) -> None:
    if call.doubt_id is None:
        if thread is None:
            await work.tx.upstream_calls.end(call.id)
        elif await _doubt(work, call) is None:
            await calls.end(work, call, EffectState.FAILED, "failed", CUT_SHORT)
        return
    request = await work.tx.requests.get(call.doubt_id)
    answer = (await work.tx.answers.of_requests([call.doubt_id])).get(call.doubt_id)
    ended_at = RequestEnd.of(request, answer).at if request else None
    if request is not None and (request.status is RequestStatus.PENDING or _may_be_collected(work, ended_at)):
        return
    value = answer.value if answer else None
    if isinstance(value, DecisionAnswer) and value.decision == "retry":
        # Nobody came back for it, and nothing runs that nobody waits for.
        await _retry(work, call)
        await work.tx.upstream_calls.end(call.id)
    else:
        await _close(work, call, value)


def _may_be_collected(work: Unit, ended_at: datetime | None) -> bool:
    """Whether somebody may still come for the answer."""
    return ended_at is not None and work.now - ended_at < ORPHANS_KEPT


async def take_over(core: Core) -> None:
    """At the start of the only server of a data folder: what its processes held is left."""
    if not core.settings.several_servers:
        async with unit(core) as work:
            await work.tx.upstream_calls.leave_all(SERVED, await work.shared_time())
