"""Arguments edited by a person: as JSON that hides nothing, read back strictly, with every change shown."""

import difflib
import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NoReturn, cast

from interlock.cli.terminal.revealing import Line, Piece, json_line, json_text


class NotArguments(Exception):
    """The text is no JSON object; it says where."""


def read(text: str) -> dict[str, Any]:
    try:
        value: Any = json.loads(text, object_pairs_hook=_once_each, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise NotArguments(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise NotArguments("it is nested too deeply") from error
    if not isinstance(value, dict):
        raise NotArguments("the arguments are an object: { ... }")
    return cast("dict[str, Any]", value)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if twice := {name for name in names if names.count(name) > 1}:
        raise NotArguments(f"{sorted(twice)[0]!r} is there twice")
    return dict(pairs)


def _no_constant(name: str) -> NoReturn:
    raise NotArguments(f"{name} is no JSON")


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
