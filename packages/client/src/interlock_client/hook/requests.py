"""A call as a request of the hitl face, and the answer to it as what the agent is told."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from interlock_client.hook.call import Agent, Arguments, Call, Outcome, digest, list_of, object_of

MARGIN = 15.0
"""Seconds before the agent's own timeout at which a request expires."""
SHORTEST = 1.0
AT_TERMINAL = "answered_at_the_terminal"
GONE = "the agent no longer waits"
TIMED_OUT = "Not run: nobody answered in time."

Json = dict[str, Any]
_OTHER = {"label": "Other", "value": "__custom__", "allow_custom": True}


class TimedOut(Exception):
    """Nobody answered in time."""


class AnswerMismatch(Exception):
    """An answer that this agent cannot take."""


def outcome_of(call: Call, request: Json) -> Outcome:
    """What came of a request that is settled, or `defer` while it is not; `TimedOut` when its deadline has passed."""
    response = object_of(request.get("response"))
    if request["status"] == "pending":
        return Outcome("defer", "A person is asked; resume the session to take the answer.")
    if request["status"] == "expired":
        raise TimedOut("its deadline has passed")
    if request["status"] != "answered" or response is None:
        return Outcome("deny", "Not run: the request was withdrawn before anybody answered it.")
    return _outcome_of(call, response)


def _outcome_of(call: Call, response: Arguments) -> Outcome:
    if call.questions:
        answers = tuple(map(str, list_of(response.get("answers"))))
        if len(answers) != len(call.questions):
            raise AnswerMismatch("the answers do not fit the questions")
        return Outcome("allow", answers=answers)
    if response.get("granted") is True:
        args = object_of(response.get("args"))
        if "args" in response and (args is None or "edit" not in call.allowed):
            raise AnswerMismatch("the arguments were changed, which this agent does not take")
        return Outcome("allow", "A person allowed it.", args)
    if message := response.get("reply"):
        return Outcome("deny", f"It did not run. A person says: {message}")
    reason = response.get("reason")
    return Outcome("deny", f"A person refused it{f': {reason}' if reason else '.'}")


def body_of(agent: Agent, call: Call, timeout: float | None) -> Json:
    """What is sent; `timeout` is the agent's own, None: it waits for as long as it takes."""
    name = PurePath(call.folder).name or call.folder
    body: Json = {
        "conversation_key": digest(agent.AGENT, call.session),
        # The name of a folder may hold what is no character.
        "title": name.encode("utf-8", "replace").decode()[:60],
        "agent": agent.AGENT,
        "timeout_seconds": None if timeout is None else max(timeout - MARGIN, SHORTEST),
    }
    if call.questions:
        return {"type": "clarification", "request_data": {"questions": list(call.questions)}, **body}
    by = f", its subagent {call.subagent}" if call.subagent else ""
    data = {
        "tool_name": call.tool,
        "args": call.args,
        # With the folder: a permission that is remembered holds in this one only.
        "description": f"{agent.NAME}{by}, in {call.folder}{call.note}".encode("utf-8", "replace").decode(),
        "risk_level": call.risk,
        "allowed": list(call.allowed),
    }
    return {"type": "permission", "request_data": data, **body}


def call_of(call: Call, args: Arguments | None = None) -> str:
    """By what a call is known again when it has run: the same for calls that are alike."""
    given = call.args if args is None else args
    return digest(call.tool, given if call.args_at_end is None else call.args_at_end)


def question_of(question: Mapping[str, Any], *, takes_several: bool) -> Mapping[str, Any]:
    """A question of an agent with its options, `{question, options: [{label, description}]}`, as ours."""
    hint = " (several, with commas between)" if takes_several else ""
    options = [_option(one) for one in map(object_of, list_of(question.get("options"))) if one is not None]
    return {"question": f"{question.get('question', '')}{hint}", "options": [*options, _OTHER] if options else []}


def _option(option: Mapping[str, Any]) -> Mapping[str, Any]:
    about = option.get("description")
    return {"label": f"{option.get('label', '')}{f': {about}' if about else ''}", "value": option.get("label")}
