"""The tools, in the order in which they are listed: what hosts see of each, and what a call of it does."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp.server.context import HandlerResult
from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestURLParams,
    InputRequiredResult,
    Tool,
    ToolAnnotations,
)

from interlock.domain.errors import AlreadySettled
from interlock.domain.ids import new_id
from interlock.domain.request import RequestStatus
from interlock.faces.mcp.arguments import (
    Arguments,
    AskPerson,
    AskQuestions,
    Decide,
    RequestApproval,
    RequestSecret,
    Wait,
    Withdraw,
)
from interlock.faces.mcp.calls import Call
from interlock.faces.mcp.permission import PermissionPrompt, prompt
from interlock.faces.mcp.results import Outcome, page_of
from interlock.faces.mcp.tasks import task_of
from interlock.services.requests import outside, pending


async def _ask(call: Call, asking: Any) -> HandlerResult:
    if not call.takes_tasks:
        return call.result(await call.ask(asking))
    view = await call.place(asking)
    return task_of(view) if view.request.status is RequestStatus.PENDING else call.result(view)


async def _ask_for_secret(call: Call, asking: RequestSecret) -> HandlerResult:
    """Where the host can open a page, it is told of it first. Whatever it says then, the request stays as it is."""
    if not call.takes_pages or call.request_state is not None:
        return await _ask(call, asking)
    key = call.call_id(asking) or new_id("round")
    view = await call.place(asking, key)
    page = page_of(view.request, call.pages)
    if page is None:
        return call.result(view)
    names = ", ".join(asking.names)
    wish = ElicitRequestURLParams(url=page, message=f"Give {names} in Interlock. {asking.why}".strip())
    return InputRequiredResult(input_requests={"page": ElicitRequest(params=wish)}, request_state=key)


async def _wait(call: Call, arguments: Wait) -> CallToolResult:
    await outside.check_asker(call.state.core, call.principal, arguments.request_id)
    return call.result(await call.wait_until_settled(arguments.request_id, call.hold_seconds(arguments.wait_seconds)))


async def _withdraw(call: Call, arguments: Withdraw) -> CallToolResult:
    core = call.state.core
    try:
        await call.withdraw(arguments.request_id, arguments.reason)
    except AlreadySettled as error:
        if error.end.status is not RequestStatus.CANCELLED:
            raise
    return call.result(await pending.view_request(core, call.principal, arguments.request_id))


_READS: Mapping[str, bool] = {"readOnlyHint": True}


@dataclass(frozen=True, slots=True)
class Row:
    title: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Call, Any], Awaitable[HandlerResult]] = _ask
    hints: Mapping[str, bool] = field(default_factory=lambda: _READS)
    has_outcome: bool = True
    meta: Mapping[str, Any] | None = None

    def to_tool(self, name: str) -> Tool:
        return Tool(
            name=name,
            title=self.title,
            description=self.description,
            input_schema=self.arguments.model_json_schema(),
            output_schema=Outcome.model_json_schema() if self.has_outcome else None,
            annotations=ToolAnnotations.model_validate(self.hints),
            _meta=dict(self.meta) if self.meta else None,
        )


ROWS: Mapping[str, Row] = {
    "ask_person": Row(
        "Ask a person", "Ask a person one question, and wait for the answer.", AskPerson,
    ),
    "ask_questions": Row(
        "Ask several questions", "Ask a person several questions at once, and wait for all answers.", AskQuestions,
    ),
    "decide": Row(
        "Let a person decide", "Let a person choose one of several options.", Decide,
    ),
    "request_approval": Row(
        "Request approval",
        "Ask a person whether you may do something, before you do it. Only approved: true is a yes, and only for the "
        "args of the result.",
        RequestApproval,
    ),
    "request_secret": Row(
        "Request a secret",
        "Ask a person for values such as tokens and passwords, by name. You are never told them: a program with this "
        "key collects them by the handle of the result.",
        RequestSecret,
        _ask_for_secret,
    ),
    "wait": Row(
        "Wait for an answer",
        "Wait for a request that was pending. Pending is not a yes: call it again until the request is settled.",
        Wait,
        _wait,
        {"readOnlyHint": True, "idempotentHint": True},
    ),
    "withdraw": Row(
        "Withdraw a request",
        "Take back a request that no longer matters, so that nobody answers it for nothing.",
        Withdraw,
        _withdraw,
        {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True},
    ),
    "permission_prompt": Row(
        "Permission prompt of Claude Code",
        "For `claude --permission-prompt-tool` only. Models do not call it: use request_approval.",
        PermissionPrompt,
        prompt,
        has_outcome=False,
        meta={"interlock/for": "host"},
    ),
}  # fmt: skip
TOOLS = [row.to_tool(name) for name, row in ROWS.items()]
