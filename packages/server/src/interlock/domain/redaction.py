"""Texts without the values that people gave in confidence: libraries put them into error messages."""

from collections.abc import Iterable

HIDDEN = "***"
SHORTEST = 4
"""Shorter values cannot be told from ordinary text."""


def redacted(text: str, values: Iterable[str]) -> str:
    for value in values:
        if len(value) >= SHORTEST:
            text = text.replace(value, HIDDEN)
    return text
