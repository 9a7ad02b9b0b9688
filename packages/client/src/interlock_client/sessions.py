"""The sessions face: invoke an agent and wait for what comes of it, resume it with an answer, look at the session."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from interlock_client.base import ClientModel, Json, JsonObject, Kind, MessageRole, ServerModel

SYSTEM_MESSAGE = "你会使用工具来帮助用户。如果工具使用被拒绝，请提示用户。"

UserId = Annotated[str, StringConstraints(min_length=1, max_length=64)]
ResponseType = Literal["accept", "reject", "edit", "response"]
ResponseStatus = Literal["interrupted", "completed", "error"]
SessionState = Literal["not_found", "idle", "running", "interrupted", "completed", "error"]


class AgentRequest(ClientModel):
    user_id: UserId
    query: Annotated[str, StringConstraints(min_length=1, max_length=500_000)] | None = None
    input: Json = Field(
        default=None, description="What the agent's graph takes, in place of a query: its fields, as JSON."
    )
    system_message: Annotated[str, StringConstraints(max_length=500_000)] | None = Field(
        default=SYSTEM_MESSAGE, description="Heeded when the session begins, and not again."
    )

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.query is None) is (self.input is None):
            raise ValueError("send either query or input")
        return self


class InterruptResponse(ClientModel):
    user_id: UserId
    session_id: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    response_type: ResponseType
    args: JsonObject | None = Field(
        default=None,
        description="For `edit` and `response`; `request_id` names what is meant where several requests are open.",
    )


class ActionRequest(ServerModel):
    action: str = Field(description="The tool; for everything but approvals the type.")
    args: dict[str, Any] = Field(description="Of the tool; for everything but approvals what is asked.")


class InterruptConfig(ServerModel):
    allow_accept: bool
    allow_edit: bool
    allow_respond: bool
    allow_reject: bool


class InterruptRequest(ServerModel):
    """One thing that is asked."""

    request_id: str
    interrupt_type: Kind
    action_request: ActionRequest
    config: InterruptConfig
    description: str
    request_data: dict[str, Any]
    created_at: float
    expires_at: float | None


class InterruptData(ServerModel):
    """A pause: its top fields are those of the first open request, `requests` are all of them."""

    request_id: str
    interrupt_type: Kind
    action_request: ActionRequest
    config: InterruptConfig
    description: str
    requests: list[InterruptRequest]


class ToolCall(ServerModel):
    id: str | None
    name: str
    args: dict[str, Any]


class ResultMessage(ServerModel):
    type: Literal["human", "ai", "tool", "system"]
    role: MessageRole
    content: str
    tool_calls: list[ToolCall] | None = Field(default=None, exclude_if=lambda calls: calls is None)


class Result(ServerModel):
    messages: list[ResultMessage]
    output: str = Field(description="The last text of the agent.")


class AgentResponse(ServerModel):
    session_id: str
    status: ResponseStatus
    timestamp: float
    message: str | None = Field(default=None, description="With `error`.")
    result: Result | None = Field(default=None, description="With `completed`.")
    interrupt_data: InterruptData | None = Field(default=None, description="With `interrupted`.")


class SessionStatusResponse(ServerModel):
    user_id: str
    session_id: str | None = None
    status: SessionState
    message: str | None = Field(default=None, description="With `error`.")
    last_query: str | None = None
    last_updated: float | None = None
    last_response: AgentResponse | None = Field(default=None, description="Null while the session runs.")


class SystemInfoResponse(ServerModel):
    sessions_count: int
    active_users: list[str]


class SessionDeleted(ServerModel):
    status: Literal["success"] = "success"
    message: str
