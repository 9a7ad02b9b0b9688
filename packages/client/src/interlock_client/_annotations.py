"""Parameters of a function as JSON Schema: what JSON can say of their annotations, and nothing of the rest."""

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NewType, Union, get_args, get_origin

Schema = dict[str, Any]
Parts = tuple[Any, ...]

_TYPES: Mapping[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    None: "null",
    type(None): "null",
}


def parameter_schema(parameter: inspect.Parameter) -> Schema:
    each = {} if parameter.annotation is parameter.empty else _schema(parameter.annotation)
    if parameter.kind is parameter.VAR_POSITIONAL:
        return {"type": "array", "items": each or {}}
    if parameter.kind is parameter.VAR_KEYWORD:
        return {"type": "object", "additionalProperties": each or {}}
    return each or {}


def _schema(annotation: Any) -> Schema | None:
    """None for what is an object of the program."""
    if annotation is Any or isinstance(annotation, str):
        return {}
    if isinstance(annotation, NewType):
        return _schema(annotation.__supertype__)
    if annotation in _TYPES:
        return {"type": _TYPES[annotation]}
    reader = _MADE_OF.get(get_origin(annotation) or annotation)
    return reader(get_args(annotation)) if reader else None


def _either(parts: Parts) -> Schema | None:
    known = [schema for part in parts if (schema := _schema(part)) is not None]
    if not known:
        return None
    return {"anyOf": known} if all(known) else {}


def _list(parts: Parts) -> Schema:
    return {"type": "array", "items": (_schema(parts[0]) if parts else None) or {}}


def _tuple(parts: Parts) -> Schema:
    if not parts or parts[-1] is Ellipsis:
        return _list(parts)
    each = [_schema(one) or {} for one in parts]
    return {"type": "array", "prefixItems": each, "minItems": len(each), "maxItems": len(each)}


def _object(parts: Parts) -> Schema:
    return {"type": "object", "additionalProperties": (_schema(parts[1]) if len(parts) > 1 else None) or {}}


_MADE_OF: Mapping[Any, Callable[[Parts], Schema | None]] = {
    Annotated: lambda parts: _schema(parts[0]),
    Literal: lambda parts: {"enum": list(parts)},
    Union: _either,
    types.UnionType: _either,
    list: _list,
    Sequence: _list,
    tuple: _tuple,
    dict: _object,
    Mapping: _object,
}
