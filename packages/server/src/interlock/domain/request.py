"""A request is one thing asked of a person; a pause is the point where a run waits, and holds its requests."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from interlock.domain.form import EffectInDoubt, Form, FreeInterrupt
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.kinds import ApprovalBody, Body, ClarificationBody, RequestKind, Value
from interlock.domain.moment import to_iso
from interlock.domain.preview import FilePreview
from interlock.domain.terms import Routing
from interlock.domain.transitions import Transitions

LONGEST_WARNING = 60.0
"""Seconds before the deadline at which people are warned, for asks that leave more time than that."""


def warning_before(timeout: float) -> timedelta:
    return timedelta(seconds=min(LONGEST_WARNING, timeout / 5))


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
    status: RequestStatus
    position: int
    """Its place among the requests of its pause."""
    body: Body
    """What a person is shown."""
    created_at: datetime
    interrupt_id: str | None = None
    form: Form | None = None
    """The runner's: how it turns an answer into what the graph expects. None where the agent runs elsewhere."""
    checked_by_agent: bool = False
    """Whether an answer is also held against what the agent's graph takes."""
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
    owner_groups: tuple[str, ...] | None = None
    """Those that its owner was in when it was asked, for rules, also later ones; None: they are not known."""
    routing: Routing | None = None
    """Whose answer it takes, and where it stands with them; None: whoever may answer on the conversation."""

    @property
    def kind(self) -> RequestKind:
        return self.body.kind

    @property
    def tool(self) -> str:
        return self.body.tool_name if isinstance(self.body, ApprovalBody) else ""

    @property
    def risk(self) -> str:
        return (self.body.risk_level or "") if isinstance(self.body, ApprovalBody) else ""

    @property
    def is_free(self) -> bool:
        """Asked by an interrupt that does not say what it takes: any JSON answers it."""
        return self.form is not None and isinstance(self.form.shape, FreeInterrupt)

    @property
    def is_in_doubt(self) -> bool:
        """The server's own question about an effect that was cut short."""
        return self.form is not None and isinstance(self.form.shape, EffectInDoubt)

    @property
    def is_judged(self) -> bool:
        """Whether policies say anything of it: of approvals, but not of the server's own questions."""
        return isinstance(self.body, ApprovalBody) and not self.is_in_doubt

    @property
    def file(self) -> FilePreview | None:
        """The file that the call would change, as it was when it was asked."""
        return self.form.file.file if self.form and self.form.file else None

    def check(self, given: Mapping[str, JsonValue]) -> Value:
        """The answer in its one shape; `InvalidAnswer` where it does not fit what was asked."""
        if self.is_free and isinstance(self.body, ClarificationBody):
            return self.body.check_free(given)
        return self.body.check(given)


OVERRIDE = "override"
"""The source of an answer that an admin gave alone, where others are asked."""


class AnswerOrigin(StrEnum):
    PERSON = "person"
    GRANT = "grant"
    DEFAULT = "default"
    SAVED = "saved"
    POLICY = "policy"


@dataclass(frozen=True, slots=True)
class Answer:
    request_id: str
    value: Value
    by_id: str
    by_name: str
    source: str
    """The face it came through, or what gave it without one."""
    origin: AnswerOrigin
    at: datetime
    metadata: JsonObject = field(default_factory=JsonObject)

    def readable(self) -> "Answer":
        """As readers may see it: without the values of sensitive variables."""
        return replace(self, value=self.value.readable())


def by_whom(by: str | None, at: datetime | None, source: str | None) -> JsonObject:
    return {"answered_by": by, "answered_at": to_iso(at) if at else None, "source": source}


@dataclass(frozen=True, slots=True)
class RequestEnd:
    """How a request ended, for whoever comes second: who did it, when, from where and with what."""

    request_id: str
    status: RequestStatus
    by: str | None
    at: datetime | None
    source: str | None
    answer: Value | None
    """As readers may see it: without secrets."""
    reason: str | None

    @classmethod
    def of(cls, request: Request, answer: Answer | None) -> "RequestEnd":
        ending = request.ending
        # A deadline is nobody.
        by = ending.by if ending and request.status is not RequestStatus.EXPIRED else None
        return cls(
            request.id,
            request.status,
            by=answer.by_name if answer else by,
            at=answer.at if answer else request.settled_at,
            source=answer.source if answer else (ending.source if ending else None),
            answer=answer.readable().value if answer else None,
            reason=ending.reason if ending else None,
        )

    def settled_by(self) -> JsonObject:
        """As everybody is told who it was."""
        return by_whom(self.by, self.at, self.source)

    def to_json(self) -> JsonObject:
        """As every face says it."""
        return {
            "request_id": self.request_id,
            "current_status": self.status,
            **self.settled_by(),
            "answer": self.answer.to_json() if self.answer is not None else None,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class PublicRequest:
    """What events tell of a request: everything a person is shown, nothing of how the graph is answered."""

    request_id: str
    pause_id: str
    body: Body
    call_id: str | None
    message_id: str | None
    timeout_seconds: float | None
    created_at: datetime
    expires_at: datetime | None
    is_routed: bool = False
    """Whether it has terms: others than who may answer on the conversation may see and answer it."""

    @classmethod
    def of(cls, request: Request) -> "PublicRequest":
        return cls(
            request.id,
            request.pause_id,
            request.body,
            request.call_id,
            request.message_id,
            request.timeout_seconds,
            request.created_at,
            request.deadline,
            request.routing is not None,
        )

    def to_json(self) -> JsonObject:
        return {
            "request_id": self.request_id,
            "pause_id": self.pause_id,
            "kind": self.body.kind,
            "body": self.body.to_json(),
            "call_id": self.call_id,
            "message_id": self.message_id,
            "timeout_seconds": self.timeout_seconds,
            "created_at": to_iso(self.created_at),
            "expires_at": to_iso(self.expires_at) if self.expires_at else None,
            **({"is_routed": True} if self.is_routed else {}),
        }
