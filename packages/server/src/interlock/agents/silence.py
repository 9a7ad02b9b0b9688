"""What a run may write down: without the values that people gave in confidence.

Texts that code wrote for people and models (errors, results of tools, custom events) go without any part of them. What
a graph works with (its state, results of effects) must stay what it was, and goes without whole values only: a graph
that finds `***` where it had kept a word would decide otherwise. Arguments of calls, asks and answers never change.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import ormsgpack

from interlock.domain.redaction import Redaction

_NUMPY, _SNAPSHOT = 6, 7
"""The codes that LangGraph's serializer gives to what is no object with a class and what it is made from."""
_OPTIONS = ormsgpack.OPT_NON_STR_KEYS | ormsgpack.OPT_REPLACE_SURROGATES | ormsgpack.OPT_PASSTHROUGH_DATACLASS


@dataclass(frozen=True, slots=True)
class Silence:
    text: Redaction = field(default_factory=Redaction)
    data: Redaction = field(default_factory=Redaction)

    def error(self, error: Any) -> Any:
        """The error of a task: LangGraph keeps what Python shows of it."""
        if not self.text:
            return error
        text = repr(error)
        quiet = self.text(text)
        return error if quiet == text else quiet

    def pack(self, kind: str, data: bytes) -> bytes:
        """What LangGraph's serializer made. Looked at first as the bytes it is, since next to nothing holds a value."""
        if not self.data or not self.data.finds_in(data):
            return data
        return _repack(data, self.data) if kind == "msgpack" else self.data.raw(data)


@dataclass(frozen=True, slots=True)
class _Extension:
    code: int
    data: bytes


def _repack(data: bytes, redact: Redaction) -> bytes:
    loaded = ormsgpack.unpackb(data, ext_hook=_Extension, option=ormsgpack.OPT_NON_STR_KEYS)
    return _pack(_quiet(loaded, redact))


def _pack(value: Any) -> bytes:
    return ormsgpack.packb(value, default=_extension, option=_OPTIONS)


def _extension(value: Any) -> Any:
    return ormsgpack.Ext(value.code, value.data)


def _quiet(value: Any, redact: Redaction) -> Any:
    match value:
        case _Extension():
            return _Extension(value.code, _quiet_extension(value, redact))
        case dict():
            known = cast("dict[Any, Any]", value)
            kept_keys = {"args"} if _is_tool_call(known) else set[str]()
            return {redact.within(key): one if key in kept_keys else _quiet(one, redact) for key, one in known.items()}
        case list():
            return [_quiet(one, redact) for one in cast("list[Any]", value)]
        case _:
            return redact.within(value)


def _is_tool_call(value: Mapping[Any, Any]) -> bool:
    return isinstance(value.get("args"), dict) and {"name", "id"} <= value.keys()


def _quiet_extension(extension: _Extension, redact: Redaction) -> bytes:
    code, data = extension.code, extension.data
    # The length of an array is fixed, and an unknown kind may be of any make.
    if code == _NUMPY or code > _SNAPSHOT:
        return data
    if code == _SNAPSHOT:
        return _repack(data, redact)
    module, name, made_from, *rest = ormsgpack.unpackb(data, ext_hook=_Extension, option=ormsgpack.OPT_NON_STR_KEYS)
    if (module, name) == ("langgraph.types", "Interrupt"):
        return data
    return _pack([module, name, _quiet_fields(made_from, redact), *rest])


def _quiet_fields(made_from: Any, redact: Redaction) -> Any:
    """What an object is made from; the names of its fields are its class's, and stay."""
    if isinstance(made_from, dict):
        return {name: _quiet(value, redact) for name, value in cast("dict[Any, Any]", made_from).items()}
    return _quiet(made_from, redact)
