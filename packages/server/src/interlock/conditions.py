"""Conditions in CEL, the Common Expression Language, by the package of its own project."""

import math
import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from importlib.metadata import version
from ipaddress import ip_address
from pathlib import PurePosixPath
from typing import Any, cast
from urllib.parse import urlsplit

from cel_expr_python import cel

from interlock.domain.policy import ConditionError, Facts

_KEPT = 4096
"""Compiled conditions; compiling one takes milliseconds."""
_REASONS = {
    "NOT_FOUND": "an argument that it reads is missing",
    "INVALID_ARGUMENT": "a value that it reads cannot be represented, such as a number beyond 64 bits",
    "OUT_OF_RANGE": "a path or an address that it reads is not plain",
    "INTERNAL": "it takes too many steps",
}
_OTHER = "a value that it reads has another type"
_TEXT = cel.Type.STRING
_DEEPEST = 200
"""Levels of an argument; deeper ones come from graphs only."""
_TOO_DEEP = object()
_MOST_VALUES = 20_000
"""Within one fact: what has more is not converted."""
_MOST_READ = 250_000
"""Characters that all conditions together read of one call: each is evaluated while everybody waits."""
_PLACEHOLDER = re.compile(r"[~$%]|[A-Za-z][A-Za-z0-9+.-]*:")
"""How a path begins that is none: a home, a variable, a drive, an address."""
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")
_NO_HOST = ("file", "javascript")
"""Schemes whose addresses reach no host, or another one than they name."""


_TEXT_LITERAL = (
    r"""(?:[rRbB]{0,2}(?:\"{3}[\s\S]*?\"{3}|'{3}[\s\S]*?'{3})"""
    r"""|[bB]?[rR][bB]?(?:"[^"]*"|'[^']*')|[bB]?(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'))"""
)
_PLAIN_LITERAL = rf"(?:{_TEXT_LITERAL}|-?(?:0x[0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)u?|true|false)"
_BEFORE, _AFTER = r"(?P<before>^|[(\[{,?:]|&&|\|\|)\s*", r"(?=\s*(?:$|[)\]},?:]|&&|\|\||//))"
_PATH = rf"[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*|\s*\[\s*(?:[0-9]+|{_TEXT_LITERAL})\s*\])*"
_NO_CODE = rf"{_TEXT_LITERAL}|//[^\n]*"
_EQUALITY = re.compile(
    rf"{_BEFORE}(?P<equality>(?P<value>{_PATH})\s*(?:[=!]=\s*(?P<literal>{_PLAIN_LITERAL})"
    rf"|in\s*\[(?P<listed>\s*{_PLAIN_LITERAL}\s*(?:,\s*{_PLAIN_LITERAL}\s*)*)\])){_AFTER}|{_NO_CODE}"
)
_MIRRORED = re.compile(
    rf"{_BEFORE}(?P<equality>(?P<literal>{_PLAIN_LITERAL})\s*[=!]=\s*(?P<value>{_PATH})){_AFTER}|{_NO_CODE}"
)
"""A value beside what stands in the rule, where nothing else binds to either of them."""
_A_LITERAL = re.compile(_PLAIN_LITERAL)
_LITERAL = re.compile(r"""(\[\s*)?[rRbB]{0,2}("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')""")
_READS = re.compile(r"""(?<![\w."])([a-z_]+)\b(?!\s*\()(?:\s*\.\s*([A-Za-z_]\w*)(?!\w*\s*\()|\[\s*"([^"]+)")?""")
"""A name, and the argument that is read of it: a member, or a key in quotes; neither is the name of a function."""


class _NotPlain(Exception):
    """For what may mean one thing here and another where it is used."""


def is_under(path: str, folder: str) -> bool:
    """Whether the path is the folder or within it. Both are absolute, or both are not; neither has `..`."""
    for one in (path, folder):
        is_text = one == one.strip() and one.isprintable() and "\\" not in one
        if not one or not is_text or _PLACEHOLDER.match(one) or ".." in PurePosixPath(one).parts:
            raise _NotPlain
    # Two slashes at the beginning are a root of their own to Python, and the same root to Linux.
    inner, outer = (PurePosixPath(re.sub("^/+", "/", one)) for one in (path, folder))
    if inner.is_absolute() != outer.is_absolute():
        raise _NotPlain
    return inner.is_relative_to(outer)


def host_of(url: str) -> str:
    if not url.isascii() or not url.isprintable() or any(one in url for one in "\\ "):
        raise _NotPlain
    try:
        parts = urlsplit(url)
        found = parts.hostname
    except ValueError:
        raise _NotPlain from None
    if not parts.scheme or parts.scheme in _NO_HOST or not found or "%" in found:
        raise _NotPlain
    name = found.rstrip(".")
    try:
        return str(ip_address(name))
    except ValueError:
        # Such as 0x7f.1 and 2130706433, which most clients take for 127.0.0.1.
        if not name or _NUMBER.fullmatch(name.rpartition(".")[2]):
            raise _NotPlain from None
    return name


def _function(name: str, returns: cel.Type, count: int, work: Any) -> cel.FunctionDecl:
    return cel.FunctionDecl(name, [cel.Overload(f"interlock_{name}", returns, [_TEXT] * count, False, work)])


_VARIABLES = {
    "tool": _TEXT,
    "args": cel.Type.Map(_TEXT, cel.Type.DYN),
    "agent": _TEXT,
    "risk": _TEXT,
    "kind": _TEXT,
    "owner": _TEXT,
    "owner_groups": cel.Type.List(_TEXT),
    "outside": cel.Type.BOOL,
    "face": _TEXT,
    "at": cel.Type.TIMESTAMP,
}

_ROOT = re.compile(r"\w+")
_WITH_TYPES = {*_VARIABLES, "true", "false", "null"} - {"args"}
"""Names whose comparison with another type is refused before it is used."""


class CelConditions:
    def __init__(self) -> None:
        self._compiled: OrderedDict[str, cel.Expression] = OrderedDict()

    name = "cel-expr-python"

    @cached_property
    def _environment(self) -> cel.Env:
        """Made when it is needed first: that takes a tenth of a second."""
        functions = [_function("under", cel.Type.BOOL, 2, is_under), _function("host", _TEXT, 1, host_of)]
        return cel.NewEnv(variables=_VARIABLES, functions=functions)

    @property
    def version(self) -> str:
        return version(self.name)

    def reads(self, condition: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(_names_read(condition)))

    def check(self, condition: str) -> None:
        self.compile(condition)

    def compile(self, condition: str) -> cel.Expression:
        if condition in self._compiled:
            self._compiled.move_to_end(condition)
            return self._compiled[condition]
        try:
            compiled = self._compile_strictly(condition)
        except (RuntimeError, ValueError) as error:
            raise ConditionError(_readable(str(error))) from None
        if compiled.return_type() != cel.Type.BOOL:
            message = f"it gives {compiled.return_type().name().lower()}; a condition is true or false"
            raise ConditionError(message)
        self._compiled[condition] = compiled
        while len(self._compiled) > _KEPT:
            self._compiled.popitem(last=False)
        return compiled

    def _compile_strictly(self, condition: str) -> cel.Expression:
        try:
            return self._environment.compile(_with_strict_equality(condition))
        except (RuntimeError, ValueError):
            # What is said of it has the places of what its author wrote.
            return self._environment.compile(condition)

    def read(self, facts: Facts) -> "CelFacts":
        given = {name: getattr(facts, name) for name in _VARIABLES}
        given["owner_groups"] = None if facts.owner_groups is None else list(facts.owner_groups)
        # A name that is left out is an error for every condition that reads it.
        known = {name: value for name, value in given.items() if value is not None and _is_whole(value)}
        return CelFacts(self, self._environment.Activation(known), known)


class CelFacts:
    def __init__(self, engine: CelConditions, activation: cel.Activation, known: Mapping[str, Any]) -> None:
        self._engine = engine
        self._activation = activation
        self._known = known
        self._sizes: dict[str, int] = {}
        self._left = _MOST_READ

    def holds(self, condition: str) -> bool:
        expression = self._engine.compile(condition)
        cost = sum(self._size(name) for name in _names_read(condition))
        if cost > self._left:
            raise ConditionError(f"it and the rules before it would read more than {_MOST_READ} characters of the call")
        self._left -= cost
        try:
            found = expression.eval(self._activation)
        except (RuntimeError, ValueError, UnicodeError) as error:
            raise ConditionError(_reason(str(error))) from None
        # An error is a value, too, and its text would pass for true.
        if found.type() != cel.Type.BOOL:
            raise ConditionError(_reason(str(found.value())))
        return found.value() is True

    def _size(self, name: str) -> int:
        if name not in self._sizes:
            root, _, member = name.partition(".")
            value = self._known.get(root)
            if member and isinstance(value, dict):
                value = cast("dict[str, Any]", value).get(member)
            self._sizes[name] = sum(len(one) if isinstance(one, str) else 1 for one in _values_in(value))
        return self._sizes[name]


def _with_strict_equality(condition: str) -> str:
    """The condition, with an error where a value is compared with one of another type: `args.force == true` of "true".

    In CEL that is just false; but a tool may well take the one for the other. Whether one is less than the other
    cannot be said then, which is the error. Null is no value of any type, and equals none.
    """
    return _EQUALITY.sub(_strictly, _MIRRORED.sub(_strictly, condition))


def _strictly(found: re.Match[str]) -> str:
    value = found["value"]
    if value is None or _ROOT.findall(value)[0] in _WITH_TYPES:
        return found[0]
    literals = _A_LITERAL.findall(found["literal"] or found["listed"])
    one_of_each = {_kind(one): one for one in literals}.values()
    is_comparable = " || ".join(f"{value} <= {one} || {value} > {one}" for one in one_of_each)
    return f"{found['before']} (({value} == null || {is_comparable}) ? ({found['equality']}) : false)"


def _kind(literal: str) -> str:
    if literal in ("true", "false"):
        return "truth"
    return "number" if literal[0] in "-0123456789" else "text"


def _is_whole(value: Any) -> bool:
    """Whether the engine sees all of it, and at once: it takes a text up to the first NUL only. NaN is neither more nor
    less."""
    for number, one in enumerate(_values_in(value)):
        is_cut = isinstance(one, str) and "\0" in one
        if number >= _MOST_VALUES or is_cut or (isinstance(one, float) and not math.isfinite(one)):
            return False
        if one is _TOO_DEEP:
            return False
    return True


def _values_in(value: Any) -> Iterator[Any]:
    """The value, and the keys and values within it."""
    level: list[Any] = [value]
    for _ in range(_DEEPEST + 1):
        within: list[Any] = []
        for one in level:
            yield one
            if isinstance(one, dict):
                within += [part for pair in cast("dict[Any, Any]", one).items() for part in pair]
            elif isinstance(one, list):
                within += cast("list[Any]", one)
        if not within:
            return
        level = within
    yield _TOO_DEEP


@lru_cache(_KEPT)
def _names_read(condition: str) -> tuple[str, ...]:
    """The facts that it reads, as often as it does. By its words: the engine does not give its tree away."""
    found: list[str] = []
    for name, member, quoted in _READS.findall(_LITERAL.sub(_keep_key, condition)):
        if name in _VARIABLES:
            found.append(f"{name}.{member or quoted}" if name == "args" and (member or quoted) else name)
    return tuple(found)


def _keep_key(literal: re.Match[str]) -> str:
    """Texts are no names of facts; the name of an argument may be one: `args["a-b"]`."""
    return f'["{literal[2][1:-1]}"' if literal[1] else '""'


def _reason(error: str) -> str:
    """Why, by its class alone: the text may hold what the agent was called with."""
    if error.startswith("UNKNOWN: No value with name"):
        return "what it reads was not kept, is too large, or cannot be represented"
    return _REASONS.get(error.partition(":")[0], _OTHER)


def _readable(error: str) -> str:
    first = error.partition("\n")[0]
    return first.removeprefix("INVALID_ARGUMENT: ").removeprefix("ERROR: <input>:").removesuffix(" [CANCELLED]")
