"""What the scripted model says about the calls that it makes, and about how they ended."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from langchain_core.messages import ToolCall, ToolMessage

from interlock.agents.demo.wishes import Step
from interlock.texts import Locale
from interlock.texts import demo_text as text

Ending = Literal["done", "edited", "refused", "unanswered", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class Outcome:
    tool: str
    args: Mapping[str, Any]
    """What was asked for; what ran after an edit."""
    ending: Ending
    result: str
    """What the tool returned, or the reason why it did not."""

    @property
    def is_good(self) -> bool:
        return self.ending in ("done", "edited")


_LONGEST_OUTPUT = 4000
"""How many characters of a tool's output are repeated; the whole is in the conversation already."""
_EDITED = re.compile(r"A person changed the arguments; it ran with (?P<args>\{.*\})\.\n(?P<result>.*)", re.DOTALL)
# By how a message begins: a person's own words come later in it, and may say anything.
_ENDINGS: Mapping[Ending, tuple[str, ...]] = {
    "refused": ("A person refused ",),
    "unanswered": ("Not answered: ",),
    "skipped": ("Skipped: ", "Not run: "),
}
_REASON = re.compile(r"[^:]*: (?P<reason>.*?)(?:\. \w+ (?:was not run|stopped there)\.)?\Z", re.DOTALL)
_REASONS = {
    "expired": "expired",
    "nobody answered before the deadline": "expired",
    "cancelled": "cancelled",
    "the request was cancelled": "cancelled",
}
"""Reasons that the server gives, as people would say them."""
_OWN_RESULTS = {"write_file": ("Created ", "Replaced "), "edit_file": ("Edited ",), "delete_file": ("Deleted ",)}


def outcome_of(call: ToolCall, message: ToolMessage | None) -> Outcome:
    """How a call ended, read from the message that came back for it."""
    tool, args = call["name"], call["args"]
    if message is None:
        return Outcome(tool, args, "skipped", "")
    content = message.text.strip()
    if message.status != "error":
        edited = _EDITED.match(content)
        ran: Any = _parse(edited["args"]) if edited else None
        return (
            Outcome(tool, ran, "edited", edited["result"]) if edited and ran else Outcome(tool, args, "done", content)
        )
    for ending, begins in _ENDINGS.items():
        if content.startswith(begins):
            reason = _REASON.match(content)
            return Outcome(tool, args, ending, reason["reason"] if reason else "")
    return Outcome(tool, args, "failed", content)


def lead_in(calls: Step, language: Locale, *, is_first: bool) -> str:
    """What is said before the calls of a step."""
    call, *others = calls
    if others:
        lead = text("before.several", language, count=len(calls), list=_names(calls, language))
    else:
        lead = text(f"before.{call.tool}", language, **_display_args(call.args))
    return lead if is_first else text("before.next", language, text=lead)


def report(outcomes: Sequence[Outcome], left: Sequence[Step], language: Locale) -> str:
    """What is said when the calls of a turn have ended; `left` are the steps that were not begun."""
    parts = [_describe_end(outcome, language) for outcome in outcomes]
    if left:
        rest = [call for calls in left for call in calls]
        parts.append(text("ended.rest", language, list=_names(rest, language)))
    return "\n\n".join(parts)


def _describe_end(outcome: Outcome, language: Locale) -> str:
    if outcome.ending == "done":
        return _describe_result(outcome, language)
    key = f"ended.{outcome.ending}"
    if outcome.ending == "unanswered" and outcome.tool in _ANSWERS:
        key = "ended.unanswered_ask"
    known = _REASONS.get(outcome.result)
    reason = text(f"reason.{known}", language) if known else outcome.result
    return text(
        key,
        language,
        name=_name(outcome.tool, outcome.args, language),
        reason=text("ended.reason", language, reason=reason) if reason else "",
        output=_block(outcome.result, language),
        done=_describe_result(outcome, language) if outcome.is_good else "",
    )


def _describe_result(outcome: Outcome, language: Locale) -> str:
    output = _block(outcome.result, language)
    # A person may answer in place of the tool: "written" could then be a lie.
    if not outcome.result.startswith(_OWN_RESULTS.get(outcome.tool, "")):
        return text("done.by_person", language, name=_name(outcome.tool, outcome.args, language), output=output)
    answer = _ANSWERS.get(outcome.tool)
    details = answer(outcome, language) if answer else {"output": output}
    return text(f"done.{outcome.tool}", language, **{**_display_args(outcome.args), **details})


def _name(tool: str, args: Mapping[str, Any], language: Locale) -> str:
    return text(f"name.{tool}", language, **_display_args(args))


def _names(calls: Sequence[Any], language: Locale) -> str:
    return text("comma", language).join(_name(call.tool, call.args, language) for call in calls)


def _display_args(args: Mapping[str, Any]) -> dict[str, str]:
    names = ", ".join(str(field["name"]) for field in args.get("fields", ()))
    return {"path": str(args.get("path", "")), "command": str(args.get("command", "")), "names": names}


def _block(output: str, language: Locale) -> str:
    excerpt = output if len(output) <= _LONGEST_OUTPUT else f"{output[:_LONGEST_OUTPUT]}\n[...]"
    # A longer fence than any in the text, so that the text can't end it.
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", excerpt)), 3)
    return f"{fence}\n{excerpt or text('empty', language)}\n{fence}"


def _parse(content: str) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _question_details(outcome: Outcome, language: Locale) -> dict[str, str]:
    given = _parse(outcome.result)
    if not isinstance(given, list):
        return {"answers": outcome.result}
    labels = {
        (question["question"], option["value"]): option["label"]
        for question in outcome.args["questions"]
        for option in question["options"]
    }
    pairs = [(str(one.get("question", "")), str(one.get("answer", ""))) for one in cast("list[dict[str, Any]]", given)]
    return {"answers": "\n".join(f"- {pair[0]} {labels.get(pair, pair[1])}" for pair in pairs)}


def _clarification_details(outcome: Outcome, language: Locale) -> dict[str, str]:
    return {"answer": outcome.result.rstrip("。.")}


def _decision_details(outcome: Outcome, language: Locale) -> dict[str, str]:
    given = _parse(outcome.result)
    found = cast("dict[str, Any]", given) if isinstance(given, dict) else {"decision": outcome.result}
    labels = {option["key"]: option["label"] for option in outcome.args["options"]}
    key, reason = str(found.get("decision", "")), found.get("reason")
    return {
        "decision": labels.get(key, key),
        "reason": text("decision.reason", language, reason=reason) if reason else "",
    }


def _env_var_details(outcome: Outcome, language: Locale) -> dict[str, str]:
    # Only what is known to be a name is repeated: a value must not be, whatever came back.
    given = _parse(outcome.result)
    found: Any = cast("dict[str, Any]", given).get("provided") if isinstance(given, dict) else None
    names = [str(field["name"]) for field in outcome.args["fields"]]
    return {"names": ", ".join(name for name in names if not isinstance(found, list) or name in found)}


_ANSWERS = {
    "ask_user": _question_details,
    "request_clarification": _clarification_details,
    "request_decision": _decision_details,
    "request_env_vars": _env_var_details,
}
