"""`permission_prompt`: Claude Code asks whether a tool may run. The reply is one text block of JSON, as it wants it.

Whatever is not a person's yes is a no: a deadline, a cancelled request, a server that stops.
"""

from collections.abc import Mapping
from typing import Any

from mcp_types import CallToolResult
from pydantic import ConfigDict, Field

from interlock.domain.canonical import json_text
from interlock.domain.errors import InterlockError
from interlock.domain.kinds import ApprovalAnswer, QuestionsAnswer, RequestKind
from interlock.domain.request import RequestStatus
from interlock.faces.mcp.arguments import AskArguments
from interlock.faces.mcp.calls import Call
from interlock.faces.mcp.results import outcome_of, sentence_of, text_block
from interlock.services.requests.pending import RequestView
from interlock_client.hook.call import list_of, object_of
from interlock_client.hook.claude_code import PLAN, QUESTIONS
from interlock_client.hook.requests import question_of

STOPPING = "Nobody has answered yet, and the server restarts. Try once more: the answer is kept for that."


class PermissionPrompt(AskArguments):
    # A later version of the host may send more, and must not be refused for it.
    model_config = ConfigDict(extra="ignore")

    tool_name: str = Field(min_length=1)
    input: dict[str, Any]
    tool_use_id: str | None = None

    def to_request(self) -> tuple[RequestKind, dict[str, Any]]:
        if self.questions:
            shown = [question_of(one, takes_several=bool(one.get("multiSelect"))) for one in self.questions]
            return RequestKind.QUESTIONS, {"questions": shown}
        description = self.input.get("description")
        about: dict[str, Any] = {"description": description if isinstance(description, str) else ""}
        if self.tool_name == PLAN:
            # Its text is shown, and nothing of it is run.
            about["allowed"] = ["accept", "reject", "response"]
        return RequestKind.APPROVAL, {"tool_name": self.tool_name, "args": self.input, **about}

    def content(self) -> dict[str, Any]:
        # A model that tries once more has a new id for the same call.
        return {"tool_name": self.tool_name, "input": self.input}

    @property
    def questions(self) -> list[dict[str, Any]]:
        """What the model asks its user; nothing where this is another tool, or not of the form that is known."""
        given = list_of(self.input.get("questions")) if self.tool_name == QUESTIONS else []
        known = [one for one in map(object_of, given) if one is not None and _is_known(one)]
        return known if len(known) == len(given) else []


def _is_known(question: Mapping[str, Any]) -> bool:
    options = question.get("options", [])
    labels = [(object_of(one) or {}).get("label") for one in list_of(options)]
    return isinstance(options, list) and all(_is_text(one) for one in (question.get("question"), *labels))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


async def prompt(call: Call, asking: PermissionPrompt) -> CallToolResult:
    try:
        view = await call.ask_to_the_end(asking, asking.tool_use_id)
    except InterlockError as error:
        return _reply({"behavior": "deny", "message": f"{error.code}: {error.message}"})
    return _reply(_decision(asking, view))


def _decision(asking: PermissionPrompt, view: RequestView) -> dict[str, Any]:
    value = view.answer.value if view.answer and view.request.status is RequestStatus.ANSWERED else None
    if isinstance(value, ApprovalAnswer) and value.runs:
        return {"behavior": "allow", "updatedInput": asking.input if value.args is None else value.args}
    if isinstance(value, QuestionsAnswer):
        answers = dict(zip((one["question"] for one in asking.questions), value.answers, strict=True))
        return {"behavior": "allow", "updatedInput": {**asking.input, "answers": answers}}
    if view.request.status is RequestStatus.PENDING:
        return {"behavior": "deny", "message": STOPPING}
    return {"behavior": "deny", "message": sentence_of(outcome_of(view))}


def _reply(decision: dict[str, Any]) -> CallToolResult:
    # With escapes: half a character comes back as it was asked.
    return CallToolResult(content=[text_block(json_text(decision))])
