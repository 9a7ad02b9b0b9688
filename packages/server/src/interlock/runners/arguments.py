"""The arguments that tools take: read from their definitions, and held against what a person made of a call."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from langchain_core.tools import BaseTool

from interlock.domain.errors import FieldError, InvalidAnswer

Schema = Mapping[str, Any]
NOTHING_KNOWN: Schema = {"additionalProperties": True}
"""For a tool whose definition cannot be read."""
MOST_REPEATED = 400


def schema_of(tool: BaseTool, definition: Mapping[str, Any]) -> Schema:
    """What the tool takes, by its definition in OpenAI's form. Names that it does not know are wrong ones.

    A tool would leave them out without a word, and run otherwise than the person meant.
    """
    schema: dict[str, Any] = dict(definition["function"].get("parameters") or {})
    if not isinstance(tool.args_schema, dict):
        # Made by pydantic, and so a schema for sure; to look at each would take most of a server's start.
        if not _takes_anything(tool.args_schema):
            schema.setdefault("additionalProperties", False)
        return schema
    try:
        cast("Any", Draft202012Validator).check_schema(schema)
    except SchemaError:
        return NOTHING_KNOWN
    return schema if _stands_alone(schema, schema) else NOTHING_KNOWN


def _stands_alone(part: Any, root: Mapping[str, Any]) -> bool:
    """Whether what it refers to is in it. Anything else would be fetched from wherever it says."""
    if isinstance(part, list):
        return all(_stands_alone(one, root) for one in cast("list[Any]", part))
    if not isinstance(part, dict):
        return True
    schema = cast("dict[str, Any]", part)
    if any(isinstance(schema.get(name), str) for name in ("$id", "$dynamicRef")):
        return False
    reference = schema.get("$ref")
    return (not isinstance(reference, str) or _is_in(root, reference)) and all(
        _stands_alone(one, root) for one in schema.values()
    )


def _is_in(root: Mapping[str, Any], reference: str) -> bool:
    place, *path = reference.split("/")
    found: Any = root
    for name in path:
        found = cast("dict[str, Any]", found).get(name) if isinstance(found, dict) else None
    return place == "#" and found is not None


def _takes_anything(model: Any) -> bool:
    return getattr(model, "model_config", {}).get("extra") == "allow"


def select_matching(schemas: Sequence[Schema], args: Mapping[str, Any]) -> Sequence[Schema]:
    """Those that know every argument of the call as it was asked for.

    A subagent that is hidden inside a tool may have a tool of the same name: its calls are not held against this one.
    """
    return [schema for schema in schemas if schema.get("additionalProperties") is not False or _knows(schema, args)]


def _knows(schema: Schema, args: Mapping[str, Any]) -> bool:
    return args.keys() <= names_in([schema])


def names_in(schemas: Sequence[Schema]) -> frozenset[str]:
    return frozenset(name for schema in schemas for name in cast("Schema", schema.get("properties") or {}))


def check(schemas: Sequence[Schema], args: Mapping[str, Any]) -> None:
    """Raise `InvalidAnswer` with every wrong argument; where tools share a name, one of them has to take it."""
    errors = min((errors_in(schema, args) for schema in schemas), key=len, default=list[FieldError]())
    if errors:
        raise InvalidAnswer("; ".join(error.message for error in errors), errors)


def errors_in(schema: Schema, value: Any, name: str = "args") -> list[FieldError]:
    """Everything that is wrong with it, by field; it goes by this name."""
    found: dict[str, FieldError] = {}
    for error in cast("Iterator[ValidationError]", cast("Any", Draft202012Validator(dict(schema))).iter_errors(value)):
        for one in _faults(error, name):
            found.setdefault(one.field, one)
    return sorted(found.values(), key=lambda error: error.field)


def _faults(error: ValidationError, name: str) -> Iterator[FieldError]:
    where = ".".join([name, *(str(part) for part in error.absolute_path)])
    instance: Any = error.instance
    if error.validator == "required":
        for missing in cast("list[str]", error.validator_value):
            if missing not in instance:
                yield FieldError(f"{where}.{missing}", "missing", f"{where}.{missing} is required")
    elif error.validator == "additionalProperties":
        known = cast("Schema", cast("Schema", error.schema).get("properties") or {})
        for other in instance.keys() - known.keys():
            yield FieldError(f"{where}.{other}", "unknown", f"{where}.{other} is not known; known: {', '.join(known)}")
    else:
        yield FieldError(where, "schema", f"{where}: {_cut(error.message)}")


def _cut(message: str) -> str:
    """It repeats the value, however long that is."""
    return (
        message
        if len(message) <= MOST_REPEATED
        else f"{message[: MOST_REPEATED // 2]} … {message[-MOST_REPEATED // 2 :]}"
    )
