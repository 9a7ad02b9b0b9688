"""The hitl face: clarification, decision, env_var and permission requests over REST, SSE and WebSocket."""

from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import ConfigDict, Field, StringConstraints

from interlock_client.base import ClientModel, JsonObject, ServerModel
from interlock_client.base import RequestStatus as RequestStatus
from interlock_client.base import Risk as Risk

RequestType = Literal["clarification", "decision", "env_var", "permission"]
RequestId = Annotated[str, StringConstraints(min_length=1, max_length=200)]
ConversationId = Annotated[str, StringConstraints(min_length=1, max_length=500)]
CandidateName = Annotated[str, StringConstraints(min_length=1, max_length=80)]

T = TypeVar("T")


class Done(ServerModel, Generic[T]):
    """The envelope of every success."""

    success: Literal[True] = True
    data: T
    message: str


class Failure(ServerModel):
    code: str = Field(description="Stable: `HITL_...`.")
    message: str
    details: dict[str, Any] = Field(description="`alias` is the short name, `errors` names each wrong field.")


class Failed(ServerModel):
    """The envelope of every error."""

    success: Literal[False] = False
    error: Failure


class Respond(ClientModel):
    request_id: RequestId
    response: JsonObject = Field(description="By the request's type; unknown fields are refused.")
    metadata: JsonObject = Field(
        default_factory=dict[str, Any], description="About the sender; it goes to the audit trail."
    )
    over_claim: bool | None = Field(
        default=None, description="`false`: refuse it with `CLAIMED` where somebody else has said that they have it."
    )


class Cancel(ClientModel):
    request_id: RequestId
    reason: Annotated[str, StringConstraints(max_length=10_000)] | None = None


class Extend(ClientModel):
    seconds: Annotated[float, Field(gt=0, le=86_400)]


class AskNeeds(ClientModel):
    """What an asker wants of people: it may be more than a policy says, and is never less."""

    model_config = ConfigDict(strict=True, extra="forbid", populate_by_name=True)

    people: Annotated[int, Field(ge=1, le=10)] = 1
    from_: Annotated[list[CandidateName], Field(max_length=20)] = Field(
        default_factory=list[str],
        alias="from",
        description="`group:NAME` and `person:NAME`; none: who may answer here.",
    )
    separate: bool | None = Field(
        default=None, description="Who asked is no candidate; left out: so where several people are needed."
    )


class NewRequest(ClientModel):
    type: RequestType
    request_data: JsonObject = Field(description="By the type: what its `..._asked` event shows as `data`.")
    conversation_id: ConversationId | None = Field(default=None, description="A new one is begun when left out.")
    conversation_key: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = Field(
        default=None,
        description="The asker's own name for a conversation: the first ask under it begins one.",
    )
    title: Annotated[str, StringConstraints(max_length=200)] | None = Field(
        default=None, description="Of a conversation that this ask begins; made of what is asked when left out."
    )
    timeout_seconds: Annotated[float, Field(gt=0, le=31_536_000)] | None = Field(
        default=300, description="`null`: it waits for as long as it takes."
    )
    agent: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = Field(
        default=None, description="The name that people see; a key of an agent has one of its own."
    )
    needs: AskNeeds | None = Field(default=None, description="Whose yes it takes, beyond what a policy says.")


class VoteCount(ServerModel):
    yes: int
    needed: int


class Answered(ServerModel):
    request_id: str
    status: Literal["answered", "pending"]
    answered_at: str
    votes: VoteCount | None = Field(default=None, description="Of what more people have to say yes to.")


class Cancelled(ServerModel):
    request_id: str
    status: Literal["cancelled"]
    cancelled_at: str


class PendingRequest(ServerModel):
    request_id: str
    type: RequestType
    status: RequestStatus
    conversation_id: str
    message_id: str | None
    agent: str
    owner: str = Field(default="", description="Whose conversation it is; an agent that runs elsewhere is theirs.")
    created_at: str
    expires_at: str | None
    timeout_seconds: float | None
    request_data: dict[str, Any]


class RequestNeeds(ServerModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    people: int
    from_: list[str] = Field(alias="from")
    separate: bool
    code: bool


class RequestClaim(ServerModel):
    by: str
    until: str


class RequestObject(PendingRequest):
    needs: RequestNeeds | None = Field(default=None, description="Only of a request that a policy or its asker routed.")
    votes: VoteCount | None = None
    claim: RequestClaim | None = None
    level: int | None = None
    policy: dict[str, Any] | None = None
    response: dict[str, Any] | None
    answered_at: str | None
    answered_by: str | None
    source: str | None
    """The face that the answer came through, or `grant`, `saved`, `deadline` where no person gave it."""


class PendingOfConversation(ServerModel):
    pending_requests: list[PendingRequest]
    total: int


class PendingPage(ServerModel):
    pending_requests: list[PendingRequest]
    total: int = Field(description="Counted up to 10000.")
    next_cursor: str | None


class CollectedValues(ServerModel):
    values: dict[str, str]
