"""One spelling per value, so that what was shown and what runs can be compared by a digest.

NaN and the infinities are floats that JSON cannot carry. Here they become the words by which Python spells them in
JSON, in what is shown, in what is sent and in digests alike: no other parser reads them as numbers.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from interlock.domain.json_value import JsonValue

_NOT_ASCII = re.compile(r"[^\x00-\x7e]+")


def _to_json(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    return str(value)


def json_text(value: Any, *, default: Callable[[Any], Any] = _to_json, **spelling: Any) -> str:
    """`value` as JSON that every parser reads; `spelling` is for `json.dumps`."""
    try:
        return json.dumps(value, allow_nan=False, default=default, **spelling)
    except (ValueError, TypeError):
        return json.dumps(plain(value, default=default), allow_nan=False, **spelling)


def canonical_json(value: Any) -> str:
    return json_text(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def digest(value: Any) -> str:
    """Half a surrogate pair counts as a question mark, as LangGraph saves it: read back, the value is the same."""
    text = json_text(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    whole = text.encode("utf-8", "replace").decode()
    ascii_text = _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], whole)
    return hashlib.sha256(ascii_text.encode()).hexdigest()


def action_digest(tool: str, args: Mapping[str, JsonValue]) -> str:
    """The digest of one tool call: what a person saw, and what the effect record holds, must agree on it."""
    return digest({"tool": tool, "args": dict(args)})


def plain(value: Any, *, default: Callable[[Any], Any] = _to_json) -> Any:
    """`value` as JSON can carry it, with anything else shown by its text."""
    try:
        return plain_from(json.dumps(value, ensure_ascii=True, default=default))
    except TypeError:
        return plain_from(json.dumps(_with_text_keys(value), ensure_ascii=True, default=default))


def _with_text_keys(value: Any) -> Any:
    """For mappings with keys that JSON does not have, such as dates and tuples."""
    if isinstance(value, Mapping):
        given = cast("Mapping[Any, Any]", value)
        return {key if isinstance(key, str) else str(key): _with_text_keys(one) for key, one in given.items()}
    if isinstance(value, list | tuple):
        return [_with_text_keys(one) for one in cast("list[Any]", value)]
    return value


plain_from: Callable[[str], Any] = json.JSONDecoder(parse_constant=str).decode
"""The value of a JSON text that Python wrote: NaN and the infinities in it become words."""
