"""The sessions face: invoke an agent and wait for what comes of it, resume it with an answer, look at the session."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from interlock_client.base import JsonObject, Sent, Told

SYSTEM_MESSAGE = "你会使用工具来帮助用户。如果工具使用被拒绝，请提示用户。"

UserId = Annotated[str, StringConstraints(min_length=1, max_length=64)]
ResponseType = Literal["accept", "reject", "edit", "response"]
ResponseStatus = Literal["interrupted", "completed", "error"]
SessionState = Literal["not_found", "idle", "running", "interrupted", "completed", "error"]
InterruptType = Literal["approval", "clarification", "decision", "env_var", "questions"]


class AgentRequest(Sent):
    user_id: UserId
    query: Annotated[str, StringConstraints(min_length=1, max_length=500_000)]
    system_message: Annotated[str, StringConstraints(max_length=500_000)] | None = Field(
        default=SYSTEM_MESSAGE, description="Heeded when the session begins, and not again."
    )


class InterruptResponse(Sent):
    user_id: UserId
    session_id: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    response_type: ResponseType
    args: JsonObject | None = Field(
        default=None,
        description="For `edit` and `response`; `request_id` names what is meant where several requests are open.",
    )


class ActionRequest(Told):
    action: str = Field(description="The tool; for everything but approvals the type.")
    args: dict[str, Any] = Field(description="Of the tool; for everything but approvals what is asked.")


class InterruptConfig(Told):
    allow_accept: bool
    allow_edit: bool
    allow_respond: bool
    allow_reject: bool


class InterruptRequest(Told):
    """One thing that is asked."""

    request_id: str
    interrupt_type: InterruptType
    action_request: ActionRequest
    config: InterruptConfig
    description: str
    request_data: dict[str, Any]
    created_at: float
    expires_at: float | None


class InterruptData(Told):
    """A pause: its top fields are those of the first open request, `requests` are all of them."""

    request_id: str
    interrupt_type: InterruptType
    action_request: ActionRequest
    config: InterruptConfig
    description: str
    requests: list[InterruptRequest]


class ToolCall(Told):
    id: str | None
    name: str
    args: dict[str, Any]


class ResultMessage(Told):
    type: Literal["human", "ai", "tool", "system"]
    role: Literal["user", "assistant", "tool", "system"]
    content: str
    tool_calls: list[ToolCall] | None = Field(default=None, exclude_if=lambda calls: calls is None)


class Result(Told):
    messages: list[ResultMessage]
    output: str = Field(description="The last text of the agent.")


class AgentResponse(Told):
    session_id: str
    status: ResponseStatus
    timestamp: float
    message: str | None = Field(default=None, description="With `error`.")
    result: Result | None = Field(default=None, description="With `completed`.")
    interrupt_data: InterruptData | None = Field(default=None, description="With `interrupted`.")


class SessionStatusResponse(Told):
    user_id: str
    session_id: str | None = None
    status: SessionState
    message: str | None = Field(default=None, description="With `error`.")
    last_query: str | None = None
    last_updated: float | None = None
    last_response: AgentResponse | None = Field(default=None, description="Null while the session runs.")


class SystemInfoResponse(Told):
    sessions_count: int
    active_users: list[str]


class SessionDeleted(Told):
    status: Literal["success"] = "success"
    message: str
