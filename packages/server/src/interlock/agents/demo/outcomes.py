"""How a tool call ended, read from the message that came back for it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from langchain_core.messages import ToolCall, ToolMessage

Ending = Literal["done", "edited", "refused", "unanswered", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class Outcome:
    tool: str
    args: Mapping[str, Any]
    """What was asked for; what ran after an edit."""
    ending: Ending
    text: str
    """What the tool returned, or the reason why it did not."""

    @property
    def good(self) -> bool:
        return self.ending in ("done", "edited")


_OUR_FAILURE = re.compile(r"(?:Error|Exit code)\b")
_REMARKS: Mapping[Ending, re.Pattern[str]] = {
    "unanswered": re.compile(
        r"not answered|(?:nobody|no one|no-one) (?:has )?answered|no answer|expired|timed out"
        r"|无人回答|没有人回答|超时|过期",
        re.IGNORECASE,
    ),
    "refused": re.compile(r"\b(?:reject|refus|declin|denied|disallow)\w*|拒绝|不同意|不允许", re.IGNORECASE),
    "skipped": re.compile(
        r"\bskip\w*|\b(?:not|never) (?:been )?(?:run|executed|started)|cancel\w*|stopped before"
        r"|跳过|没有运行|未运行|未执行|取消",
        re.IGNORECASE,
    ),
}
_EDITED = re.compile(
    r"\A(?:Note:\s*)?(?:(?:A|The|This)\b[^.\n]{0,60}\b(?:reviewer|person|human|user)\b[^.\n]{0,60}"
    r"\b(?:replaced|edited|changed)|(?:This (?:tool )?call|The arguments) (?:was|were) (?:edited|changed|replaced)"
    r"|[^。\n]{0,20}修改了?(?:参数|这次调用))"
    r"(?P<notice>.*?)(?:\n\n?(?:Tool response:)?(?P<result>.*))?\Z",
    re.IGNORECASE | re.DOTALL,
)
_RAN_ON = re.compile(
    r"(?:(?:Created|Replaced) (?=.* \(\d+ bytes\))|Edited (?=.*:)|Deleted )(?P<path>.+?)(?: \(\d+ bytes\)\.|: |\.$)"
)
_EXECUTED = re.compile(r"(?:with arguments|arguments:|with|参数[:：])\s*(?P<args>\{.*\})", re.DOTALL)
_REASON = re.compile(
    r"(?:reason|because|原因|理由)\s*(?:is|was|为|是)?\s*[:：]?\s*(?P<reason>\S.*)", re.IGNORECASE | re.DOTALL
)
_NOT_RUN = re.compile(r"\.?\s*\S+ was not run\.?\s*$")
_AFTER_COLON = re.compile(r"[^:：\n]{0,120}[:：]\s*(?P<reason>\S.*)", re.DOTALL)


def outcome_of(call: ToolCall, message: ToolMessage | None) -> Outcome:
    name, args = call["name"], call["args"]
    if message is None:
        return Outcome(name, args, "skipped", "")
    text = message.text.strip()
    if message.status != "error":
        return _good(name, args, text)
    # Our own tools say how they failed in their first word; "permission denied" inside is then no person's refusal.
    if _OUR_FAILURE.match(text):
        return Outcome(name, args, "failed", text)
    ending = _earliest(text)
    return Outcome(name, args, ending, text if ending == "failed" else _reason(text))


def _good(name: str, args: Mapping[str, Any], text: str) -> Outcome:
    if re.match(r"(?:skipped|not run)\b|跳过", text, re.IGNORECASE):
        return Outcome(name, args, "skipped", _reason(text))
    edited = _EDITED.match(text)
    if not edited:
        # Without a notice, what our tools say that they did still tells when it was to another file.
        ran = _RAN_ON.match(text)
        if ran and args.get("path") not in (None, ran["path"]):
            return Outcome(name, {**args, "path": ran["path"]}, "edited", text)
        return Outcome(name, args, "done", text)
    return Outcome(name, _executed(edited["notice"]) or args, "edited", (edited["result"] or "").strip())


def _earliest(text: str) -> Ending:
    """The remark that stands first decides; a person's own words come after it and may say anything."""
    first, decided = len(text), cast("Ending", "failed")
    for ending, pattern in _REMARKS.items():
        if (match := pattern.search(text)) and match.start() < first:
            first, decided = match.start(), ending
    return decided


def _reason(text: str) -> str:
    match = _REASON.search(text) or _AFTER_COLON.match(text)
    return _NOT_RUN.sub("", match["reason"]).strip() if match else ""


def _executed(notice: str) -> Mapping[str, Any] | None:
    match = _EXECUTED.search(notice)
    try:
        return json.loads(match["args"]) if match else None
    except ValueError:
        return None
