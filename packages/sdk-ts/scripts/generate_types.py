"""Writes src/wire.ts and src/inbox.ts from the wire models.

`.venv/bin/python packages/sdk-ts/scripts/generate_types.py`
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard, TypeVar, cast, get_args

from pydantic import BaseModel

from interlock_client import (
    account,
    audit,
    base,
    channels,
    confirm,
    hitl,
    inbox,
    manage,
    policy,
    sessions,
    teams,
    threads,
    webhooks,
)
from interlock_client.base import ClientModel, ServerModel

SOURCES = Path(__file__).parents[1] / "src"
Aliases = Mapping[str, Any]
"""Sets of words that have a name: wherever one is used, its name stands for it."""
FACES: Aliases = {
    "ThreadState": threads.Status,
    "RequestKind": base.Kind,
    "RequestType": hitl.RequestType,
    "RequestStatus": base.RequestStatus,
    "Risk": base.Risk,
    "ResponseType": sessions.ResponseType,
    "ResponseStatus": sessions.ResponseStatus,
    "SessionState": sessions.SessionState,
    "KeyRole": manage.KeyRole,
    "PersonRole": account.PersonRole,
    "Ruling": policy.Ruling,
    "Because": policy.Because,
    "WebhookEvent": webhooks.Event,
    "DeliveryStatus": webhooks.Status,
    "AnswerOutcome": channels.AnswerOutcome,
    "ChannelShows": channels.Shows,
    "ChannelCeiling": channels.Ceiling,
    "FieldType": channels.FieldType,
    "LinkedBy": channels.LinkedBy,
}
INBOX: Aliases = {
    "Kind": base.Kind,
    "Risk": base.Risk,
    "RequestStatus": base.RequestStatus,
    "Outcome": inbox.Outcome,
    "ResultStatus": inbox.ResultStatus,
    "ConversationState": inbox.ConversationState,
}
TARGETS: Mapping[str, tuple[Aliases, Sequence[ModuleType]]] = {
    "wire.ts": (FACES, (threads, hitl, sessions, confirm, manage, account, audit, policy, webhooks, channels)),
    # Apart, because some have the name of another face's.
    "inbox.ts": (INBOX, (inbox, teams)),
}
PLAIN: Mapping[str | None, str] = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    None: "unknown",
}
HEADER = """\
// Generated from the wire models by scripts/generate_types.py: change those, and run it again.
//
// Fields have the names of the wire. Moments are texts in ISO 8601.
"""

Schema = Mapping[str, Any]


def generate(target: str) -> str:
    """The whole file."""
    aliases, modules = TARGETS[target]
    enums = [enum for module in modules for enum in _classes_of(module, StrEnum)]
    models = [model for module in modules for model in _classes_of(module, BaseModel)]
    names = [*aliases, *(one.__name__ for one in (*enums, *models))]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two wire models have one name: {', '.join(twice)}")
    parts = [HEADER, *(_alias(name, literal) for name, literal in aliases.items())]
    return "\n".join([*parts, *(_constants(enum) for enum in enums), *(_interface(model, aliases) for model in models)])


C = TypeVar("C")


def _classes_of(module: ModuleType, kind: type[C]) -> Iterator[type[C]]:
    """In the order in which the module defines them."""
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, kind) and value.__module__ == module.__name__:
            yield value


def _alias(name: str, literal: Any) -> str:
    return f"export type {name} = {' | '.join(json.dumps(value) for value in get_args(literal))};\n"


def _constants(enum: type[StrEnum]) -> str:
    name = enum.__name__
    rows = "".join(f"  {member}: {json.dumps(str(value))},\n" for member, value in enum.__members__.items())
    values = f"export const {name} = {{\n{rows}}} as const;\n"
    return f"{_comment(enum.__doc__)}{values}export type {name} = (typeof {name})[keyof typeof {name}];\n"


def _interface(model: type[BaseModel], aliases: Aliases) -> str:
    parent = next((base for base in model.__mro__[1:] if _is_wire(base)), None)
    inherited = parent.model_fields if parent else {}
    schema = model.model_json_schema(ref_template="{model}")
    properties: Mapping[str, Schema] = schema.get("properties", {})
    parameters = [str(one) for one in cast("Any", model).__pydantic_generic_metadata__["parameters"]]
    open_to_more = "  [name: string]: unknown;\n" if schema.get("additionalProperties") is True else ""
    rows = "".join(_field(model, name, field, aliases) for name, field in properties.items() if name not in inherited)
    generic = "<T>" if parameters else ""
    extends = f" extends {parent.__name__}" if parent else ""
    # A docstring that is inherited says nothing of this model.
    comment = _comment(model.__doc__ if "__doc__" in vars(model) else None)
    return f"{comment}export interface {model.__name__}{generic}{extends} {{\n{rows}{open_to_more}}}\n"


def _is_wire(base: type) -> TypeGuard[type[BaseModel]]:
    return (
        issubclass(base, BaseModel) and base not in (BaseModel, ClientModel, ServerModel) and "[" not in base.__name__
    )


def _field(model: type[BaseModel], name: str, schema: Schema, aliases: Aliases) -> str:
    # A word of Python has another name there.
    field = model.model_fields.get(name) or model.model_fields[f"{name}_"]
    optional = not field.is_required()
    if issubclass(model, ServerModel):
        # What the server says is said, but for what is only there at times.
        optional = optional and field.default is None
    kind = "T" if isinstance(field.annotation, TypeVar) else _type(schema, aliases)
    return f"{_comment(schema.get('description'), '  ')}  {name}{'?' if optional else ''}: {kind};\n"


def _type(schema: Schema, aliases: Aliases) -> str:
    if "$ref" in schema:
        return str(schema["$ref"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return _words(schema["enum"], aliases)
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(one, aliases) for one in schema["anyOf"]))
    return _plain(schema, aliases)


def _plain(schema: Schema, aliases: Aliases) -> str:
    kind = schema.get("type")
    if kind == "array":
        inner = _type(schema.get("items", {}), aliases)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if kind == "object":
        values = schema.get("additionalProperties", True)
        return f"Record<string, {'unknown' if values is True else _type(values, aliases)}>"
    return PLAIN[kind]


def _words(values: list[str], aliases: Aliases) -> str:
    named = (name for name, literal in aliases.items() if list(get_args(literal)) == values)
    return next(named, " | ".join(json.dumps(value) for value in values))


def _comment(text: str | None, indent: str = "") -> str:
    return f"{indent}/** {' '.join(text.split())} */\n" if text else ""


if __name__ == "__main__":
    for file in TARGETS:
        (SOURCES / file).write_text(generate(file))
