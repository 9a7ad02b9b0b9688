"""What a host says to a gateway: one JSON-RPC message, read as every server behind would read it, or refused.

Two programs that read one text in two ways would let a call pass that nobody was asked about: a name that stands
twice, a method or the name of a tool in other letters, a batch, a call without an id.
"""

import asyncio
import json
import math
import unicodedata
from collections.abc import AsyncGenerator
from typing import Any, cast

Json = dict[str, Any]
CALL = "tools/call"
PARSE_ERROR, INVALID_REQUEST = -32700, -32600
MEMBERS = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
PARAMS = frozenset({"name", "arguments", "_meta", "task", "requestState", "inputResponses"})
"""Of a call."""
LONGEST_LINE = 64 * 1024 * 1024
_PIECE = 1024 * 1024
LARGEST_ID = 2**53 - 1
"""Beyond it, servers that count in floating point answer under another one."""


class NotTaken(Exception):
    """It is not passed on; the message says why."""

    def __init__(self, code: int, text: str, message_id: Any = None) -> None:
        super().__init__(text)
        self.code = code
        self.id = message_id if is_id(message_id) else None


def read_message(data: bytes) -> Json:
    try:
        # Not in any other encoding: a server behind would not look for one.
        text = data.decode("utf-8-sig")
        value: Any = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise NotTaken(PARSE_ERROR, "it nests too deep") from None
    except ValueError as error:
        raise NotTaken(PARSE_ERROR, f"it is no JSON ({error})") from None
    if isinstance(value, list):
        raise NotTaken(INVALID_REQUEST, "batches are not taken: send one message at a time")
    if not isinstance(value, dict):
        raise NotTaken(INVALID_REQUEST, "a message is one JSON object")
    message = cast("Json", value)
    if wrong := _wrong_with(message):
        raise NotTaken(INVALID_REQUEST, wrong, message.get("id"))
    return message


def is_id(value: Any) -> bool:
    return isinstance(value, str) or (type(value) is int and abs(value) <= LARGEST_ID)


def _wrong_with(message: Json) -> str | None:
    if (wrong := _in_other_letters(message, MEMBERS)) is not None:
        return wrong
    if "method" not in message:
        return None
    if not isinstance(message["method"], str):
        return "method must be a text"
    if not isinstance(message.get("params", {}), dict | None):
        return "params must be an object"
    if "id" in message and not is_id(message["id"]):
        return f"id must be a text, or a whole number up to {LARGEST_ID}"
    if message["method"] != CALL:
        method = unicodedata.normalize("NFKC", message["method"]).casefold().strip()
        return f"the method is written {CALL!r}" if method == CALL else None
    if "id" not in message:
        return f"{CALL} needs an id: without one nobody could be told how it ended"
    return _in_other_letters(message.get("params") or {}, PARAMS)


def _in_other_letters(arguments: Json, known: frozenset[str]) -> str | None:
    """Some servers take `Name` for `name`, and the last of the two."""
    folded = {name.casefold(): name for name in known}
    for name in arguments:
        if name not in known and (member := folded.get(name.casefold())) is not None:
            return f"{name!r} is no member here: it is written {member!r}"
    return None


def _object(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


async def lines_of(stream: asyncio.StreamReader) -> AsyncGenerator[bytes | None]:
    """Each line with its end; None for one that is too long, of which no part is taken for a line of its own."""
    line, is_too_long = bytearray(), False
    while piece := await stream.read(_PIECE):
        for part in _parts(piece):
            is_too_long = is_too_long or len(line) + len(part) > LONGEST_LINE
            if is_too_long:
                line.clear()
            else:
                line += part
            if part.endswith(b"\n"):
                yield None if is_too_long else bytes(line)
                line, is_too_long = bytearray(), False
    if line or is_too_long:
        yield None if is_too_long else bytes(line)


def _parts(piece: bytes) -> list[bytes]:
    """Up to each end of a line, and what is left."""
    *whole, rest = piece.split(b"\n")
    return [*(part + b"\n" for part in whole), *([rest] if rest else [])]
