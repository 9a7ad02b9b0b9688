"""One entry of a thread's append-only log. Every stream of every face is a view of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Literal

from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.kinds import ApprovalAnswer, RequestKind, Value
from interlock.domain.request import OVERRIDE, AnswerOrigin, PublicRequest, RequestStatus, by_whom
from interlock.domain.run import RunCause, RunStatus


class EventType(StrEnum):
    THREAD_CREATED = "thread.created"
    THREAD_DELETED = "thread.deleted"
    USER_MESSAGE = "message.user"
    ASSISTANT_MESSAGE = "message.assistant"
    TOOL_STARTED = "tool.started"
    TOOL_ENDED = "tool.ended"
    RUN_STARTED = "run.started"
    RUN_ENDED = "run.ended"
    PAUSE_OPENED = "pause.opened"
    REQUEST_SETTLED = "request.settled"
    REQUEST_EXTENDED = "request.extended"
    """Somebody gave it more time."""
    REQUEST_VOTED = "request.voted"
    REQUEST_ROUTED = "request.routed"
    REQUEST_CLAIMED = "request.claimed"
    REQUEST_COMMENTED = "request.commented"
    CUSTOM = "custom"
    """What a graph wrote with LangGraph's stream writer."""


@dataclass(frozen=True, slots=True)
class ThreadCreated:
    type: ClassVar = EventType.THREAD_CREATED
    agent: str
    owner: str


@dataclass(frozen=True, slots=True)
class ThreadDeleted:
    """With whose it was, for those who learn of it when it is gone."""

    type: ClassVar = EventType.THREAD_DELETED
    by: str
    owner_id: str
    agent: str
    asker_id: str | None


@dataclass(frozen=True, slots=True)
class UserMessage:
    type: ClassVar = EventType.USER_MESSAGE
    text: str
    by: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str | None
    name: str
    args: JsonObject


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    type: ClassVar = EventType.ASSISTANT_MESSAGE
    message_id: str
    text: str
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolStarted:
    type: ClassVar = EventType.TOOL_STARTED
    call_id: str
    tool: str
    input: JsonObject


ToolStatus = Literal["success", "failed", "refused"]


@dataclass(frozen=True, slots=True)
class ToolEnded:
    type: ClassVar = EventType.TOOL_ENDED
    call_id: str
    tool: str
    output: str
    status: ToolStatus


@dataclass(frozen=True, slots=True)
class RunStarted:
    type: ClassVar = EventType.RUN_STARTED
    run_id: str
    cause: RunCause


@dataclass(frozen=True, slots=True)
class RunEnded:
    type: ClassVar = EventType.RUN_ENDED
    run_id: str
    status: RunStatus
    error: str | None = None


@dataclass(frozen=True, slots=True)
class PauseOpened:
    type: ClassVar = EventType.PAUSE_OPENED
    pause_id: str
    node: str
    requests: tuple[PublicRequest, ...]
    settled: tuple[str, ...] = ()
    """Ids of the requests that a grant or saved values answered in the same moment."""

    @property
    def pending(self) -> Sequence[PublicRequest]:
        return [one for one in self.requests if one.request_id not in self.settled]


@dataclass(frozen=True, slots=True)
class SettledCall:
    """The tool call that a settled approval was about."""

    tool: str
    call_id: str | None
    shown: str | None
    """The digest of what the person saw."""
    edited: str | None = None
    """The digest of their edit."""


@dataclass(frozen=True, slots=True)
class RequestSettled:
    type: ClassVar = EventType.REQUEST_SETTLED
    request_id: str
    pause_id: str
    kind: RequestKind
    status: RequestStatus
    value: Value | None
    """As readers may see it: without secrets."""
    by: str
    source: str
    origin: AnswerOrigin
    at: datetime
    reason: str | None = None
    provenance: JsonObject | None = None
    """By which grant or saved values it was answered."""
    remembered: JsonObject | None = None
    """The grant that was made of the answer."""
    call: SettledCall | None = None
    """Of an approval."""
    is_routed: bool = False
    """Whether it had terms: others than who may see the conversation are told of its end."""

    def settled_by(self) -> JsonObject:
        return by_whom(self.by, self.at, self.source)

    @property
    def is_override(self) -> bool:
        return self.source == OVERRIDE

    @property
    def runs(self) -> bool:
        """Whether the call may run."""
        return self._answer is not None and self._answer.runs

    @property
    def is_reply(self) -> bool:
        """Whether it was answered in the tool's place."""
        return self._answer is not None and self._answer.decision == "response"

    @property
    def message(self) -> str | None:
        """What the agent is to hear of a call that does not run."""
        return (self.value.message if isinstance(self.value, ApprovalAnswer) else None) or self.reason

    @property
    def _answer(self) -> ApprovalAnswer | None:
        is_answered = self.status is RequestStatus.ANSWERED
        return self.value if is_answered and isinstance(self.value, ApprovalAnswer) else None


@dataclass(frozen=True, slots=True)
class RequestExtended:
    type: ClassVar = EventType.REQUEST_EXTENDED
    request_id: str
    pause_id: str
    expires_at: datetime
    by: str


@dataclass(frozen=True, slots=True)
class RequestVoted:
    """A yes or a no that was not the last one, or that was withdrawn. Without names: who has not voted is to decide
    for themselves."""

    type: ClassVar = EventType.REQUEST_VOTED
    request_id: str
    pause_id: str
    yes: int
    needed: int
    refusals: int = 0


@dataclass(frozen=True, slots=True)
class RequestRouted:
    """It was put to more people: by a level of its escalation, or by somebody."""

    type: ClassVar = EventType.REQUEST_ROUTED
    request_id: str
    pause_id: str
    candidates: tuple[str, ...]
    """Groups and people, by name."""
    level: int
    by: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class RequestClaimed:
    type: ClassVar = EventType.REQUEST_CLAIMED
    request_id: str
    pause_id: str
    by: str | None
    """None: nobody has it any more."""
    until: datetime | None


@dataclass(frozen=True, slots=True)
class RequestCommented:
    """Without the text: that is for who may answer, and for no agent."""

    type: ClassVar = EventType.REQUEST_COMMENTED
    request_id: str
    pause_id: str
    by: str


@dataclass(frozen=True, slots=True)
class Custom:
    type: ClassVar = EventType.CUSTOM
    data: JsonValue


EventData = (
    ThreadCreated
    | ThreadDeleted
    | UserMessage
    | AssistantMessage
    | ToolStarted
    | ToolEnded
    | RunStarted
    | RunEnded
    | PauseOpened
    | RequestSettled
    | RequestExtended
    | RequestVoted
    | RequestRouted
    | RequestClaimed
    | RequestCommented
    | Custom
)


@dataclass(frozen=True, slots=True)
class Event:
    thread_id: str
    seq: int
    data: EventData
    at: datetime

    @property
    def type(self) -> EventType:
        return self.data.type

    def ends(self, run_id: str | None) -> bool:
        """Whether nothing more comes of that run."""
        return isinstance(self.data, ThreadDeleted) or (isinstance(self.data, RunEnded) and self.data.run_id == run_id)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a message that is being written: live only, never in the log.

    `seq` is the number of the last event before it, `part` counts the tokens since that event.
    """

    thread_id: str
    seq: int
    part: int
    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Partial:
    """All of a message that has been written so far, for a follower that missed some of its tokens."""

    thread_id: str
    seq: int
    part: int
    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Looking:
    """Somebody has a request on their screen: live only, and never a lock."""

    thread_id: str
    request_id: str
    name: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Call:
    """To the workers of other processes: there is a run to be begun, or one to be stopped. Live only; they also look
    for themselves."""

    run_id: str
    is_stop: bool = False


Live = Event | Token | Partial
