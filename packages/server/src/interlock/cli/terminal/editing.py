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


class NotJson(Exception):
    """The text is no JSON, or not such JSON; it says where."""


def read_any(text: str) -> Any:
    """The JSON that a text is, strictly; `NotJson` says where it is none."""
    try:
        return json.loads(text, object_pairs_hook=_once_each, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise NotJson(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise NotJson("it is nested too deeply") from error


def read(text: str) -> dict[str, Any]:
    value = read_any(text)
    if not isinstance(value, dict):
        raise NotJson("the arguments are an object: { ... }")
    return cast("dict[str, Any]", value)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if twice := {name for name in names if names.count(name) > 1}:
        raise NotJson(f"{sorted(twice)[0]!r} is there twice")
    return dict(pairs)


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
