"""What the scripted model says about the calls that it makes, and about how they ended."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from interlock.agents.demo import wording
from interlock.agents.demo.asks import Language
from interlock.agents.demo.builders import Calls
from interlock.agents.demo.outcomes import Outcome

_ASK_TOOLS = frozenset({"ask_user", "request_clarification", "request_decision", "request_env_vars"})
_SHOWN = 4000
"""How many characters of a tool's output are repeated; the whole is in the conversation already."""
_OURS: Mapping[str, re.Pattern[str]] = {
    "write_file": re.compile(r"(?:Created|Replaced) "),
    "edit_file": re.compile(r"Edited "),
    "delete_file": re.compile(r"Deleted "),
}


def lead_in(calls: Calls, language: Language, *, first: bool) -> str:
    """What is said before the calls of a step."""
    call, *others = calls
    if others:
        listed = _listed([_short(one.tool, one.args, language) for one in calls], language)
        text = wording.LEAD_IN_MANY[language].format(count=len(calls), list=listed)
    else:
        text = wording.LEAD_IN[call.tool][language].format_map(_names(call.args))
    return text if first else wording.LEAD_IN_NEXT[language] + text


def report(outcomes: Sequence[Outcome], left: Sequence[Calls], language: Language) -> str:
    """What is said when the calls of a turn have ended; `left` are the steps that were not begun."""
    parts = [_told(outcome, language) for outcome in outcomes]
    if left:
        rest = [_short(call.tool, call.args, language) for calls in left for call in calls]
        parts.append(wording.NOT_GONE_ON[language].format(list=_listed(rest, language)))
    return "\n\n".join(parts)


def _told(outcome: Outcome, language: Language) -> str:
    if outcome.ending == "done":
        return _done(outcome, language)
    table = wording.ENDED_ASK if outcome.tool in _ASK_TOOLS and outcome.ending in wording.ENDED_ASK else wording.ENDED
    said = wording.REASONS[outcome.text][language] if outcome.text in wording.REASONS else outcome.text
    reason = wording.ENDED_REASON[language].format(reason=said) if said else ""
    return table[outcome.ending][language].format_map(
        {
            "short": _short(outcome.tool, outcome.args, language),
            "reason": reason,
            "output": _block(outcome.text, language),
            "done": _done(outcome, language) if outcome.ending == "edited" else "",
        }
    )


def _done(outcome: Outcome, language: Language) -> str:
    ours = _OURS.get(outcome.tool)
    if ours and outcome.text and not ours.match(outcome.text):
        short = _short(outcome.tool, outcome.args, language)
        return wording.SPOKEN_FOR[language].format(short=short, output=_block(outcome.text, language))
    texts = wording.DONE.get(outcome.tool, wording.ANY_DONE)
    answers = _ANSWERS.get(outcome.tool)
    details = answers(outcome, language) if answers else {"output": _block(outcome.text, language)}
    return texts[language].format_map({**_names(outcome.args), **details})


def _short(tool: str, args: Mapping[str, Any], language: Language) -> str:
    texts = wording.SHORT.get(tool)
    return texts[language].format_map(_names(args)) if texts else tool


def _names(args: Mapping[str, Any]) -> dict[str, str]:
    fields = cast("list[dict[str, Any]]", args.get("fields") or [])
    return {
        "path": str(args.get("path", "")),
        "command": str(args.get("command", "")),
        "names": ", ".join(str(field.get("name", "")) for field in fields),
    }


def _listed(items: Sequence[str], language: Language) -> str:
    return ("、" if language == "zh" else ", ").join(items)


def _block(text: str, language: Language) -> str:
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}\n[...]"
    # A longer fence than any in the text, so that the text can't end it.
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", shown)), 3)
    return f"{fence}\n{shown or wording.EMPTY[language]}\n{fence}"


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _answered_questions(outcome: Outcome, language: Language) -> dict[str, str]:
    given = _parsed(outcome.text)
    if not isinstance(given, list):
        return {"answers": outcome.text}
    labels = {
        (question["question"], option["value"]): option["label"]
        for question in outcome.args.get("questions", ())
        for option in question.get("options", ())
    }
    lines: list[str] = []
    for item in cast("list[dict[str, Any]]", given):
        question, answer = str(item.get("question", "")), str(item.get("answer", ""))
        lines.append(f"- {question} {labels.get((question, answer), answer)}")
    return {"answers": "\n".join(lines)}


def _answered_clarification(outcome: Outcome, language: Language) -> dict[str, str]:
    return {"answer": outcome.text.rstrip("。.")}


def _answered_decision(outcome: Outcome, language: Language) -> dict[str, str]:
    given = _parsed(outcome.text)
    if not isinstance(given, dict):
        return {"decision": outcome.text, "reason": ""}
    found = cast("dict[str, Any]", given)
    labels = {option["key"]: option["label"] for option in outcome.args.get("options", ())}
    key, reason = str(found.get("decision", "")), found.get("reason")
    shown = wording.REASON[language].format(reason=reason) if reason else ""
    return {"decision": labels.get(key, key), "reason": shown}


def _answered_env_vars(outcome: Outcome, language: Language) -> dict[str, str]:
    # Only what is known to be a name is repeated: a value must not be, whatever came back.
    given = _parsed(outcome.text)
    found: Any = cast("dict[str, Any]", given).get("provided") if isinstance(given, dict) else None
    asked = [str(field["name"]) for field in outcome.args.get("fields", ())]
    names = [name for name in asked if name in found] if isinstance(found, list) else asked
    return {"names": ", ".join(names)}


_ANSWERS = {
    "ask_user": _answered_questions,
    "request_clarification": _answered_clarification,
    "request_decision": _answered_decision,
    "request_env_vars": _answered_env_vars,
}
