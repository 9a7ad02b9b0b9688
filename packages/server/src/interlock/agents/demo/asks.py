"""What the scripted model asks a person: the arguments of the four ask tools."""

from collections.abc import Sequence
from typing import Any

from interlock.texts import Locale, demo_text

_QUESTIONS = {"colour": ("red", "green", "blue"), "animal": ("dog", "cat"), "manner": ("now", "review")}
_STYLES = {"gradual": "primary", "all": "danger", "wait": "default"}


def questions(language: Locale, count: int) -> dict[str, Any]:
    custom = {"label": demo_text("ask.custom", language), "value": "__custom__", "allow_custom": True}
    items: list[dict[str, Any]] = []
    for name, values in list(_QUESTIONS.items())[:count]:
        options = [{"label": demo_text(f"ask.{name}.{value}", language), "value": value} for value in values]
        items.append({"question": demo_text(f"ask.{name}", language), "options": [*options, custom]})
    return {"questions": items}


def clarification(language: Locale) -> dict[str, Any]:
    places = [demo_text(f"ask.place.{place}", language) for place in ("development", "staging", "production")]
    return {"question": demo_text("ask.place", language), "options": places, "allow_custom": True}


def decision(language: Locale) -> dict[str, Any]:
    return {
        "title": demo_text("ask.release", language),
        "description": demo_text("ask.release.about", language),
        "options": [
            {"key": key, "label": demo_text(f"ask.release.{key}", language), "style": style}
            for key, style in _STYLES.items()
        ],
        "risks": [demo_text(f"ask.release.risk.{key}", language) for key in ("all", "gradual")],
    }


def env_vars(language: Locale, names: Sequence[str] = ()) -> dict[str, Any]:
    note = demo_text("ask.key", language)
    return {
        "fields": [
            {"name": name, "label": name, "required": True, "sensitive": True, "description": note}
            for name in names or ("DEMO_API_KEY",)
        ]
    }
