"""`permission_prompt`: Claude Code asks whether a tool may run. The reply is one text block of JSON, as it wants it.

Whatever is not a person's yes is a no: a deadline, a cancelled request, a server that stops.
"""

from typing import Any, cast

from mcp_types import CallToolResult
from pydantic import ConfigDict, Field

from interlock.domain.canonical import json_text
from interlock.domain.errors import InterlockError
from interlock.domain.kinds import ApprovalAnswer, QuestionsAnswer, RequestKind
from interlock.domain.kinds.fields import CUSTOM
from interlock.domain.request import RequestStatus
from interlock.faces.mcp.arguments import AskArguments
from interlock.faces.mcp.calls import Call
from interlock.faces.mcp.results import outcome_of, sentence_of, text_block
from interlock.services.requests.pending import RequestView

QUESTIONS_TOOL = "AskUserQuestion"
STOPPING = "Nobody has answered yet, and the server restarts. Try once more: the answer is kept for that."


class PermissionPrompt(AskArguments):
    # A later version of the host may send more, and must not be refused for it.
    model_config = ConfigDict(extra="ignore")

    tool_name: str = Field(min_length=1)
    input: dict[str, Any]
    tool_use_id: str | None = None

    def to_request(self) -> tuple[RequestKind, dict[str, Any]]:
        if questions := self._questions():
            return RequestKind.QUESTIONS, {"questions": questions}
        description = self.input.get("description")
        about = {"description": description if isinstance(description, str) else ""}
        return RequestKind.APPROVAL, {"tool_name": self.tool_name, "args": self.input, **about}

    def content(self) -> dict[str, Any]:
        # A model that tries once more has a new id for the same call.
        return {"tool_name": self.tool_name, "input": self.input}

    @property
    def questions(self) -> list[str]:
        """The texts that the host knows the answers by."""
        return [one["question"] for one in self._questions()]

    def _questions(self) -> list[dict[str, Any]]:
        """What the model asks its user; nothing where this is another tool, or not of the form that is known."""
        questions = self.input.get("questions") if self.tool_name == QUESTIONS_TOOL else None
        if not isinstance(questions, list):
            return []
        found = [_question(one) for one in cast("list[Any]", questions)]
        return [] if None in found else cast("list[dict[str, Any]]", found)


def _question(given: Any) -> dict[str, Any] | None:
    if not isinstance(given, dict):
        return None
    question = cast("dict[str, Any]", given)
    text: Any = question.get("question")
    options: Any = question.get("options") or []
    if not isinstance(text, str) or not text.strip() or not isinstance(options, list):
        return None
    choices = [_option(one) for one in cast("list[Any]", options)]
    if None in choices:
        return None
    # As in the terminal, an answer of one's own is always possible.
    own = [{"label": "Other", "value": CUSTOM, "allow_custom": True}] if choices else []
    return {"question": text, "options": [*choices, *own]}


def _option(given: Any) -> dict[str, str] | None:
    label = cast("dict[str, Any]", given).get("label") if isinstance(given, dict) else given
    if not isinstance(label, str) or not label.strip():
        return None
    about = cast("dict[str, Any]", given).get("description") if isinstance(given, dict) else None
    return {"label": f"{label}: {about}" if isinstance(about, str) and about else label, "value": label}


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
        answers = dict(zip(asking.questions, value.answers, strict=True))
        return {"behavior": "allow", "updatedInput": {**asking.input, "answers": answers}}
    if view.request.status is RequestStatus.PENDING:
        return {"behavior": "deny", "message": STOPPING}
    return {"behavior": "deny", "message": sentence_of(outcome_of(view))}


def _reply(decision: dict[str, Any]) -> CallToolResult:
    return CallToolResult(content=[text_block(json_text(decision, ensure_ascii=False))])
