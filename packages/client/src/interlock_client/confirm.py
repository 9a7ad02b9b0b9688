"""The confirm face: one WebSocket on which an agent works, and a person confirms its tools."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import AliasChoices, ConfigDict, Field, StringConstraints

from interlock_client.base import ClientModel, ServerModel


class UserEvents(StrEnum):
    """What a client sends."""

    MESSAGE = "user.message"
    RESPONSE = "user.response"
    CANCEL = "user.cancel"
    CREATE_SESSION = "user.create_session"
    RECONNECT = "user.reconnect"


class AgentEvents(StrEnum):
    """What the server tells of a session."""

    THINKING = "agent.thinking"
    TOOL_CALL = "agent.tool_call"
    TOOL_RESULT = "agent.tool_result"
    PARTIAL_ANSWER = "agent.partial_answer"
    FINAL_ANSWER = "agent.final_answer"
    USER_CONFIRM = "agent.user_confirm"
    ERROR = "agent.error"
    TIMEOUT = "agent.timeout"
    INTERRUPTED = "agent.interrupted"
    SESSION_CREATED = "agent.session_created"
    SESSION_END = "agent.session_end"


class SystemEvents(StrEnum):
    """What the server tells of the connection."""

    CONNECTED = "system.connected"
    ERROR = "system.error"


class ErrorTypes(StrEnum):
    """`metadata.error_type` of `agent.error` and `system.error`."""

    CONFIRMATION_TIMEOUT = "confirmation_timeout"
    INVALID_STEP_ID = "invalid_step_id"
    SESSION_NOT_FOUND = "session_not_found"
    INVALID_MESSAGE = "invalid_message"
    """What was sent cannot be taken: no JSON, an unknown event, a reply that does not fit what was asked."""
    EMPTY_MESSAGE = "empty_message"
    BUSY = "busy"
    AGENT_FAILED = "agent_failed"
    NOT_ANSWERED = "not_answered"
    """The run has ended because nobody answered, where the agent cannot be told so."""
    FORBIDDEN = "forbidden"
    NOT_ELIGIBLE = "not_eligible"
    """The request needs the yes of others."""
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal_error"


SessionId = Annotated[str, StringConstraints(max_length=500)]
StepId = Annotated[str, StringConstraints(max_length=500)]
UserName = Annotated[str, StringConstraints(max_length=200)]

_USER_ID = AliasChoices("user_id", "userId")


class UserEvent(ClientModel):
    """The envelope of everything that a client sends."""

    model_config = ConfigDict(populate_by_name=True)

    event: UserEvents = Field(strict=False)
    session_id: SessionId | None = None
    step_id: StepId | None = None
    timestamp: Any = None
    content: Any = None
    metadata: dict[str, Any] | None = None
    user_id: UserName | None = Field(
        default=None, validation_alias=_USER_ID, description="Only heeded by a server that runs without accounts."
    )


class Confirmation(ClientModel):
    """The `content` of `user.response`."""

    model_config = ConfigDict(populate_by_name=True)

    confirmed: bool
    reason: Annotated[str, StringConstraints(max_length=10_000)] | None = None
    user_id: UserName | None = Field(default=None, validation_alias=_USER_ID)
    metadata: dict[str, Any] | None = Field(
        default=None,
        description="`args`: run the tool with these; `response`: the answer to what is not an approval.",
    )


class ServerEvent(ServerModel):
    """The envelope of everything that the server says."""

    event: str
    session_id: str | None
    step_id: str | None
    timestamp: str = Field(description="ISO 8601, UTC, with `Z`.")
    connection_id: str
    seq: int = Field(description="The place in the session's log; a token repeats the last one.")
    content: Any
    metadata: dict[str, Any]
