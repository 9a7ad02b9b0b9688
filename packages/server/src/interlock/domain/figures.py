"""Weekly figures of a person: what was asked of them, how they answered, and how long they read."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from statistics import median

from interlock.domain.request import AnswerOrigin

WEEK = timedelta(days=7)
LENGTHS = (500, 1_000, 2_000, 5_000, 10_000)
"""Where the classes of length end; the last class has no end."""


@dataclass(frozen=True, slots=True)
class SettledAsk:
    """What the figures are made of."""

    owner_id: str
    settled_at: datetime
    length: int
    """Characters of what was asked, as the store has it."""
    by_id: str | None = None
    origin: AnswerOrigin | None = None
    """None: it ended without an answer."""
    runs: bool | None = None
    """Of an approval: whether the answer let the call run."""
    dwell_ms: int | None = None
    has_rule_in_shadow: bool = False
    """Whether a rule of the version that was in shadow then would have answered it."""


@dataclass(frozen=True, slots=True)
class SettledVote:
    """A vote on what several people decided."""

    person_id: str
    at: datetime
    """When it was given."""
    is_yes: bool
    runs: bool
    """Whether they let the call run."""


@dataclass(frozen=True, slots=True)
class WeekFigures:
    week: date
    """Its Monday."""
    asks: int
    """Of the person's own conversations and agents, ended in this week in any way."""
    by_grant: int
    by_rule: int
    unanswered: int
    answers: int
    """Of the person, to whomever's conversation."""
    approvals: int
    """How many of them were answers to approvals, and how many of those let the call run."""
    yes: int
    dwell_ms: int | None
    """The median over the answers of which it is known."""
    drills: int = 0
    """That the person answered; they are in no other figure."""
    drills_caught: int = 0
    by_shadow: int = 0
    """Of the asks that people answered, those that a rule in shadow would have."""
    votes_contradicted: int = 0
    """Of the person's votes of this week, on what takes several people, those against which it ended."""


@dataclass(frozen=True, slots=True)
class ReadingTime:
    """Of the person's answers to requests of a length."""

    longest: int | None
    """None: any length beyond the class before."""
    answers: int
    dwell_ms: int | None


@dataclass(frozen=True, slots=True)
class PersonFigures:
    person_id: str
    weeks: Sequence[WeekFigures]
    reading: Sequence[ReadingTime]


def week_of(at: datetime) -> date:
    """The Monday of its week in UTC, so that everybody reads the same figures."""
    day = at.astimezone(UTC).date()
    return day - timedelta(days=day.weekday())


def start_of(week: date) -> datetime:
    return datetime(week.year, week.month, week.day, tzinfo=UTC)


def weeks_until(now: datetime, count: int) -> list[date]:
    """The week that goes on, and those before it; the oldest first."""
    return [week_of(now) - WEEK * back for back in reversed(range(count))]


def figures(person_id: str, weeks: Sequence[date], rows: Iterable[SettledAsk]) -> PersonFigures:
    """Of what concerns the person among the rows."""
    asks: defaultdict[date, Counter[AnswerOrigin | None]] = defaultdict(Counter[AnswerOrigin | None])
    by_shadow: Counter[date] = Counter()
    answers: defaultdict[date, list[SettledAsk]] = defaultdict(list[SettledAsk])
    for row in rows:
        week = week_of(row.settled_at)
        if row.owner_id == person_id:
            asks[week][row.origin] += 1
            by_shadow[week] += row.has_rule_in_shadow and row.origin is AnswerOrigin.PERSON
        if row.by_id == person_id and row.origin is AnswerOrigin.PERSON:
            answers[week].append(row)
    of_all = [row for week in weeks for row in answers[week]]
    of_weeks = [replace(_week(week, asks[week], answers[week]), by_shadow=by_shadow[week]) for week in weeks]
    return PersonFigures(person_id, of_weeks, _reading_times(of_all))


def with_drills(found: PersonFigures, drills: Iterable[tuple[datetime, bool]]) -> PersonFigures:
    """With the person's drills: when each was answered, and whether it was caught."""
    caught: defaultdict[date, list[bool]] = defaultdict(list[bool])
    for at, is_caught in drills:
        caught[week_of(at)].append(is_caught)
    weeks = [replace(one, drills=len(caught[one.week]), drills_caught=sum(caught[one.week])) for one in found.weeks]
    return replace(found, weeks=weeks)


def with_votes(found: PersonFigures, votes: Iterable[SettledVote]) -> PersonFigures:
    against = Counter(
        week_of(one.at) for one in votes if one.person_id == found.person_id and one.is_yes is not one.runs
    )
    return replace(found, weeks=[replace(one, votes_contradicted=against[one.week]) for one in found.weeks])


def _week(week: date, asks: Counter[AnswerOrigin | None], answers: Sequence[SettledAsk]) -> WeekFigures:
    return WeekFigures(
        week,
        asks=asks.total(),
        by_grant=asks[AnswerOrigin.GRANT],
        by_rule=asks[AnswerOrigin.POLICY],
        unanswered=asks[None],
        answers=len(answers),
        approvals=sum(1 for one in answers if one.runs is not None),
        yes=sum(1 for one in answers if one.runs),
        dwell_ms=_median(answers),
    )


def _reading_times(answers: Sequence[SettledAsk]) -> list[ReadingTime]:
    """Of those whose reading time is known: what came through other faces is in no class."""
    read = [one for one in answers if one.dwell_ms is not None]
    bounds = [(low, high) for low, high in zip((0, *LENGTHS), (*LENGTHS, None), strict=True)]
    classes = [
        [one for one in read if one.length > low and (high is None or one.length <= high)] for low, high in bounds
    ]
    return [ReadingTime(high, len(some), _median(some)) for (_, high), some in zip(bounds, classes, strict=True)]


def _median(answers: Sequence[SettledAsk]) -> int | None:
    read = [one.dwell_ms for one in answers if one.dwell_ms is not None]
    return round(median(read)) if read else None
