"""The Claude Agent SDK: what its permission rules do not settle, decided by a person.

options = ClaudeAgentOptions(can_use_tool=ask_a_person(client, risk={"Bash": "high"}))
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, cast

from interlock_client.adapters._gate import TIMEOUT, Gate, missing_package, refusal
from interlock_client.client import Interlock
from interlock_client.errors import InterlockError, NotAnswered
from interlock_client.hitl import Risk

try:
    from claude_agent_sdk import (
        CanUseTool,
        PermissionResult,
        PermissionResultAllow,
        PermissionResultDeny,
        ToolPermissionContext,
    )
except ImportError as error:
    raise missing_package("claude-agent-sdk", "claude-agent") from error

logger = logging.getLogger("interlock_client")

QUESTIONS = "AskUserQuestion"
"""Claude's own tool for asking; allowing it without answers would say nothing."""
_OTHER = {"label": "Other", "value": "__custom__", "allow_custom": True}


def ask_a_person(
    client: Interlock,
    *,
    risk: Mapping[str, Risk] | None = None,
    timeout: float | None = TIMEOUT,
    allow_remember: bool = True,
) -> CanUseTool:
    """A callback for `can_use_tool`. Claude's own questions are put to the person as questions.

    `timeout` is how long each call may wait for a person, in seconds; a call that nobody decides is denied. One that
    cannot be asked about is denied too, and ends Claude's turn.
    """
    gate = Gate(client, risk, timeout, allow_remember)

    async def can_use_tool(name: str, args: dict[str, Any], context: ToolPermissionContext) -> PermissionResult:
        try:
            return await (_answer(gate, args) if name == QUESTIONS else _decide(gate, name, args, context))
        except InterlockError as error:
            logger.exception("%s was denied: it could not be put to a person", name)
            return PermissionResultDeny(message=f"No person could be asked: {error.message}", interrupt=True)

    return can_use_tool


async def _decide(gate: Gate, name: str, args: dict[str, Any], context: ToolPermissionContext) -> PermissionResult:
    about = [context.title, context.description, context.decision_reason]
    approval = await gate.ask(
        name, args, description="\n".join(text for text in about if text), display_name=context.display_name
    )
    if approval.granted:
        return PermissionResultAllow(updated_input=dict(approval.args))
    # The SDK knows no result in a tool's place: a denial is what carries the person's text.
    denial = (
        f"It did not run. A person says: {approval.message}" if approval.decision == "response" else refusal(approval)
    )
    return PermissionResultDeny(message=denial)


async def _answer(gate: Gate, args: dict[str, Any]) -> PermissionResult:
    questions = cast("Sequence[Mapping[str, Any]]", args.get("questions") or ())
    try:
        answers = await gate.client.ask_questions([_question(one) for one in questions], gate.timeout)
    except NotAnswered as error:
        return PermissionResultDeny(message=f"The questions were not answered: {error.reason}")
    given = {str(one["question"]): answer for one, answer in zip(questions, answers, strict=True)}
    return PermissionResultAllow(updated_input={**args, "answers": given})


def _question(question: Mapping[str, Any]) -> Mapping[str, Any]:
    hint = " (several, with commas between)" if question.get("multiSelect") else ""
    options = [_option(one) for one in cast("Sequence[Mapping[str, Any]]", question.get("options") or ())]
    return {"question": f"{question.get('question', '')}{hint}", "options": [*options, _OTHER] if options else []}


def _option(option: Mapping[str, Any]) -> Mapping[str, Any]:
    about = option.get("description")
    return {"label": f"{option.get('label', '')}{f': {about}' if about else ''}", "value": option.get("label")}
