"""What no checkpoint can keep: LangGraph's format ends at 64 bits, and has no names with half a character."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from interlock.domain.errors import InvalidInput

_FIRST, _LAST = -(2**63), 2**64 - 1
_MOST_SHOWN = 60


def refusal(what: str, value: Any, error: TypeError) -> InvalidInput:
    """Where in the value it stands that could not be kept, and what to do; the serializer only says that it is so."""
    return InvalidInput(unkept(what, value) or f"{what} cannot be kept: {error}")


def unkept(what: str, value: Any, *, mends_names: bool = False) -> str | None:
    """Why the value, which is called `what`, could not be kept. Of an answer half a character in a name is mended."""
    found = _unkept(value, what, set())
    return next((reason for is_name, reason in found if not (is_name and mends_names)), None)


def _unkept(value: Any, path: str, seen: set[int]) -> Iterator[tuple[bool, str]]:
    """Whether it is a name, and what is wrong with it."""
    if isinstance(value, int):
        if not _FIRST <= value <= _LAST:
            yield False, f"{path} cannot be kept: it is a whole number beyond 64 bits; hand it over as text"
        return
    if isinstance(value, str | bytes) or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Mapping):
        for name, one in cast("Mapping[Any, Any]", value).items():
            text = ascii(name)[:_MOST_SHOWN]
            if isinstance(name, str) and any("\ud800" <= letter <= "\udfff" for letter in name):
                yield True, f"{path} cannot be kept: its name {text} holds half a character (a surrogate)"
            yield from _unkept(one, f"{path}[{text}]", seen)
    elif isinstance(value, list | tuple | set | frozenset):
        for at, one in enumerate(cast("list[Any]", value)):
            yield from _unkept(one, f"{path}[{at}]", seen)
    else:
        for name in _fields(value):
            yield from _unkept(getattr(value, name, None), f"{path}.{name}", seen)


def _fields(value: Any) -> list[str]:
    """Of a message, an interrupt, or another object that is made of values."""
    return [*getattr(value, "__dict__", ()), *getattr(value, "__slots__", ())]
