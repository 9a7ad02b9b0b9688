"""Effects in doubt: put to a person before anything else is sent to the graph, and acted on when they have answered.

Asking outside of the graph keeps LangGraph's positional answers out of it: a question raised inside the task would be
handed the answer that the interrupted tool itself was given.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.checkpoint.serde.base import SerializerProtocol

from interlock.domain.canonical import canonical_json
from interlock.domain.effect import SKIPPED, SKIPPED_TEXT, EffectKey
from interlock.domain.errors import InvalidAnswer
from interlock.domain.event import Event
from interlock.domain.form import EffectInDoubt, Form
from interlock.domain.kinds import DecisionAnswer, DecisionBody, Value
from interlock.domain.request import Answer, PauseOrigin, Request
from interlock.domain.thread import Lease
from interlock.runners.replies import given_result
from interlock.services.core import Core
from interlock.services.requests.opening import NewRequest
from interlock.services.runs.effects import Doubt, find_doubtful, resolve_doubt
from interlock.services.runs.lifecycle import RunLog, SettledPause
from interlock.texts import LOCALES, Locale
from interlock.texts import doubts_text as text

MOST_SHOWN = 20
"""How many of the calls inside an effect in doubt are named."""


async def settle_and_find(
    core: Core, lease: Lease, log: RunLog, settled: Sequence[SettledPause], serde: SerializerProtocol
) -> list[Doubt]:
    """Act on what people said of effects in doubt, then give what is still, or newly, to be asked.

    Only called when effects are open: after a clean end there are none.
    """
    for pause in settled:
        if pause.pause.origin is PauseOrigin.EFFECT:
            for request in pause.requests:
                log.mark_recorded(await _resolve(core, lease, request, pause.answers.get(request.id), serde))
    return await find_doubtful(core, lease, log)


async def _resolve(
    core: Core, lease: Lease, request: Request, answer: Answer | None, serde: SerializerProtocol
) -> list[Event]:
    effect = _effect(request)
    key = EffectKey(lease.thread_id, effect.task_id, effect.call_id)
    value = answer.value if answer else None
    if isinstance(value, DecisionAnswer) and value.decision == "retry":
        return await resolve_doubt(core, lease, key, effect.epoch, result=None, output="")
    took_effect, result = _outcome(effect, value)
    if answer is None:
        result += " Nobody said what to do about it."
    output = result if key.is_tool_call else ""
    if key.is_tool_call:
        status = "success" if took_effect else "error"
        result = ToolMessage(result, name=effect.tool, tool_call_id=key.tool_call_id, status=status)
    kind, data = serde.dumps_typed(result)
    content = kind.encode() + b"\n" + data if took_effect or key.is_tool_call else SKIPPED
    return await resolve_doubt(core, lease, key, effect.epoch, result=content, output=output, took_effect=took_effect)


def _effect(request: Request) -> EffectInDoubt:
    assert request.form is not None
    assert isinstance(request.form.shape, EffectInDoubt)
    return request.form.shape


def _outcome(effect: EffectInDoubt, value: Value | None) -> tuple[bool, Any]:
    """Whether the effect took effect, and what it gave."""
    with suppress(InvalidAnswer):  # an earlier version took a no as a text, which code takes for a yes
        if isinstance(value, DecisionAnswer) and value.decision == "done":
            return True, given_result(effect, value)
    return False, SKIPPED_TEXT


@dataclass(frozen=True, slots=True)
class UnsentInput:
    """What the graph is given when the doubt is settled: a message, or what that run was started with."""

    text: str | None = None
    run_id: str | None = None


_STYLES = {"retry": "danger", "skip": "default", "done": "primary"}


def new_request(doubt: Doubt, locale: Locale, unsent: UnsentInput) -> NewRequest:
    effect = doubt.effect
    bodies = {language: _body(doubt, language) for language in LOCALES}
    body = bodies[locale].with_translations(bodies)
    key = effect.key
    form = Form(EffectInDoubt(key.task_id, key.call_id, effect.epoch, effect.tool, unsent.text, unsent.run_id))
    call_id = effect.key.tool_call_id if effect.key.is_tool_call else None
    return NewRequest(body, form=form, call_id=call_id)


def _body(doubt: Doubt, language: Locale) -> DecisionBody:
    effect = doubt.effect
    lost = [text("lost", language, call=f"{one.tool} {canonical_json(one.args)}") for one in doubt.lost[-MOST_SHOWN:]]
    labels = {key: text(key, language) for key in _STYLES}
    if not effect.key.is_tool_call:
        labels["done"] = text("done_code", language)
    return DecisionBody.ask(
        text("title", language, tool=effect.tool),
        [{"key": key, "label": labels[key], "style": style} for key, style in _STYLES.items()],
        description="\n".join([f"{effect.tool} {canonical_json(effect.args)}", *lost]),
        risks=[text("risk", language)],
        decision_type="effect_in_doubt",
    )
