"""Arguments edited by a person: as JSON that hides nothing, read back strictly, with every change shown."""

import difflib
import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from math import isfinite
from typing import Any, NoReturn, cast

from interlock_client.cli.terminal.revealing import Line, Piece, json_line, json_text

DEEPEST = 60
"""Levels; a body has 64 at the most, and some are around an answer."""
LONGEST_NUMBER = 20
"""Digits that are repeated."""


class NotJson(Exception):
    """The text is no JSON, or not such JSON; it says where."""


def read_any(text: str) -> Any:
    """The JSON that a text is, strictly; `NotJson` says where it is none."""
    try:
        value = json.loads(
            text,
            object_pairs_hook=_check_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_whole,
        )
    except json.JSONDecodeError as error:
        raise NotJson(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise _too_deep() from error
    _check_depth(value)
    return value


def read(text: str) -> dict[str, Any]:
    value = read_any(text)
    if not isinstance(value, dict):
        raise NotJson("the arguments are an object: { ... }")
    return cast("dict[str, Any]", value)


def _check_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if twice := {name for name in names if names.count(name) > 1}:
        raise NotJson(f"{sorted(twice)[0]!r} is there twice")
    return dict(pairs)


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise NotJson(f"{_shorten(digits)} is larger than any number that can be sent")
    return number


def _whole(digits: str) -> int:
    try:
        return int(digits)
    except ValueError as error:
        # Python reads no more digits than some thousand.
        raise NotJson(f"{_shorten(digits)} has too many digits") from error


def _shorten(digits: str) -> str:
    return digits if len(digits) <= LONGEST_NUMBER else f"{digits[:LONGEST_NUMBER]}..."


def _check_depth(value: Any) -> None:
    """The server takes no deeper ones; found level by level, since a deep value ends what calls itself."""
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for one in level for inner in _inside(one)]
    if any(isinstance(one, dict | list) for one in level):
        raise _too_deep()


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(cast("dict[str, Any]", value).values())
    return cast("list[Any]", value) if isinstance(value, list) else []


def _too_deep() -> NotJson:
    return NotJson(f"it is nested too deeply: {DEEPEST} levels at the most")


def _no_constant(name: str) -> NoReturn:
    raise NotJson(f"{name} is no JSON")


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Line]:
    """What an edit changes, line by line."""
    old, new = (json_text(dict(args)).split("\n") for args in (before, after))
    for one in difflib.ndiff(old, new):
        sign, text = one[:1], one[2:]
        if sign == "-":
            yield (Piece("- ", "removed"), *(Piece(piece.text, piece.style or "removed") for piece in json_line(text)))
        elif sign == "+":
            yield (Piece("+ ", "added"), *(Piece(piece.text, piece.style or "added") for piece in json_line(text)))
        elif sign == " ":
            yield (Piece("  "), *json_line(text))


def in_editor(editor: str, text: str) -> str | None:
    """The text as it was saved in the editor; None when that could not be run, or failed."""
    handle, name = tempfile.mkstemp(prefix="interlock-", suffix=".json")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            opened.write(text + "\n")
        done = subprocess.run([*shlex.split(editor), name], check=False)
        if done.returncode != 0:
            return None
        with open(name, encoding="utf-8") as saved:
            return saved.read()
    except (OSError, ValueError):
        return None
    finally:
        with suppress(OSError):
            os.unlink(name)
