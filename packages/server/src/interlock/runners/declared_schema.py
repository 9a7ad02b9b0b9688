"""What an agent that runs elsewhere says of a tool's arguments, held against a person's edit of a call.

The schema comes from anybody with a key, or from a server behind the gateway. So only those of its words count that
cost nothing to hold against a value: no pattern, no reference but to its own definitions, and not too many
alternatives. The rest of it is for people to read.
"""

from collections.abc import Mapping
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from interlock.domain.errors import FieldError, InvalidAnswer
from interlock.domain.kinds import ApprovalBody
from interlock.runners import arguments

MOST_ALTERNATIVES = 16
MOST_PARTS = 500
"""Of a schema, with its definitions where they are used: what is beyond says nothing."""
_DEFINITIONS = ("$defs", "definitions")
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
    try:
        simple = _Simplifier(given).simple(given)
        if not isinstance(simple, dict):
            return None
        cast("Any", Draft202012Validator).check_schema(simple)
    except (SchemaError, RecursionError):
        return None
    return cast("dict[str, Any]", simple) if _alternatives(simple) <= MOST_ALTERNATIVES else None


class _Simplifier:
    """Leaves of one schema what can be held against a value without cost."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._open: list[str] = []
        """Definitions that are being read: one that leads to itself says nothing."""
        self._left = MOST_PARTS

    def simple(self, given: Any) -> Any:
        self._left -= 1
        if not isinstance(given, dict) or self._left < 0:
            return given if isinstance(given, bool) else True
        schema = cast("dict[str, Any]", given)
        if "$ref" in schema:
            return self._definition(schema["$ref"])
        if "patternProperties" in schema:
            # What these allow is not known here.
            return True
        kept: dict[str, Any] = {name: schema[name] for name in _WORDS if name in schema}
        kept |= {name: self.simple(schema[name]) for name in _PARTS if name in schema}
        for name in (*_LISTS, "prefixItems"):
            if parts := _as_list(schema.get(name)):
                kept[name] = [self.simple(one) for one in parts]
        if "oneOf" in kept:
            # Of branches that were simplified several may hold.
            kept["allOf"] = [*kept.get("allOf", ()), {"anyOf": kept.pop("oneOf")}]
        if "prefixItems" in schema and "prefixItems" not in kept:
            kept.pop("items", None)
        if isinstance(schema.get("properties"), dict):
            kept["properties"] = {name: self.simple(one) for name, one in schema["properties"].items()}
        return kept

    def _definition(self, reference: Any) -> Any:
        """Of this schema's own, where that is what is referred to; anything else may be anywhere."""
        place, _, name = str(reference).removeprefix("#/").partition("/")
        definitions: Any = self._root.get(place) if place in _DEFINITIONS else None
        if not isinstance(definitions, dict) or name not in definitions or name in self._open:
            return True
        self._open.append(name)
        try:
            return self.simple(definitions[name])
        finally:
            self._open.pop()


def _as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _alternatives(schema: Any) -> int:
    if isinstance(schema, dict):
        members = cast("dict[str, Any]", schema)
        own = sum(len(_as_list(members.get(name))) for name in _LISTS)
        return own + sum(_alternatives(one) for one in members.values())
    return sum(_alternatives(one) for one in _as_list(schema))
