"""From the value of a LangGraph interrupt to what a person is asked. `replies` is the way back.

{interlock: {...}}                     one of Interlock's own asks
{action_requests, review_configs}      LangChain's HITLRequest: one approval per action
{type: "tool_approval", ...}           LangChain's approval of one call
{action_request, config, ...}          the older HumanInterrupt, one or a list
anything with a response_schema        a question per field of the schema
anything else                          a clarification that shows the value, and takes any JSON

Whatever else a value holds is shown too, as `details`.
"""

import platform
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from langchain_core.messages import AIMessage
from langgraph.types import Interrupt

from interlock.agents import previews
from interlock.agents.ask_record import ASK
from interlock.domain.canonical import action_digest, plain
from interlock.domain.errors import InvalidInput
from interlock.domain.form import Form, FreeInterrupt, HitlAction, HumanInterrupt, OwnAsk, ToolApproval
from interlock.domain.json_value import ABSENT, JsonObject
from interlock.domain.kinds import ApprovalBody, ClarificationBody, RequestKind, body_from_json
from interlock.domain.kinds.interrupt_value import InterruptParts, details_of
from interlock.domain.preview import FilePreview, FileSnapshot, NoPreview, Redact, as_body
from interlock.runners import schemas
from interlock.runners.graph_state import PendingInterrupt
from interlock.runners.loading import HostedAgent
from interlock.services.requests.opening import NewRequest

LANGCHAIN_DECISIONS = {"approve": "accept", "edit": "edit", "reject": "reject", "respond": "response"}
HUMAN_DECISIONS = {
    "allow_accept": "accept",
    "allow_edit": "edit",
    "allow_respond": "response",
    "allow_ignore": "reject",
}
_ACTION = ("name", "args", "description")
_CONFIG = ("action_name", "allowed_decisions")


_OWN = ("kind", "body", "timeout", "call_id", "definition")
"""What an ask of Interlock's own says."""


def read(
    interrupt: Interrupt[Any], messages: Sequence[Any], call_messages: Sequence[Any] | None = None
) -> list[NewRequest]:
    """What an interrupt asks. `call_messages` are those with the tool calls, where they are others than `messages`.

    A value that only looks like one of the known forms is shown as it is, like any other.
    """
    try:
        requests = _read(interrupt, messages if call_messages is None else call_messages)
    except (InvalidInput, LookupError, TypeError, ValueError, AttributeError):
        requests = []
    requests = requests or [_free_request(interrupt.id, interrupt.value)]
    message = _last_message(messages)
    return [replace(one, message_id=message.id if message else None) for one in requests]


def _read(interrupt: Interrupt[Any], messages: Sequence[Any]) -> list[NewRequest]:
    value = interrupt.value
    if isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        if ASK in given:
            return [_own(interrupt.id, given)]
        if isinstance(given.get("action_requests"), list) and "review_configs" in given:
            return _hitl_request(interrupt.id, given, messages)
        if given.get("type") == "tool_approval":
            return [_tool_approval(interrupt, given)]
    humans = _human_interrupts(value)
    if humans:
        is_list = isinstance(value, list)
        return [_human_interrupt(interrupt.id, one, index, listed=is_list) for index, one in enumerate(humans)]
    if isinstance(interrupt.response_schema, dict):
        return [schemas.request_of(interrupt.id, value, interrupt.response_schema)]
    return []


def _own(interrupt_id: str, value: Mapping[str, Any]) -> NewRequest:
    ask: Mapping[str, Any] = value[ASK]
    kind = RequestKind(ask["kind"])
    extra = {name: one for name, one in value.items() if name != ASK}
    extra |= {name: one for name, one in ask.items() if name not in _OWN}
    given: JsonObject = plain(ask["body"])
    body = body_from_json(kind, given)
    extra |= {name: one for name, one in given.items() if name not in body.to_json()}
    details = details_of(extra)
    return NewRequest(
        body if details is ABSENT else replace(body, details=details),
        interrupt_id,
        Form(OwnAsk()),
        call_id=ask.get("call_id"),
        digest=action_digest(body.tool_name, body.args) if isinstance(body, ApprovalBody) else None,
        definition=ask.get("definition"),
        timeout=ask.get("timeout"),
    )


def _hitl_request(interrupt_id: str, value: Mapping[str, Any], messages: Sequence[Any]) -> list[NewRequest]:
    actions: list[Mapping[str, Any]] = value["action_requests"]
    configs: list[Mapping[str, Any]] = value["review_configs"]
    calls = _open_calls(messages)
    beside = {name: one for name, one in value.items() if name not in ("action_requests", "review_configs")}
    beside |= {"review_configs": configs[len(actions) :]} if len(configs) > len(actions) else {}
    requests: list[NewRequest] = []
    for index, action in enumerate(actions):
        config: Mapping[str, Any] = configs[index] if index < len(configs) else {}
        allowed = [LANGCHAIN_DECISIONS[name] for name in config.get("allowed_decisions", LANGCHAIN_DECISIONS)]
        call_id = _take_call(calls, action["name"], action["args"])
        form = Form(HitlAction(allowed, action["name"]))
        more = beside | _remainder({"action_request": (action, _ACTION), "review_config": (config, _CONFIG)})
        requests.append(_approval(interrupt_id, action, allowed, form, call_id, more))
    return requests


def _tool_approval(interrupt: Interrupt[Any], value: Mapping[str, Any]) -> NewRequest:
    schema = interrupt.response_schema if isinstance(interrupt.response_schema, dict) else {}
    allowed = [LANGCHAIN_DECISIONS[name] for name in schemas.decision_types(schema)] or list(
        LANGCHAIN_DECISIONS.values()
    )
    form = Form(ToolApproval(allowed, value["name"], schema))
    more = {name: one for name, one in value.items() if name not in (*_ACTION, "type", "tool_call_id")}
    return _approval(interrupt.id, value, allowed, form, value["tool_call_id"], more)


def _approval(
    interrupt_id: str,
    action: Mapping[str, Any],
    allowed: Sequence[str],
    form: Form,
    call_id: str | None,
    more: Mapping[str, Any],
) -> NewRequest:
    """`more` is what the graph handed over besides, of which nothing is left out."""
    body = ApprovalBody.ask(
        action["name"], action["args"], description=str(action.get("description", "")), allowed=allowed
    )
    digest = action_digest(action["name"], action["args"])
    return NewRequest(replace(body, details=details_of(more)), interrupt_id, form, call_id=call_id, digest=digest)


def _remainder(parts: Mapping[str, tuple[Mapping[str, Any], Collection[str]]]) -> dict[str, Any]:
    """Of each part what has another name than those that are known, and shown elsewhere."""
    remainders = {
        name: {key: one for key, one in given.items() if key not in known} for name, (given, known) in parts.items()
    }
    return {name: rest for name, rest in remainders.items() if rest}


def _human_interrupts(value: Any) -> list[Mapping[str, Any]]:
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    return items if all(_is_human_interrupt(item) for item in items) else []


def _is_human_interrupt(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    given = cast("Mapping[str, Any]", value)
    action = given.get("action_request")
    return isinstance(action, Mapping) and "action" in action and isinstance(given.get("config"), Mapping)


def _human_interrupt(interrupt_id: str, value: Mapping[str, Any], index: int, *, listed: bool) -> NewRequest:
    action: Mapping[str, Any] = value["action_request"]
    allowed = [decision for key, decision in HUMAN_DECISIONS.items() if value["config"].get(key)] or ["accept"]
    form = Form(HumanInterrupt(allowed, action["action"], listed, index))
    description = str(value.get("description") or "")
    beside = {name: one for name, one in value.items() if name not in ("action_request", "config", "description")}
    if allowed == ["response"] or allowed == ["response", "reject"]:
        config = _remainder({"config": (value["config"], HUMAN_DECISIONS)})
        parts = InterruptParts.of({"description": description, **beside, "action_request": action, **config})
        return NewRequest(ClarificationBody.of_interrupt(parts), interrupt_id, form)
    args: Mapping[str, Any] = action.get("args") or {}
    body = ApprovalBody.ask(action["action"], args, description=description, allowed=allowed)
    left = _remainder({"action_request": (action, ("action", "args")), "config": (value["config"], HUMAN_DECISIONS)})
    digest = action_digest(action["action"], args)
    return NewRequest(replace(body, details=details_of(beside | left)), interrupt_id, form, digest=digest)


def _free_request(interrupt_id: str, value: Any) -> NewRequest:
    return NewRequest(ClarificationBody.of_free(value), interrupt_id, Form(FreeInterrupt()))


def _last_message(messages: Sequence[Any]) -> AIMessage | None:
    """The agent's last message: what asks now was said in it, or called by it."""
    return next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)


def _open_calls(messages: Sequence[Any]) -> list[Mapping[str, Any]]:
    message = _last_message(messages)
    return cast("list[Mapping[str, Any]]", list(message.tool_calls)) if message else []


def _take_call(calls: list[Mapping[str, Any]], name: str, args: Any) -> str | None:
    for index, call in enumerate(calls):
        if call["name"] == name and call["args"] == args:
            return cast("str | None", calls.pop(index)["id"])
    return None


async def with_preview(
    agent: HostedAgent, request: NewRequest, pending: PendingInterrupt, redact: Redact
) -> NewRequest:
    if not isinstance(request.body, ApprovalBody):
        return request
    # No graph says so of itself.
    body = replace(request.body, preview=None)
    previewer = agent.previewer(body.tool_name, pending.graph)
    if previewer is None:
        return replace(request, body=body)

    def work() -> tuple[JsonObject | None, FileSnapshot | None]:
        found = previews.compute(previewer, body.args, pending.values)
        preview = None if found is None else as_body(found, redact)
        return preview, FileSnapshot.of(found, redact, platform.node()) if isinstance(found, FilePreview) else None

    done = await previews.in_time(work)
    preview, kept = (as_body(done, redact), None) if isinstance(done, NoPreview) else done
    form = replace(request.form, file=kept) if request.form else None
    return replace(request, body=replace(body, preview=preview), form=form)
