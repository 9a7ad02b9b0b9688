"""The threads face: chat, resume, status and history over REST and SSE."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from interlock_client.base import ClientModel, Json, Kind, MessageRole, ServerModel

Text = Annotated[str, StringConstraints(min_length=1, max_length=500_000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Password = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Status = Literal["idle", "interrupted"]


class Credentials(ClientModel):
    username: Name
    password: Password


class Registered(ServerModel):
    message: str
    user_id: str


class AccessToken(ServerModel):
    access_token: str
    token_type: Literal["bearer"] = "bearer"


class NewSession(ClientModel):
    agent: str | None = Field(default=None, description="The agent to talk to; the server's default one when left out.")
    user_id: str | None = Field(default=None, description="Only heeded by a server that runs without accounts.")


class Session(ServerModel):
    thread_id: str


class SessionEntry(ServerModel):
    thread_id: str
    title: str
    created_at: datetime
    message_count: int
    status: Status


class SessionList(ServerModel):
    threads: list[SessionEntry]
    total: int


class Deleted(ServerModel):
    thread_id: str
    deleted: bool = True


class ChatMessage(ClientModel):
    """A message, or an input of the agent's own form; one of them."""

    message: Text | None = None
    input: Json = Field(
        default=None, description="What the agent's graph takes, in place of a message: its fields, as JSON."
    )
    user_id: str | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.message is None) is (self.input is None):
            raise ValueError("send either message or input")
        return self


class Chat(ChatMessage):
    thread_id: str | None = None
    agent: str | None = None


class Resume(ClientModel):
    action: str = Field(description="continue, cancel or answer")
    answers: list[Json] | None = Field(
        default=None, description="With answer: one text for each question; for a free interrupt any JSON."
    )
    request_id: str | None = Field(
        default=None, description="What is being replied to; a reply to anything else is then refused with 409."
    )
    reason: str | None = Field(default=None, max_length=10_000, description="With cancel: what the agent is told.")
    user_id: str | None = None


class QuestionOption(ServerModel):
    label: str
    value: str
    allow_custom: bool | None = None


class Question(ServerModel):
    question: str
    options: list[QuestionOption]
    name: str | None = None
    required: bool | None = None
    sensitive: bool | None = None


class RequestView(ServerModel):
    """One thing that is asked, as this face shows it."""

    request_id: str
    kind: Kind
    info: str
    taskName: str  # noqa: N815
    questions: list[Question] | None
    options: list[QuestionOption] | None = None
    call_id: str | None = None
    created_at: str
    expires_at: str | None
    request_data: dict[str, Any]


class InterruptInfo(ServerModel):
    task_name: str
    interrupts: list[str]
    requests: list[RequestView]


class ThreadStatus(ServerModel):
    thread_id: str
    status: Status
    has_pending_tasks: bool
    interrupt_info: InterruptInfo | None = None
    message_count: int


class Message(ServerModel):
    role: MessageRole
    content: str


class History(ServerModel):
    thread_id: str
    messages: list[Message]


class Problem(ServerModel):
    """An error. `detail` says what is wrong; a 409 adds the thread's state and what is pending on it."""

    model_config = {"extra": "allow"}

    detail: Any


class Health(ServerModel):
    status: str
