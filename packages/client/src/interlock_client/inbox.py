"""The web inbox's own routes: sign-in by cookie, the list, one request in full, answers bound to what was shown."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from interlock_client.base import ClientModel, GrantDuration, GrantScope, JsonObject, ServerModel
from interlock_client.base import Kind as Kind
from interlock_client.base import RequestStatus as RequestStatus
from interlock_client.base import Risk as Risk
from interlock_client.teams import PassedOn, People, Votes

ConversationState = Literal["idle", "running", "waiting"]
Outcome = Literal["approved", "edited", "refused", "replied", "answered", "cancelled", "expired"]
ResultStatus = Literal[
    "elsewhere", "waiting", "running", "success", "failed", "refused", "went_on", "run_failed", "stopped"
]
Name = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Password = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class SignIn(ClientModel):
    username: Name
    password: Password


class SignInOnce(ClientModel):
    token: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    username: Name | None = Field(default=None, description="For the first account of a server that has none.")
    password: Password | None = None


class SignedIn(ServerModel):
    username: str
    user_id: str
    role: str
    reviews: list[str]


class Present(SignedIn):
    auth: Literal["accounts", "none"]
    locale: Literal["zh", "en"]
    second_opinion: bool = Field(default=False, description="Whether this server gives second opinions of calls.")
    server_time: datetime


class Welcome(ServerModel):
    auth: Literal["accounts", "none"]
    locale: Literal["zh", "en"]
    has_accounts: bool
    registration: bool
    passwords: bool = Field(default=True, description="Whether people sign in with passwords.")
    sign_on: str | None = Field(default=None, description="The name of the provider of single sign-on.")
    server_time: datetime


class SignedOut(ServerModel):
    ended: bool = True
    url: str | None = Field(
        default=None, description="After single sign-on: where the browser goes to sign out of the provider too."
    )


class InboxEntry(ServerModel):
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
    people: People | None = Field(default=None, description="Null: whoever may answer on the conversation may.")


class Inbox(ServerModel):
    requests: list[InboxEntry]
    total: int = Field(description="Counted up to 10000.")
    next_cursor: str | None
    server_time: datetime


class Change(ServerModel):
    path: str
    act: Literal["edit", "write", "add", "delete", "replace_cell", "insert_cell", "delete_cell"] = Field(
        description="write: the whole file, which may exist. Of a notebook one cell."
    )
    before: str = Field(description="Of an edit: the text that is replaced.")
    after: str
    at: str = Field(description="Where in the file, in the words of a patch; the cell of a notebook.")
    moved_to: str | None
    everywhere: bool = Field(description="Every occurrence is replaced, and not only one.")


class Presentation(ServerModel):
    shows: list[str] = Field(description="The arguments that it stands for.")
    changes: list[Change]
    markdown: str


class View(ServerModel):
    type: Literal["command", "file", "json", "none"]
    lines: list[str] = Field(description="What will run, complete.")
    rest: list[str] = Field(description="The arguments beside a command.")
    details: list[str] = Field(description="What else the graph handed over with its interrupt, as JSON.")
    presentation: Presentation | None = Field(
        default=None, description="A call of a coding agent as what it is: changes of files, or a text in Markdown."
    )


class File(ServerModel):
    path: str
    exists: bool
    text: str | None
    sha256: str
    modified_at: datetime | None
    after: str | None


class Result(ServerModel):
    status: ResultStatus
    output: str = Field(description="What the call gave, or why the run failed.")


class Drill(ServerModel):
    """What its person is told of a drill: a request that was made up to be refused."""

    caught: bool = Field(description="Whether it was refused, or not answered.")
    text: str = Field(description="What the call would have done.")


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
    said: str | None = Field(default=None, description="What the agent said when it made the call.")
    described_by: Literal["tool", "agent"] = Field(
        default="agent", description="Whose words the description is: the tool's own, or those of who asks."
    )
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
    passed_on: PassedOn | None = Field(default=None, description="Who put it to others last; levels apart.")
    result: Result | None = Field(description="What came of a yes; null where none was given.")
    drill: Drill | None = Field(default=None, description="Of a drill, once it is answered; null for every request.")
    server_time: datetime


class Difference(ServerModel):
    name: str
    change: Literal["added", "removed", "changed"]
    before: list[str] = Field(description="The value of the argument then, spelled as JSON; none where it is added.")


class ApprovedCall(ServerModel):
    request_id: str
    by: str
    at: datetime
    differences: list[Difference] = Field(
        description="What this call has besides, has no longer, or has with another value than was approved then."
    )


class Similar(ServerModel):
    """Calls of the same tool, by the same definition, of one owner's agent."""

    earlier: int = Field(description="How many were decided before, by whomever; the last 500 are counted.")
    approved: int = Field(description="How many of those people approved, as they stood or edited.")
    whole: bool = Field(description="Whether no earlier ones were left out.")
    last: ApprovedCall | None = Field(description="The last one that a person approved.")
    may_be_ruled: bool = Field(description="Whether the caller can have a rule drafted for such calls.")


class Opinion(ServerModel):
    """What a model says of a call, for who asked for it. It decides nothing."""

    request_id: str
    by: str = Field(description="Who gives opinions on this server, as its operator named it.")
    end: Literal["given", "failed", "late", "too_long"] = Field(
        description="`too_long`: the call cannot be told whole. But for `given`, nothing was said."
    )
    text: str | None = Field(description="A model's words: they may be wrong, and hold any characters.")


class PolicyDraft(ServerModel):
    """The active policy with a rule at its end; nothing of it is saved."""

    name: str
    rule: str = Field(description="The rule alone, as TOML.")
    free: list[str] = Field(description="Arguments that may be anything: they were different each time.")
    calls: int = Field(description="How many approved calls it was made from.")
    text: str = Field(description="The whole policy, for the calls that check, replay and save one.")
    active: int | None = Field(description="The version that counts; null: none does.")
    covers: bool = Field(description="Whether the rule would have allowed the request that it was asked for.")


class Remember(ClientModel):
    duration: GrantDuration
    scope: GrantScope
    also_high_risk: bool = Field(
        default=False,
        description="A yes covers calls of high risk too; else none riskier than this. Takes the code.",
    )
    confirm_high_risk: bool = Field(default=False, description="The same once more: without it the answer is refused.")


class Override(ClientModel):
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]


class Answer(ClientModel):
    value: JsonObject = Field(description="By the kind of the request; see the reference.")
    digest: Id = Field(description="Of what was shown.")
    dwell_ms: Annotated[int, Field(ge=0, le=10**10)] | None = None
    code: Annotated[str, StringConstraints(max_length=10)] | None = None
    file_sha256: Annotated[str, StringConstraints(max_length=64)] | None = None
    over_claim: bool = Field(default=False, description="Answer although somebody else has it.")
    remember: Remember | None = None
    override: Override | None = Field(
        default=None,
        description="For admins, where the server has it on: answer alone what is put to others, and say why.",
    )


class CancelRequest(ClientModel):
    reason: Annotated[str, StringConstraints(max_length=10_000)] | None = None


class Extend(ClientModel):
    seconds: Annotated[float, Field(gt=0, le=86_400)]


class Look(ClientModel):
    request_id: Id


class Looked(ServerModel):
    request_id: str


class Settled(ServerModel):
    request_id: str
    status: Literal["answered", "cancelled", "pending"] = Field(
        description="`pending`: counted, and more people have to say yes."
    )
    answered_at: str
    votes: Votes | None = Field(default=None, description="Of what is still pending.")
    drill: Drill | None = Field(default=None, description="Where it was a drill, and no request.")


class Recalled(ServerModel):
    settled: Settled | None = Field(description="None: nothing was done under the key, and nothing will be.")


class Conversation(ServerModel):
    conversation_id: str
    title: str
    agent: str
    outside: bool = Field(description="Its agent runs elsewhere: it asks, and cannot be talked to.")
    state: ConversationState
    message_count: int
    created_at: datetime
    updated_at: datetime


class Conversations(ServerModel):
    conversations: list[Conversation]
    total: int


class StopConversation(ClientModel):
    reason: Annotated[str, StringConstraints(max_length=10_000)] | None = None


class ConversationStopped(ServerModel):
    conversation_id: str
    stopped: bool = Field(description="False when there was nothing to stop.")


class HistoryEntry(ServerModel):
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
    reason: str | None = Field(default=None, description="Why it was not answered, where somebody said so.")
    rule: str | None = Field(default=None, description="The rule of the policy that decided.")
    policy_version: int | None = Field(default=None, description="Of that rule.")


class History(ServerModel):
    entries: list[HistoryEntry]
    next_cursor: str | None


class Tool(ServerModel):
    name: str
    description: str
    risk: Risk
    args_schema: dict[str, Any]


class Agent(ServerModel):
    name: str
    tools: list[Tool]


class Agents(ServerModel):
    agents: list[Agent]
