"""A second opinion: what a model says of a call. It is told the call alone, and decides nothing."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from interlock.domain.canonical import canonical_json, digest
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.kinds import ApprovalBody
from interlock.domain.redaction import HIDDEN, Redaction

LONGEST_CALL = 100_000
LONGEST_OPINION = 4_000
"""Characters, of the arguments as they are told, and of what is shown of an opinion."""
_NAMES = r"pass(?:word|wd|phrase)|secret|token|api[_-]?key|[_-]key|credential|authorization|cookie"
_CONFIDENTIAL = re.compile(_NAMES, re.IGNORECASE)
_IN_TEXT = re.compile(
    rf"(?P<name>(?:{_NAMES})\w{{0,40}}[\"']?\s{{0,8}}[=:]\s{{0,8}}(?:(?:basic|bearer|token)\s+)?"
    rf"|\bbearer\s+|--[\w-]{{0,40}}(?:{_NAMES})[\w-]{{0,40}}\s+)"
    r"(?P<value>\"[^\"]*\"?|'[^']*'?|[^\s\"'&;,]+)",
    re.IGNORECASE,
)
_IN_ADDRESS = re.compile(r"(?<=://)[^\s/@]+(?=@)")


class OpinionEnd(StrEnum):
    GIVEN = "given"
    FAILED = "failed"
    """Whoever was to give it raised, or gave no text."""
    LATE = "late"
    TOO_LONG = "too_long"
    """The call: nobody was told of it."""


@dataclass(frozen=True, slots=True)
class OpinionCall:
    """All that whoever gives an opinion is told: nothing that an agent or a person says of the call."""

    tool: str
    arguments: str
    """As canonical JSON, with `***` in place of what is confidential."""
    risk: str

    @property
    def digest(self) -> str:
        return digest({"tool": self.tool, "arguments": self.arguments, "risk": self.risk})


@dataclass(frozen=True, slots=True)
class Opinion:
    by: str
    """Who gives opinions on this server, as its operator named it."""
    end: OpinionEnd
    text: str | None = None


def opinion_call(body: ApprovalBody, redact: Redaction) -> OpinionCall | None:
    """The call without what people gave in confidence, and without what is confidential by its name. None where it is
    too long to be told whole: it is not told in part."""
    if len(canonical_json(body.args)) > LONGEST_CALL:
        return None
    quiet = cast("JsonObject", _without_named(body.args))
    return OpinionCall(body.tool_name, redact(canonical_json(redact.within(quiet))), body.risk_level or "")


def opinion_text(given: object) -> str | None:
    """None for what is no opinion."""
    if not isinstance(given, str) or not given.strip():
        return None
    text = given.strip()
    return text if len(text) <= LONGEST_OPINION else f"{text[: LONGEST_OPINION - 1]}…"


def _without_named(value: JsonValue, *, is_named: bool = False) -> JsonValue:
    match value:
        case str():
            return HIDDEN if is_named and value else _without_told(value)
        case list():
            return [_without_named(one, is_named=is_named) for one in cast("list[JsonValue]", value)]
        case dict():
            return {
                name: _without_named(one, is_named=is_named or _CONFIDENTIAL.search(name) is not None)
                for name, one in cast("JsonObject", value).items()
            }
        case _:
            return value


def _without_told(text: str) -> str:
    """Within a text, such as a command: what follows a name, and who signs in to an address."""
    return _IN_ADDRESS.sub(HIDDEN, _IN_TEXT.sub(lambda found: f"{found['name']}{HIDDEN}", text))
