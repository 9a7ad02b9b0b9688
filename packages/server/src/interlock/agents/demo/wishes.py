"""What a person wants, read from one message: steps of tool calls, small talk, or a command that lacks something.

Calls of one step are made at once; a step waits for the one before it ("create a.py, then run it").
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from interlock.agents.demo.commands import Call, Missing, calls_of, find_missing, hide_quotes
from interlock.texts import Locale

Topic = Literal["greeting", "who", "model", "help", "thanks", "bye", "long", "unknown"]
Step = tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Talk:
    topic: Topic


@dataclass(frozen=True, slots=True)
class Incomplete:
    missing: Missing


_LONGEST = 2000
"""Patterns are tried from many places of the text; on a longer one that would hold up the server."""
_MOST_JOINTS = 40
_TOPICS: Mapping[Topic, re.Pattern[str]] = {
    "model": re.compile(r"interlock_model|\b(?:real|which|what)\b.{0,20}\bmodel\b|(?:什么|哪个|真正?的?)模型", re.I),
    "who": re.compile(r"\bwho are you\b|\bwhat are you\b|\byour name\b|你是谁|你叫什么|你是什么", re.I),
    "help": re.compile(r"\bhelp\b|\bwhat (?:can you|you can)\b|^[?？]+$|帮助|你会什么|[能以]做什么|怎么用", re.I),
    "thanks": re.compile(r"\bthank|谢谢|多谢|感谢", re.I),
    "bye": re.compile(r"\b(?:good)?bye\b|再见|拜拜", re.I),
    "greeting": re.compile(r"^\W*(?:hi|hello|hey|good (?:morning|evening))\b|\bhow are you\b|[你您]好|嗨", re.I),
}
_POLITE = re.compile(
    r"[\s,，!！]*+(?:(?:please|now|also|first|just|ok|hey|hi|hello|(?:can|could|would) you|i want (?:you )?to"
    r"|i(?:'d| would) like (?:you )?to|let's|help me)(?=[\s,，!！:])"
    r"|请你?|麻烦你?|帮我|给我|你?能不能|你能|可以|我想|我要|现在|先|[你您]好|也)"
    r"[\s,，!！:]*+",
    re.IGNORECASE,
)
_THEN = r"\b(?:and then|then|after that)\b|然后再?|接着|之后|最后|再"
_AND = r"\b(?:and also|and|also)\b|以及|并且?|还有|同时|[和与跟]"
_JOINT = re.compile(rf"(?:[,，、;；。\n]|\.(?=\s))\s*+(?:(?P<then1>{_THEN})|{_AND})?|(?P<then2>{_THEN})|{_AND}", re.I)
_QUOTES = ('""', "''", "``", "“”", "‘’", "「」", "『』", "«»", "＂＂")
_VERBATIM = re.compile(r"：|:(?=[\s\ue000\u4e00-\u9fff])")
"""After such a colon a text follows that is the person's own to the last letter."""


def language_of(text: str) -> Locale:
    return "zh" if re.search(r"[\u4e00-\u9fff]", text) else "en"


def understand(text: str, last_path: str | None = None) -> Plan | Talk | Incomplete:
    """What `text` asks for; `last_path` is the file that the conversation was about."""
    text = _unquote(text.strip())
    if len(text) > _LONGEST:
        return Talk("long")
    if steps := _steps(text, last_path):
        return Plan(steps)
    for topic, pattern in _TOPICS.items():
        if pattern.search(text):
            return Talk(topic)
    missing = find_missing(_plain(text))
    return Incomplete(missing) if missing else Talk("unknown")


def _unquote(text: str) -> str:
    """Without the quotes around all of it, with which a wish stands in a document."""
    quoted = text.rstrip(".。")
    for opening, closing in _QUOTES:
        if quoted[:1] == opening and quoted[-1:] == closing and not {opening, closing} & set(quoted[1:-1]):
            return quoted[1:-1].strip()
    return text


def _steps(text: str, last_path: str | None) -> tuple[Step, ...]:
    steps: list[Step] = []
    for calls, then in _clauses(text, last_path):
        if steps and not then and not _depends(calls, steps[-1]):
            steps[-1] += calls
        elif calls:
            steps.append(calls)
    return tuple(steps)


def _clauses(text: str, last_path: str | None) -> Iterator[tuple[Step, bool]]:
    """The calls of each clause, and whether they wait for those before.

    A joint only counts when what follows it is a command of its own: "milk and eggs" is one content.
    """
    language, masked = language_of(text), hide_quotes(text)
    verbatim = _VERBATIM.search(masked)
    start, then = 0, False
    for joint in islice(_JOINT.finditer(masked, 0, verbatim.start() if verbatim else len(text)), _MOST_JOINTS):
        calls = calls_of(_plain(text[start : joint.start()]), language, last_path)
        path = _last_path(calls) or last_path
        if calls and calls_of(_plain(text[joint.end() :]), language, path):
            yield calls, then
            start, then, last_path = joint.end(), bool(joint["then1"] or joint["then2"]), path
    yield calls_of(_plain(text[start:]), language, last_path), then


def _plain(clause: str) -> str:
    """The clause without the words that are only polite."""
    clause = clause.strip()
    while (match := _POLITE.match(clause)) and match.end() < len(clause):
        clause = clause[match.end() :]
    return clause


def _last_path(calls: Step) -> str | None:
    return next((call.path for call in reversed(calls) if call.path), None)


def _depends(calls: Step, earlier: Step) -> bool:
    """Whether calls touch a file that an earlier one of the same step makes, changes or removes."""
    touched = [call.path for call in earlier if call.path]
    return any(path == call.path or path in str(call.args.get("command", "")) for call in calls for path in touched)
