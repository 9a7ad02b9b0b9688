"""A request is one thing asked of a person; a pause is the point where a run waits, and holds its requests."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from interlock.domain.moment import spelled
from interlock.domain.transitions import Transitions


class RequestKind(StrEnum):
    APPROVAL = "approval"
    CLARIFICATION = "clarification"
    DECISION = "decision"
    ENV_VAR = "env_var"
    QUESTIONS = "questions"


ID_PREFIX = {
    RequestKind.APPROVAL: "perm",
    RequestKind.CLARIFICATION: "clar",
    RequestKind.DECISION: "deci",
    RequestKind.ENV_VAR: "envv",
    RequestKind.QUESTIONS: "ques",
}


class RequestStatus(StrEnum):
    PENDING = "pending"
    ANSWERED = "answered"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


REQUEST = Transitions(
    "request",
    {
        RequestStatus.PENDING: frozenset({RequestStatus.ANSWERED, RequestStatus.CANCELLED, RequestStatus.EXPIRED}),
        RequestStatus.ANSWERED: frozenset(),
        RequestStatus.CANCELLED: frozenset(),
        RequestStatus.EXPIRED: frozenset(),
    },
)


class PauseStatus(StrEnum):
    OPEN = "open"
    SETTLED = "settled"
    """Every request is settled; what was answered waits to be taken by a resume."""
    CONSUMED = "consumed"
    VOID = "void"
    """Nothing of it will reach the graph: the thread was deleted, or went on without it."""


PAUSE = Transitions(
    "pause",
    {
        PauseStatus.OPEN: frozenset({PauseStatus.SETTLED, PauseStatus.VOID}),
        PauseStatus.SETTLED: frozenset({PauseStatus.CONSUMED, PauseStatus.VOID}),
        PauseStatus.CONSUMED: frozenset(),
        PauseStatus.VOID: frozenset(),
    },
)


class PauseOrigin(StrEnum):
    INTERRUPT = "interrupt"
    """The graph asked."""
    EFFECT = "effect"
    """Recovery found effects in doubt; their requests' `form` names which."""
    BREAKPOINT = "breakpoint"
    """The graph was compiled to stop before or after a node."""
    OUTSIDE = "outside"
    """An agent that runs elsewhere asked over the wire; no run waits for the answer."""


@dataclass(frozen=True, slots=True)
class Pause:
    id: str
    thread_id: str
    run_id: str
    status: PauseStatus
    origin: PauseOrigin
    node: str
    """The name of the graph's node that waits."""
    created_at: datetime
    opened_seq: int | None = None
    """The number of the event that told of it."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Who ended a request, from where, and why where they said so."""

    by: str
    source: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    id: str
    pause_id: str
    thread_id: str
    kind: RequestKind
    status: RequestStatus
    position: int
    """Its place among the requests of its pause."""
    body: dict[str, Any]
    """What a person is shown; see `asks`."""
    created_at: datetime
    interrupt_id: str | None = None
    form: dict[str, Any] = field(default_factory=dict[str, Any])
    """How the runner turns an answer into what the graph expects; of no meaning to anybody else."""
    call_id: str | None = None
    """The model's tool call that this is about, where there is one."""
    message_id: str | None = None
    """The message that asked, where it is known."""
    digest: str | None = None
    """For an approval: the digest of the tool and arguments that are shown."""
    definition: str | None = None
    """For an approval: the digest of the tool's definition, to which a remembered answer is bound."""
    toolset: str | None = None
    """For an approval: the digest of all tools that its agent has."""
    timeout_seconds: float | None = None
    deadline: datetime | None = None
    warn_at: datetime | None = None
    """When to tell those who are not looking that the deadline comes near."""
    settled_at: datetime | None = None
    ending: Ending | None = None
    owner_id: str = ""
    """As the thread has it; kept here too, so that what is pending can be listed without looking at threads."""
    agent: str = ""

    @property
    def tool(self) -> str:
        return self.body["tool_name"] if self.kind is RequestKind.APPROVAL else ""

    @property
    def is_free(self) -> bool:
        """Asked by an interrupt that does not say what it takes: any JSON answers it."""
        return self.form.get("shape") == "free"

    @property
    def risk(self) -> str:
        return self.body.get("risk_level", "") if self.kind is RequestKind.APPROVAL else ""


class AnswerOrigin(StrEnum):
    PERSON = "person"
    GRANT = "grant"
    DEFAULT = "default"
    SAVED = "saved"
    POLICY = "policy"


@dataclass(frozen=True, slots=True)
class Answer:
    request_id: str
    value: dict[str, Any]
    """In the shape of `answers`; secret values are handles, never in clear."""
    by_id: str
    by_name: str
    source: str
    """The face it came through, or what gave it without one."""
    origin: AnswerOrigin
    at: datetime
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])


def end_of(request: Request, answer: Answer | None) -> dict[str, Any]:
    """How a request ended, for whoever comes second: who did it, when, from where and with what.

    `answer` is as readers may see it, without secrets. Everything that tells losers of a winner is made of this.
    """
    # A deadline is nobody.
    is_by_person = request.status is not RequestStatus.EXPIRED
    by = answer.by_name if answer else (request.ending.by if request.ending and is_by_person else None)
    at = answer.at if answer else request.settled_at
    return {
        "request_id": request.id,
        "current_status": request.status,
        "answered_by": by,
        "answered_at": spelled(at) if at else None,
        "source": answer.source if answer else (request.ending.source if request.ending else None),
        "answer": answer.value if answer else None,
        "reason": request.ending.reason if request.ending else None,
    }


def described(request: Request) -> dict[str, Any]:
    """What events tell of a request: everything a person is shown, nothing of how the graph is answered."""
    return {
        "request_id": request.id,
        "pause_id": request.pause_id,
        "kind": request.kind,
        "body": request.body,
        "call_id": request.call_id,
        "message_id": request.message_id,
        "timeout_seconds": request.timeout_seconds,
        "created_at": spelled(request.created_at),
        "expires_at": spelled(request.deadline) if request.deadline else None,
    }
