"""From the value of a resume to replies: `{decisions: [...]}`, `[HumanResponse]`, or what the graph itself takes.

What a graph takes in a form of its own is passed on as it was sent; everything else is read here, and checked before
it counts.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from interlock.domain.errors import FieldError, InvalidAnswer
from interlock.domain.form import HitlAction, HumanInterrupt, SchemaInterrupt
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.kinds import ApprovalBody, Body, ClarificationBody, EnvVarBody, QuestionsBody, RequestKind
from interlock.domain.kinds.free_answers import read_json
from interlock.domain.request import Request
from interlock.faces.http.depth import TOO_DEEP, too_deep
from interlock.faces.langgraph.interrupts import shape_of
from interlock.services.requests.answering import Reply

HUMAN = ("accept", "edit", "response", "ignore")
Convert = Callable[[Request, Mapping[str, JsonValue]], JsonObject]
"""Arguments that were edited as texts, as the tool takes them."""


def read(requests: Sequence[Request], value: JsonValue, convert: Convert) -> list[Reply]:
    """What a value says of these requests of one interrupt, or of the first of them."""
    first = requests[0]
    humans = _human_responses(value)
    if isinstance(shape_of(first), HumanInterrupt):
        return _to_human_interrupt(requests, humans, convert)
    if isinstance(first.body, ApprovalBody):
        return _to_approvals(requests, value, humans, convert)
    if humans and len(humans) == 1 and not _is_own_form(first):
        return [_human_reply(first, humans[0], convert)]
    return [Reply(first.id, _answer_of(first, value))]


def _is_own_form(request: Request) -> bool:
    """Whether the graph takes what is sent as it is."""
    return request.is_free or isinstance(shape_of(request), SchemaInterrupt)


def _answer_of(request: Request, value: JsonValue) -> JsonObject:
    if request.is_free:
        # As JSON, whatever it is: who calls this interface sends what the graph's code compares.
        return {"answer": {"json": value}}
    shape = shape_of(request)
    if isinstance(shape, SchemaInterrupt):
        return _of_schema(request.body, shape.schema, value)
    return ROWS[request.kind](request.body, value)


def _of_schema(body: Body, schema: Mapping[str, JsonValue], value: JsonValue) -> JsonObject:
    if not isinstance(body, QuestionsBody):
        return {"answer": _text(value)}
    reference = str(schema.get("$ref", ""))
    definition: Any = schema.get("$defs", {}).get(reference.removeprefix("#/$defs/"), schema)
    properties: dict[str, Any] = definition.get("properties") or {}
    fields = _object(value)
    if unknown := fields.keys() - properties.keys():
        raise wrong("resume", "unknown", f"not asked for: {', '.join(sorted(unknown))}")
    return {"answers": [_text(fields.get(name, part.get("default"))) for name, part in properties.items()]}


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def wrong(field: str, code: str, message: str) -> InvalidAnswer:
    return InvalidAnswer(message, [FieldError(field, code, message)])


def _object(value: JsonValue) -> JsonObject:
    if not isinstance(value, dict):
        raise wrong("resume", "not_an_object", "the answer must be an object")
    return cast("JsonObject", value)


def _human_responses(value: JsonValue) -> list[JsonObject]:
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    fit = [cast("JsonObject", one) for one in items if isinstance(one, dict)]
    return fit if len(fit) == len(items) and all(one.get("type") in HUMAN for one in fit) else []


def _to_human_interrupt(requests: Sequence[Request], humans: Sequence[JsonObject], convert: Convert) -> list[Reply]:
    if not humans or len(humans) > len(requests):
        message = f"this takes {len(requests)} of {{type: {'|'.join(HUMAN)}, args}}"
        raise wrong("resume", "form", message)
    return [_human_reply(*pair, convert) for pair in zip(requests, humans, strict=False)]


def _to_approvals(
    requests: Sequence[Request], value: JsonValue, humans: Sequence[JsonObject], convert: Convert
) -> list[Reply]:
    if humans and isinstance(value, list):
        if len(humans) > 1:
            raise wrong("resume", "count", "a list of responses answers the first action: send one, or {decisions}")
        return [_human_reply(requests[0], humans[0], convert)]
    given = _object(value)
    decisions: Any = given.get("decisions")
    if decisions is None and "type" in given and not isinstance(shape_of(requests[0]), HitlAction):
        decisions = [given]
    if not isinstance(decisions, list):
        raise wrong("decisions", "missing", "the answer must be {decisions: [{type, ...}, ...]}")
    items = cast("list[Any]", decisions)
    if len(items) != len(requests):
        raise wrong("decisions", "count", f"{len(requests)} actions wait, and {len(items)} decisions were sent")
    return [_decision_reply(request, _object(one)) for request, one in zip(requests, items, strict=True)]


def _decision_reply(request: Request, given: JsonObject) -> Reply:
    match given.get("type"):
        case "approve" | "accept":
            return Reply(request.id, {"decision": "accept"})
        case "edit":
            return Reply(request.id, {"decision": "edit", "args": _edited_args(request, given)})
        case "reject" | "ignore":
            return Reply(request.id, _rejection(given.get("message")))
        case "respond" | "response":
            return Reply(request.id, {"decision": "response", "message": given.get("message")})
        case kind:
            raise wrong("decisions.type", "unknown", f"{kind!r} must be one of approve, edit, reject, respond")


def _rejection(message: JsonValue) -> JsonObject:
    return {"decision": "reject", **({"message": message} if message and isinstance(message, str) else {})}


def _edited_args(request: Request, given: JsonObject) -> JsonObject:
    spellings = [given[name] for name in ("edited_action", "editedAction") if given.get(name) is not None]
    if not spellings or any(one != spellings[0] for one in spellings):
        raise wrong("edited_action", "form", "edited_action is needed, and in one spelling only")
    action = _object(spellings[0])
    name = action.get("name", action.get("action", request.tool))
    if name != request.tool:
        raise wrong("edited_action.name", "other_tool", f"an edit keeps the tool: {request.tool}")
    return _object(action.get("args", action.get("arguments")))


def _human_reply(request: Request, given: JsonObject, convert: Convert) -> Reply:
    kind, args = given["type"], given.get("args")
    if not isinstance(request.body, ApprovalBody):
        if kind == "ignore":
            return Reply(request.id, None, reason="ignored")
        if kind != "response":
            raise wrong("resume", "not_allowed", f"{kind} is no answer to a question")
        if isinstance(shape_of(request), HumanInterrupt):
            return Reply(request.id, {"answer": args})
        return Reply(request.id, _answer_of(request, args))
    match kind:
        case "accept":
            _check_unchanged(request, args, convert)
            return Reply(request.id, {"decision": "accept"})
        case "edit":
            action = _object(args)
            if action.get("action", request.tool) != request.tool:
                raise wrong("args.action", "other_tool", f"an edit keeps the tool: {request.tool}")
            edited = convert(request, _object(action.get("args", action)))
            return Reply(request.id, {"decision": "edit", "args": edited})
        case "response" if isinstance(shape_of(request), HumanInterrupt) and request.body.takes("response"):
            return Reply(request.id, {"decision": "response", "message": args})
        case "response":
            # Agent Inbox offers "respond" wherever a refusal is allowed.
            return Reply(request.id, _rejection(args))
        case _:
            return Reply(request.id, _rejection(None))


def _check_unchanged(request: Request, args: JsonValue, convert: Convert) -> None:
    """Agent Inbox accepts with the call that its card shows, which may be of a question before."""
    assert isinstance(request.body, ApprovalBody)
    shown = cast("JsonObject", args) if isinstance(args, dict) else {}
    name, given = shown.get("action", request.tool), shown.get("args", request.body.args)
    if name != request.tool or (given != request.body.args and convert(request, _object(given)) != request.body.args):
        raise wrong(
            "args", "other_call", "this accepts another call than the one that waits: look again, or send an edit"
        )


def _clarification(_body: ClarificationBody, value: JsonValue) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {"answer": value}


def _decision(_body: Body, value: JsonValue) -> JsonObject:
    return {"decision": value} if isinstance(value, str) else _object(value)


def _questions(body: QuestionsBody, value: JsonValue) -> JsonObject:
    if isinstance(value, str) and len(body.questions) == 1:
        return {"answers": [value]}
    return {"answers": value} if isinstance(value, list) else _object(value)


def _env_var(_body: EnvVarBody, value: JsonValue) -> JsonObject:
    given = _object(value)
    if given.keys() - {"values", "save"}:
        raise wrong("resume", "form", "the answer must be {values: {NAME: value, ...}}")
    return given


def _approval(_body: ApprovalBody, value: JsonValue) -> JsonObject:
    return _object(value)


ROWS: Mapping[RequestKind, Callable[[Any, JsonValue], JsonObject]] = {
    RequestKind.APPROVAL: _approval,
    RequestKind.CLARIFICATION: _clarification,
    RequestKind.DECISION: _decision,
    RequestKind.QUESTIONS: _questions,
    RequestKind.ENV_VAR: _env_var,
}


def converter(schema_of: Callable[[Request], Mapping[str, Any] | None]) -> Convert:
    """Agent Inbox sends edited arguments as texts: as the tool's schema has them, where that says one thing only."""

    def convert(request: Request, given: Mapping[str, JsonValue]) -> JsonObject:
        before = request.body.args if isinstance(request.body, ApprovalBody) else {}
        properties: Mapping[str, Any] = (schema_of(request) or {}).get("properties") or {}
        return {name: _parse_arg(name, value, before.get(name), properties.get(name)) for name, value in given.items()}

    return convert


def _parse_arg(name: str, value: JsonValue, before: JsonValue, schema: Any) -> JsonValue:
    kind = cast("Mapping[str, Any]", schema).get("type") if isinstance(schema, Mapping) else None
    if not isinstance(value, str) or kind == "string" or (kind is None and (before is None or isinstance(before, str))):
        return value
    # The guard counted the depth of the body, and not of what is written in its texts.
    if too_deep(value):
        raise wrong(f"args.{name}", "depth", TOO_DEEP)
    try:
        return read_json(value)
    except ValueError as error:
        raise wrong(f"args.{name}", "type", f"{name} is a text that cannot be read as {kind or 'JSON'}") from error
