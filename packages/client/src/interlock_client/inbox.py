"""The web inbox's own routes: sign-in by cookie, the list, one request in full, answers bound to what was shown."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from interlock_client.base import JsonObject, Sent, Told

Kind = Literal["approval", "clarification", "decision", "env_var", "questions"]
Risk = Literal["low", "medium", "high", "critical"]
RequestStatus = Literal["pending", "answered", "cancelled", "expired"]
ConversationState = Literal["idle", "running", "waiting"]
Outcome = Literal["approved", "edited", "refused", "replied", "answered", "cancelled", "expired"]
ResultStatus = Literal[
    "elsewhere", "waiting", "running", "success", "failed", "refused", "went_on", "run_failed", "stopped"
]
Name = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Password = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class SignIn(Sent):
    username: Name
    password: Password


class SignInOnce(Sent):
    token: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    username: Name | None = Field(default=None, description="For the first account of a server that has none.")
    password: Password | None = None


class SignedIn(Told):
    username: str
    user_id: str
    role: str
    reviews: list[str]


class Present(SignedIn):
    auth: Literal["accounts", "none"]
    locale: Literal["zh", "en"]
    server_time: datetime


class Welcome(Told):
    auth: Literal["accounts", "none"]
    locale: Literal["zh", "en"]
    has_accounts: bool
    registration: bool
    server_time: datetime


class SignedOut(Told):
    ended: bool = True


class InboxEntry(Told):
    request_id: str
    kind: Kind
    conversation_id: str
    conversation_title: str
    owner: str
    agent: str
    outside: bool = Field(default=False, description="The agent runs elsewhere, and is the owner's.")
    tool: str | None
    display_name: str | None
    headline: str
    risk: Risk | None
    created_at: datetime
    expires_at: datetime | None
    pause_id: str
    position: int
    in_pause: int
    batchable: bool
    looking: list[str]


class Inbox(Told):
    requests: list[InboxEntry]
    total: int = Field(description="Counted up to 10000.")
    next_cursor: str | None
    server_time: datetime


class View(Told):
    type: Literal["command", "file", "json", "none"]
    lines: list[str] = Field(description="What will run, complete.")
    rest: list[str] = Field(description="The arguments beside a command.")
    details: list[str] = Field(description="What else the graph handed over with its interrupt, as JSON.")


class File(Told):
    path: str
    exists: bool
    text: str | None
    sha256: str
    modified_at: datetime | None
    after: str | None


class Result(Told):
    status: ResultStatus
    output: str = Field(description="What the call gave, or why the run failed.")


class InboxRequest(InboxEntry):
    status: RequestStatus
    in_doubt: bool = Field(description="Asked by the server itself: nobody knows how far a tool came.")
    body: dict[str, Any]
    view: View
    digest: str
    code: str | None = Field(
        description="What a risky answer has to repeat, other digits for each request; null where no answer is risky."
    )
    args_schema: dict[str, Any] | None
    file: File | None
    allowed: list[str]
    allow_remember: bool
    siblings: list[str]
    at_deadline: Literal["default", "told"]
    default: str | None
    timeout_seconds: float | None
    extendable: bool
    response: dict[str, Any] | None
    answered_by: str | None
    answered_at: datetime | None
    source: str | None
    reason: str | None = Field(description="Why it was not answered, where somebody said so.")
    provenance: dict[str, Any] | None
    result: Result | None = Field(description="What came of a yes; null where none was given.")
    server_time: datetime


class Remember(Sent):
    duration: Literal["session", "forever"]
    scope: Literal["this_action", "this_tool", "all_tools"]


class Answer(Sent):
    value: JsonObject = Field(description="By the kind of the request; see the reference.")
    digest: Id = Field(description="Of what was shown.")
    dwell_ms: Annotated[int, Field(ge=0, le=10**10)] | None = None
    code: Annotated[str, StringConstraints(max_length=10)] | None = None
    file_sha256: Annotated[str, StringConstraints(max_length=64)] | None = None
    remember: Remember | None = None


class CancelRequest(Sent):
    reason: Annotated[str, StringConstraints(max_length=10_000)] | None = None


class Extend(Sent):
    seconds: Annotated[float, Field(gt=0, le=86_400)]


class Look(Sent):
    request_id: Id


class Looked(Told):
    request_id: str


class Settled(Told):
    request_id: str
    status: Literal["answered", "cancelled"]
    answered_at: str


class Recalled(Told):
    settled: Settled | None = Field(description="None: nothing was done under the key, and nothing will be.")


class Conversation(Told):
    conversation_id: str
    title: str
    agent: str
    outside: bool = Field(description="Its agent runs elsewhere: it asks, and cannot be talked to.")
    state: ConversationState
    message_count: int
    created_at: datetime
    updated_at: datetime


class Conversations(Told):
    conversations: list[Conversation]
    total: int


class StopConversation(Sent):
    reason: Annotated[str, StringConstraints(max_length=10_000)] | None = None


class ConversationStopped(Told):
    conversation_id: str
    stopped: bool = Field(description="False when there was nothing to stop.")


class HistoryEntry(Told):
    request_id: str
    kind: Kind
    conversation_id: str
    agent: str
    tool: str | None
    headline: str
    outcome: Outcome
    by: str | None
    source: str | None
    origin: str | None
    at: datetime
    dwell_ms: int | None
    digest: str | None


class History(Told):
    entries: list[HistoryEntry]
    next_cursor: str | None


class Tool(Told):
    name: str
    description: str
    risk: Risk
    args_schema: dict[str, Any]


class Agent(Told):
    name: str
    tools: list[Tool]


class Agents(Told):
    agents: list[Agent]
