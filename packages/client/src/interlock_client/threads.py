"""The threads face: chat, resume, status and history over REST and SSE."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from interlock_client.base import Json, Sent, Told

Text = Annotated[str, StringConstraints(min_length=1, max_length=500_000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Password = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Status = Literal["idle", "interrupted"]


class Credentials(Sent):
    username: Name
    password: Password


class Registered(Told):
    message: str
    user_id: str


class AccessToken(Told):
    access_token: str
    token_type: Literal["bearer"] = "bearer"


class NewSession(Sent):
    agent: str | None = Field(default=None, description="The agent to talk to; the server's default one when left out.")
    user_id: str | None = Field(default=None, description="Only heeded by a server that runs without accounts.")


class Session(Told):
    thread_id: str


class SessionEntry(Told):
    thread_id: str
    title: str
    created_at: datetime
    message_count: int
    status: Status


class SessionList(Told):
    threads: list[SessionEntry]
    total: int


class Deleted(Told):
    thread_id: str
    deleted: bool = True


class ChatMessage(Sent):
    message: Text
    user_id: str | None = None


class Chat(ChatMessage):
    thread_id: str | None = None
    agent: str | None = None


class Resume(Sent):
    action: str = Field(description="continue, cancel or answer")
    answers: list[Json] | None = Field(
        default=None, description="With answer: one text for each question; for a free interrupt any JSON."
    )
    request_id: str | None = Field(
        default=None, description="What is being replied to; a reply to anything else is then refused with 409."
    )
    reason: str | None = Field(default=None, max_length=10_000, description="With cancel: what the agent is told.")
    user_id: str | None = None


class QuestionOption(Told):
    label: str
    value: str
    allow_custom: bool | None = None


class Question(Told):
    question: str
    options: list[QuestionOption]
    name: str | None = None
    required: bool | None = None
    sensitive: bool | None = None


class RequestView(Told):
    """One thing that is asked, as this face shows it."""

    request_id: str
    kind: Literal["approval", "clarification", "decision", "env_var", "questions"]
    info: str
    taskName: str  # noqa: N815
    questions: list[Question] | None
    options: list[QuestionOption] | None = None
    call_id: str | None = None
    created_at: str
    expires_at: str | None
    request_data: dict[str, Any]


class InterruptInfo(Told):
    task_name: str
    interrupts: list[str]
    requests: list[RequestView]


class ThreadStatus(Told):
    thread_id: str
    status: Status
    has_pending_tasks: bool
    interrupt_info: InterruptInfo | None = None
    message_count: int


class Message(Told):
    role: Literal["user", "assistant", "tool", "system"]
    content: str


class History(Told):
    thread_id: str
    messages: list[Message]


class Problem(Told):
    """An error. `detail` says what is wrong; a 409 adds the thread's state and what is pending on it."""

    model_config = {"extra": "allow"}

    detail: Any


class Health(Told):
    status: str
