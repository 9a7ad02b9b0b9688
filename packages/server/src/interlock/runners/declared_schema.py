"""What an agent that runs elsewhere says of a tool's arguments, held against a person's edit of a call.

The schema comes from anybody with a key. So only those of its words count that cost nothing to hold against a value:
no pattern, no reference, and not too many alternatives. The rest of it is for people to read.
"""

from collections.abc import Mapping
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from interlock.domain.errors import FieldError, InvalidAnswer
from interlock.domain.kinds import ApprovalBody
from interlock.runners import arguments

MOST_ALTERNATIVES = 16
_PARTS = ("items", "additionalProperties")
_LISTS = ("anyOf", "oneOf", "allOf")
_BOUNDS = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
)
_WORDS = ("type", "required", "enum", "const", *_BOUNDS)


def check(body: ApprovalBody, args: Mapping[str, Any]) -> None:
    """Raise `InvalidAnswer` with every argument that the tool would not take, or that must stay as it is."""
    errors = [
        FieldError(f"args.{name}", "fixed", f"args.{name} cannot be changed: it is an object of the program that asks")
        for name in body.fixed
        if name not in args or args[name] != body.args.get(name)
    ]
    if errors:
        raise InvalidAnswer("; ".join(error.message for error in errors), errors)
    if schema := _schema(body.tool_schema):
        arguments.check([_but_for_what_stays(schema, body.args, args)], args)


def _but_for_what_stays(schema: dict[str, Any], asked: Mapping[str, Any], args: Mapping[str, Any]) -> dict[str, Any]:
    """The program itself called it with these: whatever its schema says, they are none of the edit."""
    properties: Mapping[str, Any] = schema.get("properties") or {}
    stays = [name for name in properties if name in args and name in asked and args[name] == asked[name]]
    return {**schema, "properties": {**properties, **dict.fromkeys(stays, True)}}


def _schema(given: Mapping[str, Any]) -> dict[str, Any] | None:
    """None where it cannot be held against anything."""
    simple = _simple(given)
    if not isinstance(simple, dict):
        return None
    try:
        cast("Any", Draft202012Validator).check_schema(simple)
    except (SchemaError, RecursionError):
        return None
    return cast("dict[str, Any]", simple) if _alternatives(simple) <= MOST_ALTERNATIVES else None


def _simple(given: Any) -> Any:
    if not isinstance(given, dict):
        return given if isinstance(given, bool) else True
    schema = cast("dict[str, Any]", given)
    kept_schema: dict[str, Any] = {name: schema[name] for name in _WORDS if name in schema}
    kept_schema |= {name: _simple(schema[name]) for name in _PARTS if name in schema}
    lists = (*_LISTS, "prefixItems")
    kept_schema |= {
        name: [_simple(one) for one in _as_list(schema[name])] for name in lists if _as_list(schema.get(name))
    }
    if "oneOf" in kept_schema:
        # Of branches that were simplified several may hold.
        kept_schema["allOf"] = [*kept_schema.get("allOf", ()), {"anyOf": kept_schema.pop("oneOf")}]
    if "prefixItems" in schema and "prefixItems" not in kept_schema:
        kept_schema.pop("items", None)
    if isinstance(schema.get("properties"), dict):
        kept_schema["properties"] = {name: _simple(one) for name, one in schema["properties"].items()}
    if "$ref" in schema or "patternProperties" in schema:
        # What these add or allow is not known here.
        return True
    return kept_schema


def _as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _alternatives(schema: Any) -> int:
    if isinstance(schema, dict):
        members = cast("dict[str, Any]", schema)
        own = sum(len(_as_list(members.get(name))) for name in _LISTS)
        return own + sum(_alternatives(one) for one in members.values())
    return sum(_alternatives(one) for one in _as_list(schema))
