"""Effects in doubt: put to a person before anything else is sent to the graph, and acted on when they have answered.

Asking outside of the graph keeps LangGraph's positional answers out of it: a question raised inside the task would be
handed the answer that the interrupted tool itself was given.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.checkpoint.serde.base import SerializerProtocol

from interlock.domain import asks
from interlock.domain.canonical import canonical_json
from interlock.domain.effect import Effect, EffectKey
from interlock.domain.event import Event
from interlock.domain.request import Answer, PauseOrigin, Request, RequestKind
from interlock.domain.thread import Lease
from interlock.domain.translation import in_all
from interlock.services.core import Core
from interlock.services.effects import find_doubtful, resolve_doubt
from interlock.services.requesting import Asked
from interlock.services.run_log import RunLog
from interlock.services.running import SettledPause

UNSENT = "unsent"
"""The key under which a request keeps the message that waits until the doubt is settled."""


async def settle_and_find(
    core: Core, lease: Lease, log: RunLog, settled: Sequence[SettledPause], serde: SerializerProtocol
) -> list[Asked]:
    """Act on what people said of effects in doubt, then give what is still, or newly, to be asked.

    Only called when effects are open: after a clean end there are none.
    """
    for pause in settled:
        if pause.pause.origin is PauseOrigin.EFFECT:
            for request in pause.requests:
                log.recorded(await _resolve(core, lease, request, pause.answers.get(request.id), serde))
    return [_asked(effect, core.policy.locale) for effect in await find_doubtful(core, lease)]


async def _resolve(
    core: Core, lease: Lease, request: Request, answer: Answer | None, serde: SerializerProtocol
) -> list[Event]:
    key = EffectKey(lease.thread_id, request.form["task_id"], request.form["call_id"])
    epoch: int = request.form["epoch"]
    value: Mapping[str, Any] = answer.value if answer else {"decision": "skip"}
    if value["decision"] == "retry":
        return await resolve_doubt(core, lease, key, epoch, result=None, output="")
    if value["decision"] == "done":
        text, status = value.get("reason") or "done", "success"
    else:
        text, status = "Skipped: it was cut short by a crash, and whether it took effect is not known.", "error"
        if answer is None:
            text += " Nobody said what to do about it."
    result: Any = text
    if key.is_tool_call:
        result = ToolMessage(text, name=request.form["tool"], tool_call_id=key.call_id, status=status)
    kind, data = serde.dumps_typed(result)
    packed = kind.encode() + b"\n" + data
    return await resolve_doubt(core, lease, key, epoch, result=packed, output=text, took_effect=status == "success")


_TEXTS = {
    "en": {
        "title": "{tool} was cut short: did it take effect?",
        "retry": "Run it again",
        "skip": "Do not run it again",
        "done": "It took effect (say the result as the reason)",
        "risk": "Running it again may do it twice.",
    },
    "zh": {
        "title": "{tool} 执行中断，无法确定是否已生效，如何处理？",
        "retry": "重新执行",
        "skip": "不再执行",
        "done": "已经生效（请在理由中填写结果）",
        "risk": "重新执行可能导致重复操作。",
    },
}
_STYLES = {"retry": "danger", "skip": "default", "done": "primary"}


def _asked(effect: Effect, locale: str) -> Asked:
    body = in_all({language: _said(effect, texts) for language, texts in _TEXTS.items()}, locale)
    form = {
        "shape": "effect",
        "task_id": effect.key.task_id,
        "call_id": effect.key.call_id,
        "epoch": effect.epoch,
        "tool": effect.tool,
    }
    call_id = effect.key.call_id if effect.key.is_tool_call else None
    return Asked(RequestKind.DECISION, body, form=form, call_id=call_id)


def _said(effect: Effect, texts: Mapping[str, str]) -> dict[str, Any]:
    return asks.decision(
        texts["title"].format(tool=effect.tool),
        [{"key": key, "label": texts[key], "style": style} for key, style in _STYLES.items()],
        description=f"{effect.tool} {canonical_json(effect.args)}",
        risks=[texts["risk"]],
        decision_type="effect_in_doubt",
    )
