"""Every text that the server has in two languages: one file for each language, one section for each part of the server.

A section is a function: `threads_text("cancel", "en")`. Texts that only one language has, such as those of logs and
of commands, stay where they are used.
"""

from collections.abc import Callable, Mapping
from typing import Literal

from interlock.texts.en import EN
from interlock.texts.zh import ZH

Locale = Literal["zh", "en"]
LOCALES: tuple[Locale, ...] = ("en", "zh")
Section = Callable[..., str]

CATALOGUE: Mapping[Locale, Mapping[str, Mapping[str, str]]] = {"zh": ZH, "en": EN}


def has_text(section: str, key: str) -> bool:
    return key in EN[section]


def section(name: str) -> Section:
    """The texts of one part: a function of a key, a language and the values of the text's placeholders."""
    texts = {locale: CATALOGUE[locale][name] for locale in LOCALES}

    def text(key: str, locale: Locale, **values: object) -> str:
        return texts[locale][key].format_map(values)

    return text


def in_all(text: Section, key: str, **values: object) -> Mapping[str, str]:
    """A text in each language, for what is said before it is known to whom."""
    return {locale: text(key, locale, **values) for locale in LOCALES}


limits_text = section("limits")
teams_text = section("teams")
drills_text = section("drills")
channels_text = section("channels")
threads_text = section("threads")
hitl_text = section("hitl")
confirm_text = section("confirm")
sessions_text = section("sessions")
answers_text = section("answers")
breakpoints_text = section("breakpoints")
doubts_text = section("doubts")
graph_doubts_text = section("graph_doubts")
gateway_text = section("gateway")
backups_text = section("backups")
demo_text = section("demo")
