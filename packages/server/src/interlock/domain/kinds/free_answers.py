"""Answers to an interrupt that does not say what it takes: any JSON, and never a no that would count as a yes.

For a graph every text is true, `"no"` too: `if interrupt(...)` goes ahead with it. So a text that reads as a refusal
is passed on only where somebody says that the text itself is meant, or the graph offered it.
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from math import isfinite
from typing import cast

from interlock.domain.errors import FieldError, InvalidAnswer, ReadsAsRefusal
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.kinds.fields import is_blank

_WORDS = """
no|n|nope|nah|nay|no thanks|no thank you|no way|never|not now|not yet|not ok|not approved|not allowed|false|negative
reject|rejected|deny|denied|decline|declined|refuse|refused|disapprove|disapproved|disagree|veto|block|forbid
cancel|cancelled|canceled|stop|abort|aborted|quit|don't|dont|do not|don't do it|do not do it|stop it
off|non|nein|nee|nej|nie|não|нет|いいえ|いや|だめ|ダメ|아니요|아니오
否|不|不要|不行|不可|不可以|不能|不同意|不批准|不允许|不允許|不通过|不通過|不准|不许|不許|不用|不用了|不必|不好|不是|不对|不對
不了|别|別|不执行|不執行|拒绝|拒絕|取消|驳回|駁回|否决|否決|否定|停|停止|中止|终止|終止|放弃|放棄|算了|禁止
"""
_FIRST_WORDS = frozenset(
    [
        "no",
        "nope",
        "nah",
        "never",
        "don't",
        "dont",
        "reject",
        "deny",
        "decline",
        "refuse",
        "cancel",
        "abort",
        "veto",
        "non",
        "nein",
        "nee",
        "nej",
        "нет",
    ]
)
_BEGINNINGS = ("do not ", "i refuse", "i decline", "i reject", "please don't", "please do not", "please cancel")
_CHINESE_BEGINNINGS = re.compile(
    r"[请請先]?(?:不(?![错錯过過仅僅但])|别(?![的人名])|別(?![的人名])|拒绝|拒絕|否|取消|驳回|駁回)"
)
_CHINESE_REFUSALS = re.compile(
    r"不同意|不批准|不允许|不允許|不行|不可以|不要|不能|不许|不許|不准|拒绝|拒絕|取消|驳回|駁回|否决|否決|没门|沒門|免谈|免談"
)
_NEGATION_WORDS = """
no not never nope nah don't dont won't can't cannot shouldn't mustn't isn't disagree veto forbid abort
reject rejected rejects refuse refused refuses deny denied decline declined cancel cancelled canceled
"""
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_SHORT_WORDS = 6
_SHORT_LETTERS = 12
_LATIN = str.maketrans("аеорсухіԁո", "aeopcyxidn")
"""Letters of other alphabets that are read as Latin ones."""
_SIGNS = ("null", "none", "👎", "❌", "🚫")
_REFUSALS = frozenset(word.strip() for line in _WORDS.splitlines() for word in line.split("|")) - {""}
READS_AS_REFUSAL = "reads_as_refusal"
LONGEST_REPEATED = 40
_CLAUSE = re.compile(r"[\n,.;:!?。、—–(…]|\s-+\s")
_LARGEST = 2**64 - 1
_SMALLEST = -(2**63)


def reads_as_refusal(text: str) -> bool:
    """Whether the text, or a part of it between commas, says no: whatever its case, its width and its marks.

    One that only begins like a refusal counts as one too: who means the text has to say so once more, and that is all.
    """
    normal = unicodedata.normalize("NFKC", text).replace("\u2019", "'").casefold()
    seen = "".join(one for one in normal if unicodedata.category(one) != "Cf")
    whole = _normalize(seen)
    if seen.strip() in _SIGNS or whole.startswith(_BEGINNINGS) or _CHINESE_BEGINNINGS.match(whole):
        return True
    if whole.split(" ", 1)[0] in _FIRST_WORDS or _is_short_refusal(whole):
        return True
    return whole in _REFUSALS or any(_normalize(part) in _REFUSALS for part in _CLAUSE.split(seen))


def _is_short_refusal(whole: str) -> bool:
    """A few words with a no among them; in a longer text it may well be about something else."""
    words = whole.translate(_LATIN).split()
    if len(words) <= _SHORT_WORDS and not _NEGATIONS.isdisjoint(words):
        return True
    return len(whole) <= _SHORT_LETTERS and _CHINESE_REFUSALS.search(whole) is not None


def _normalize(text: str) -> str:
    words_only = "".join(one if one == "'" or unicodedata.category(one)[0] not in "PSZC" else " " for one in text)
    return " ".join(word for part in words_only.split() if (word := part.strip("'")))


def resolve(answer: JsonValue, options: Sequence[str]) -> JsonValue:
    """The JSON that the graph gets; `InvalidAnswer` for what could mean something else there."""
    if isinstance(answer, str):
        return _text(answer, options)
    if isinstance(answer, dict):
        wrapped = cast("JsonObject", answer)
        if wrapped.keys() == {"text"}:
            return _explicit(wrapped["text"])
        if wrapped.keys() == {"json"}:
            return _checked_json(wrapped["json"])
    return _checked_json(answer)


def parse_typed(text: str, field: str) -> JsonValue:
    """What somebody typed where code takes any JSON: read as JSON where it is that, else the text.

    A text that reads as a refusal is not passed on, but for one that is in quotes, as JSON writes it.
    """
    try:
        value = read_json(text)
    except (ValueError, RecursionError):
        if reads_as_refusal(text):
            excerpt = text.strip()[:LONGEST_REPEATED]
            excerpt_json = json.dumps(excerpt, ensure_ascii=False)
            raise _wrong(
                "refusal_as_text",
                f"{excerpt} reads as a refusal, but as a text it counts as true: "
                f"give false to say no, or {excerpt_json} with its quotes for the text itself",
                field,
            ) from None
        return text
    check_carried(value, field)
    return value


def read_json(text: str) -> JsonValue:
    """`ValueError` or `RecursionError` for what is no JSON, or is a number beyond all that is stored."""
    return json.loads(text, parse_constant=_no_number, parse_float=_finite)


def _no_number(word: str) -> JsonValue:
    raise ValueError(f"{word} is no number of JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError(f"{digits} is too large")
    return number


def _checked_json(answer: JsonValue) -> JsonValue:
    check_carried(answer, "answer")
    return answer


def _text(text: str, options: Sequence[str]) -> str:
    if text in options:
        return text
    if is_blank(text):
        raise _wrong("empty", 'answer must not be an empty text; {"text": ""} sends one')
    if reads_as_refusal(text):
        text_json = json.dumps(text.strip()[:LONGEST_REPEATED], ensure_ascii=False)
        message = (
            f"{text_json} reads as a refusal, but as a text it counts as true: "
            f'answer false to say no, or {{"text": {text_json}}} to send the text itself'
        )
        raise ReadsAsRefusal(message, [FieldError("answer", READS_AS_REFUSAL, message)], text_json)
    return text


def _explicit(text: JsonValue) -> str:
    if not isinstance(text, str):
        raise _wrong("not_text", 'text must be a text; {"json": {"text": ...}} sends the object itself')
    return text


def check_carried(value: JsonValue, field: str) -> None:
    """`InvalidAnswer` for numbers that no checkpoint takes: they would fail the run that was given them."""
    if isinstance(value, int) and not _SMALLEST <= value <= _LARGEST:
        raise _wrong("too_large", "whole numbers have 64 bits at the most", field)
    if isinstance(value, dict):
        for name, one in cast("JsonObject", value).items():
            check_carried(one, f"{field}.{name}")
    elif isinstance(value, list):
        for place, one in enumerate(cast("list[JsonValue]", value)):
            check_carried(one, f"{field}[{place}]")


def _wrong(code: str, message: str, field: str = "answer") -> InvalidAnswer:
    return InvalidAnswer(message, [FieldError(field, code, message)])
