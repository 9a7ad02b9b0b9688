"""Which requests and threads are wanted, for the lists of them."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from interlock.domain.json_value import JsonObject
from interlock.domain.kinds import RequestKind
from interlock.domain.request import RequestStatus
from interlock.domain.thread import ThreadStatus


@dataclass(frozen=True, slots=True)
class PendingFilter:
    """Which pending requests are meant. None: any."""

    owner_id: str | None = None
    """Of this owner, or of these agents, whichever applies: what a reviewer sees."""
    reviews: tuple[str, ...] = ()
    """As `domain.principal.review_key` names agents."""
    candidacies: tuple[str, ...] = ()
    """Beside those of the owner, those that are put to any of these."""
    is_for_anybody: bool = True
    """Whether, of the owner's and the agents', also those that are put to others are meant."""
    only_candidacies: bool = False
    """None of the owner's and the agents' at all."""
    claimed_by: str | None = None
    """Those that this person has claimed."""
    claimed_at: datetime | None = None
    """When that is looked at."""
    asker_id: str | None = None
    thread_id: str | None = None
    kinds: tuple[RequestKind, ...] | None = None
    agent: str | None = None
    risk: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    closing_before: datetime | None = None
    """Of everything that has a deadline until then, those that close first, up to a bound."""
    text: str | None = None
    """Something that stands in what is shown."""
    after: tuple[datetime, str] | None = None
    """The cursor: the creation time and id of the last one seen."""


@dataclass(frozen=True, slots=True)
class SettledFilter:
    """Which settled requests are meant. None: any."""

    owner_id: str | None = None
    reviews: tuple[str, ...] = ()
    """Beside those of the owner, those of these agents, as `domain.principal.review_key` names them."""
    who: str | None = None
    source: str | None = None
    tool: str | None = None
    statuses: tuple[RequestStatus, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: tuple[datetime, str] | None = None
    """The cursor: when the last one seen was settled, and its id."""


@dataclass(frozen=True, slots=True)
class AlikeFilter:
    """Which calls are alike: of one owner, agent and tool, by one definition of it."""

    owner_id: str
    agent: str
    tool: str
    definition: str
    before: datetime | None = None
    """Only what was settled before then."""


@dataclass(frozen=True, slots=True)
class ThreadFilter:
    """Which threads are meant. None: any."""

    owner_id: str | None = None
    reviews: tuple[str, ...] = ()
    """Beside those of the owner, those of these agents, as `domain.principal.review_key` names them."""
    asker_id: str | None = None
    ids: tuple[str, ...] | None = None
    agents: tuple[str, ...] | None = None
    statuses: tuple[ThreadStatus, ...] | None = None
    has_failed: bool | None = None
    """Whether the last run of the thread failed; a thread that never ran has not."""
    is_hosted: bool | None = None
    """Whether their agent is hosted here."""
    metadata: JsonObject = field(default_factory=JsonObject)
    """All of this is in the thread's."""


class ThreadSort(StrEnum):
    UPDATED = "updated_at"
    CREATED = "created_at"
    ID = "id"
    STATUS = "status"


@dataclass(frozen=True, slots=True)
class ThreadOrder:
    """Threads of one place are in the order of their ids."""

    by: ThreadSort = ThreadSort.UPDATED
    is_rising: bool = False


LAST_TOUCHED_FIRST = ThreadOrder()
