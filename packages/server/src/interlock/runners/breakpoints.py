"""A graph that was compiled to stop before or after a node: may it go on?"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, ToolMessage

from interlock.agents.breakpoints import Breakpoint, NextNode
from interlock.domain.canonical import action_digest, plain
from interlock.domain.form import Form, StoppedGraph
from interlock.domain.json_value import JsonObject
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody
from interlock.domain.redaction import Redaction
from interlock.domain.request import Request
from interlock.runners.transcript import messages_in
from interlock.services.requests.opening import NewRequest
from interlock.services.runs.lifecycle import SettledPause
from interlock.texts import LOCALES, Locale
from interlock.texts import breakpoints_text as text


def new_request(stop: Breakpoint, locale: Locale, redact: Redaction) -> NewRequest:
    """Show what would run: the calls that the nodes would make, and what they were sent."""
    name = next((due.node for due in stop.due), "") or next(iter((*stop.after, *reversed(stop.path))), "graph")
    args = _args(stop.due, redact)
    bodies = {language: _body(stop, name, args, language) for language in LOCALES}
    body = bodies[locale].with_translations(bodies)
    return NewRequest(body, form=Form(StoppedGraph(stop.checkpoint)), digest=action_digest(name, args))


def _body(stop: Breakpoint, name: str, args: JsonObject, language: Locale) -> ApprovalBody:
    shape = "before" if not stop.after else "after" if stop.due else "end"
    graph = text("inner", language, path=" / ".join(stop.path)) if stop.path else text("graph", language)
    due, after = (", ".join(dict.fromkeys(names)) for names in ([one.node for one in stop.due], stop.after))
    description = text(shape, language, graph=graph, due=due, after=after)
    return ApprovalBody.ask(name, args, description=description, allow_remember=False, allowed=["accept", "reject"])


def _args(due: Sequence[NextNode], redact: Redaction) -> JsonObject:
    calls = [call for one in due for call in _calls(one.given)]
    sent = [redact.within(plain(one.given)) for one in due if one.is_sent and not _calls(one.given)]
    # Nodes side by side see the same calls in the state.
    once = [call for at, call in enumerate(calls) if call not in calls[:at]]
    return {**({"calls": once} if once else {}), **({"inputs": sent} if sent else {})}


def _calls(given: Any) -> list[JsonObject]:
    """The tool calls without a result in what a node would be given: in its state, or by themselves."""
    alone = [cast("Mapping[str, Any]", given).get("tool_call")] if isinstance(given, Mapping) else given
    sent = [one for one in cast("list[Any]", alone) if _is_call(one)] if isinstance(alone, list) else []
    return [
        {key: plain(call[key]) for key in ("id", "name", "args") if key in call} for call in sent or _open_calls(given)
    ]


def _is_call(one: Any) -> bool:
    return isinstance(one, Mapping) and {"name", "args"} <= cast("Mapping[str, Any]", one).keys()


def _open_calls(given: Any) -> list[Any]:
    messages = messages_in({"messages": given} if isinstance(given, list) else given)
    last = next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)
    answered = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    return [call for call in last.tool_calls if call["id"] not in answered] if last else []


def _requests(pauses: Iterable[SettledPause]) -> list[tuple[SettledPause, Request, str]]:
    """With the checkpoint at which the graph stopped."""
    return [
        (pause, one, one.form.shape.checkpoint)
        for pause in pauses
        for one in pause.requests
        if one.form and isinstance(one.form.shape, StoppedGraph)
    ]


def _is_allowed(pause: SettledPause, request: Request) -> bool:
    answer = pause.answers.get(request.id)
    return answer is not None and isinstance(answer.value, ApprovalAnswer) and answer.value.decision == "accept"


def allowed_checkpoints(pauses: Iterable[SettledPause]) -> set[str]:
    """The checkpoints from which a person let a graph go on."""
    return {checkpoint for pause, request, checkpoint in _requests(pauses) if _is_allowed(pause, request)}


def is_refused(pauses: Iterable[SettledPause]) -> bool:
    return any(not _is_allowed(pause, request) for pause, request, _ in _requests(pauses))


def still_needed(pauses: Iterable[SettledPause], left: Collection[str]) -> set[str]:
    """The pauses that let a graph go on which may stand where it stood."""
    return {pause.pause.id for pause, _, checkpoint in _requests(pauses) if checkpoint not in left}
