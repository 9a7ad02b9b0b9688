"""One spelling per value, so that what was shown and what runs can be compared by a digest."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def canonical_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)


def digest(value: Any) -> str:
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def action_digest(tool: str, args: Mapping[str, Any]) -> str:
    """The digest of one tool call: what a person saw, and what the effect record holds, must agree on it."""
    return digest({"tool": tool, "args": dict(args)})


def plain(value: Any) -> Any:
    """`value` as JSON can carry it, with anything else shown by its text."""
    return json.loads(json.dumps(value, ensure_ascii=True, default=_shown))


def _shown(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    return str(value)
