"""A graph is called where another one had come to its end that was given something else: are they the same?"""

from collections.abc import Mapping
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from interlock.agents.asking import ask_body
from interlock.domain.canonical import canonical_json, plain
from interlock.domain.kinds import DecisionBody
from interlock.texts import LOCALES, Locale
from interlock.texts import graph_doubts_text as text

_STYLES = {"same": "danger", "anew": "default"}


def is_same(saved: CheckpointTuple | None, given: Any) -> bool:
    """Ask a person, since nobody else can tell: a list may have become shorter, or an input may hold the time."""
    values: Mapping[str, Any] = saved.checkpoint["channel_values"] if saved else {}
    before = {key: value for key, value in values.items() if ":" not in key and not key.startswith("__")}
    bodies = {locale: _body(locale, _spelled(before), _spelled(given)) for locale in LOCALES}
    return ask_body(bodies["en"].with_translations(bodies), None)["decision"] == "same"


def _spelled(value: Any) -> str:
    return canonical_json(plain(value))


def _body(locale: Locale, before: str, now: str) -> DecisionBody:
    return DecisionBody.ask(
        text("title", locale),
        [{"key": key, "label": text(key, locale), "style": style} for key, style in _STYLES.items()],
        description=text("shown", locale, before=before, now=now),
        risks=[text("risk", locale)],
        decision_type="graph_in_doubt",
    )
