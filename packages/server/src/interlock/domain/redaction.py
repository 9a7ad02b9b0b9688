"""Texts without the values that people gave in confidence: libraries put them into error messages."""

import json
from collections.abc import Iterable
from urllib.parse import quote

HIDDEN = "***"
SHORTEST = 4
"""Shorter values cannot be told from ordinary text."""


def redacted(text: str, values: Iterable[str]) -> str:
    for value in values:
        if len(value) >= SHORTEST:
            for spelling in _spellings(value):
                text = text.replace(spelling, HIDDEN)
    return text


def _spellings(value: str) -> list[str]:
    """As errors write a value: as it is, as Python shows it, in JSON, in an address. The longest comes first."""
    found = {value, repr(value)[1:-1], json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    found |= {quote(value, safe=safe, errors="surrogatepass") for safe in ("", "/")}
    return sorted(found, key=len, reverse=True)
