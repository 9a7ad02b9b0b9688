"""A call in a few words, for a list of many: the command itself, the file, the amount and who gets it, not quoted JSON.

It tells calls apart and is nothing to decide by: what will run is on the request's own page, to the last character.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import cast

from interlock.domain.json_value import JsonObject, JsonValue

LINE_BREAK = " ⏎ "
BETWEEN = " · "
TO = "→ "
_FILES = ("path", "file_path", "filename", "file", "url")
_CONTENTS = (
    *("content", "contents", "old", "new", "old_string", "new_string", "replace_all", "edits", "text"),
    *("file_text", "old_str", "new_str", "insert_line", "view_range"),
)
"""Of a call that names a file: what its difference shows better."""
_ACTS_ON_FILES = ("view", "create", "str_replace", "insert", "delete", "rename", "undo_edit")
"""What a text editor that models are trained on takes for a `command`, beside the path of its file."""
_AMOUNTS = ("amount", "total", "sum", "price", "金额")
_CURRENCIES = ("currency", "unit", "币种")
_RECIPIENTS = ("to", "recipient", "recipients", "payee", "beneficiary", "收款人", "收件人", "退至")


def summary(tool: str, args: Mapping[str, JsonValue], change: tuple[int, int] | None = None) -> str:
    """`change`: how many lines the call would add to its file and take from it, where that is known."""
    command = _typed(args)
    if command is not None:
        lines = [" ".join(line.split()) for line in command.splitlines()]
        return f"{tool} {LINE_BREAK.join(line for line in lines if line)}"
    plan = args.get("plan")
    if isinstance(plan, str) and "\n" in plan.strip():
        return f"{tool} {plan.strip().splitlines()[0].lstrip('# ')}"
    file = _first(args, _FILES)
    if isinstance(file, str):
        rest = [value for name, value in args.items() if value is not file and name not in _CONTENTS]
        counts = [] if change is None else [f"+{change[0]} −{change[1]}"]
        return " ".join([tool, file, *counts, *map(_bare, rest)])
    return f"{tool} {_details(args)}".rstrip()


def command_line(args: Mapping[str, JsonValue]) -> str | None:
    """What a shell would run."""
    command = args.get("command")
    is_act = command in _ACTS_ON_FILES and isinstance(args.get("path"), str)
    return command if isinstance(command, str) and not is_act else None


def _typed(args: Mapping[str, JsonValue]) -> str | None:
    """What one would type into a shell to run the same: words that no shell reads are quoted for one."""
    command = args.get("command")
    words = cast("list[JsonValue]", command) if isinstance(command, list) else []
    texts = [word for word in words if isinstance(word, str)]
    return shlex.join(texts) if texts and len(texts) == len(words) else command_line(args)


def with_parts(title: str, details: JsonValue) -> str:
    """A question with what was handed over beside it: each part under its name, without the signs of JSON."""
    parts = [_bare(details)]
    if isinstance(details, dict):
        parts = [f"{name} {_bare(part)}" for name, part in cast("JsonObject", details).items()]
    return BETWEEN.join([title, *parts] if title else parts)


def _details(args: Mapping[str, JsonValue]) -> str:
    amount, recipient = _first(args, _AMOUNTS), _first(args, _RECIPIENTS)
    is_amount = isinstance(amount, int | float | str)
    currency = _first(args, _CURRENCIES) if is_amount else None
    ahead = [] if not is_amount else [" ".join(_bare(one) for one in (amount, currency) if one is not None)]
    if recipient is not None:
        ahead.append(TO + _bare(recipient))
    parts = [one for one in (amount if is_amount else None, currency, recipient) if one is not None]
    rest = [_bare(value) for value in args.values() if not any(value is one for one in parts)]
    paid = " ".join(ahead)
    return BETWEEN.join([paid, *rest] if paid else rest)


def _first(args: Mapping[str, JsonValue], names: Sequence[str]) -> JsonValue:
    return next((args[name] for name in names if args.get(name) is not None), None)


def _bare(value: JsonValue) -> str:
    if isinstance(value, list):
        items = cast("list[JsonValue]", value)
        if items and all(isinstance(one, str) for one in items):
            return ", ".join(map(_bare, items))
    return " ".join(value.split()) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
