"""What the server and agents say in more than one language: the body of a request holds all, readers see theirs."""

from collections.abc import Mapping
from typing import Any

TRANSLATED = "translated"
"""Of a body: by language, the fields that are said otherwise in it. It is not shown."""

Texts = str | Mapping[str, str]
"""A text, or one for each language, the one for readers of no language first."""


def in_language(body: Mapping[str, Any], language: str | None) -> dict[str, Any]:
    """The body as a reader of this language sees it."""
    shown = {name: value for name, value in body.items() if name != TRANSLATED}
    return shown | body.get(TRANSLATED, {}).get(language, {})


def in_all(bodies: Mapping[str, Mapping[str, Any]], first: str) -> dict[str, Any]:
    """One body of those that say the same, by language."""
    return {**bodies[first], TRANSLATED: {language: dict(body) for language, body in bodies.items()}}
