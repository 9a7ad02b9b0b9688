"""Answers to an interrupt that does not say what it takes: any JSON, and never a no that would count as a yes.

For a graph every text is true, `"no"` too: `if interrupt(...)` goes ahead with it. So a text that reads as a refusal
is passed on only where somebody says that the text itself is meant, or the graph offered it.
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any, cast

from interlock.domain.asks import is_blank
from interlock.domain.errors import FieldError, InvalidAnswer

_WORDS = """
no|n|nope|nah|nay|no thanks|no thank you|no way|never|not now|not yet|not ok|not approved|not allowed|false|negative
reject|rejected|deny|denied|decline|declined|refuse|refused|disapprove|disapproved|disagree|veto|block|forbid
cancel|cancelled|canceled|stop|abort|aborted|quit|don't|dont|do not|don't do it|do not do it|stop it
non|nein|nee|nej|nie|não|нет|いいえ|いや|だめ|ダメ|아니요|아니오
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
    folded = unicodedata.normalize("NFKC", text).replace("\u2019", "'").casefold()
    seen = "".join(one for one in folded if unicodedata.category(one) != "Cf")
    whole = _words(seen)
    if seen.strip() in _SIGNS or whole.startswith(_BEGINNINGS) or _CHINESE_BEGINNINGS.match(whole):
        return True
    begins = whole.split(" ", 1)[0] in _FIRST_WORDS
    return begins or whole in _REFUSALS or any(_words(part) in _REFUSALS for part in _CLAUSE.split(seen))


def _words(text: str) -> str:
    kept = "".join(one if one == "'" or unicodedata.category(one)[0] not in "PSZC" else " " for one in text)
    return " ".join(word for part in kept.split() if (word := part.strip("'")))


def resolved(answer: Any, options: Sequence[str]) -> Any:
    """The JSON that the graph gets; `InvalidAnswer` for what could mean something else there."""
    if isinstance(answer, str):
        return _text(answer, options)
    if isinstance(answer, dict):
        wrapped = cast("dict[str, Any]", answer)
        if wrapped.keys() == {"text"}:
            return _explicit(wrapped["text"])
        if wrapped.keys() == {"json"}:
            return _carried(wrapped["json"])
    return _carried(answer)


def _carried(answer: Any) -> Any:
    check_carried(answer, "answer")
    return answer


def _text(text: str, options: Sequence[str]) -> str:
    if text in options:
        return text
    if is_blank(text):
        raise _wrong("empty", 'answer must not be an empty text; {"text": ""} sends one')
    if reads_as_refusal(text):
        spelled = json.dumps(text.strip()[:LONGEST_REPEATED], ensure_ascii=False)
        message = (
            f"{spelled} reads as a refusal, but as a text it counts as true: "
            f'answer false to say no, or {{"text": {spelled}}} to send the text itself'
        )
        raise InvalidAnswer(message, [FieldError("answer", READS_AS_REFUSAL, message)], text=spelled)
    return text


def _explicit(text: Any) -> str:
    if not isinstance(text, str):
        raise _wrong("not_text", 'text must be a text; {"json": {"text": ...}} sends the object itself')
    return text


def check_carried(value: Any, field: str) -> None:
    """`InvalidAnswer` for numbers that no checkpoint takes: they would fail the run that was given them."""
    if isinstance(value, int) and not _SMALLEST <= value <= _LARGEST:
        raise _wrong("too_large", "whole numbers have 64 bits at the most", field)
    if isinstance(value, dict):
        for name, one in cast("dict[str, Any]", value).items():
            check_carried(one, f"{field}.{name}")
    elif isinstance(value, list):
        for place, one in enumerate(cast("list[Any]", value)):
            check_carried(one, f"{field}[{place}]")


def _wrong(code: str, message: str, field: str = "answer") -> InvalidAnswer:
    return InvalidAnswer(message, [FieldError(field, code, message)])
