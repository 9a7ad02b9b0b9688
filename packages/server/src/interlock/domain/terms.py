"""What a request needs of people: whose yes counts, how many of them, and what happens while nobody decides.

Terms are frozen with the request: what changes later, a group's members apart, reaches nothing that was asked before.
People are counted, never votes, credentials or the groups that somebody is in.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.kinds import RequestKind

GROUP, PERSON = "group:", "person:"
"""What stands before the name of a candidate."""
EVERYBODY = "*"
"""The candidate that stands for whoever may answer on the conversation."""
MOST_STEPS = 5
MOST_PLACES = 10
MOST_LEVELS = 5
MOST_CANDIDATES = 20


class AtEnd(StrEnum):
    """What becomes of a request after the last level of an escalation. Never a yes."""

    WAIT = "wait"
    EXPIRE = "expire"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Step:
    """Places that people of one kind fill."""

    candidates: tuple[str, ...] = (EVERYBODY,)
    people: int = 1


@dataclass(frozen=True, slots=True)
class Level:
    """Who is asked too, when nobody has decided so many seconds after the level before it."""

    candidates: tuple[str, ...]
    after: int


@dataclass(frozen=True, slots=True)
class Terms:
    steps: tuple[Step, ...] = (Step(),)
    """All of them have to be filled, in any order; each person fills one place."""
    separate: bool = False
    """Whether those who asked are no candidates."""
    code: bool = False
    """Whether a yes repeats the digits that stand behind what will run."""
    refusals: int = 1
    """So many refusals end it."""
    levels: tuple[Level, ...] = ()
    at_end: AtEnd = AtEnd.WAIT
    deadline: int | None = None
    """Seconds, for an ask that names no time itself."""
    excluded: tuple[str, ...] = ()
    """Ids of the people who asked, where they are no candidates."""
    only: tuple[str, ...] = ()
    """Whom its asker named, of those who may answer there: a candidate has to be one of them too."""
    is_wanted: bool = False
    """Whether its asker wants them, or something of them; else they are a rule's alone."""

    @property
    def people(self) -> int:
        return sum(step.people for step in self.steps)

    @property
    def is_vote(self) -> bool:
        """Whether one person is not enough."""
        return self.people > 1

    @property
    def takes_another(self) -> bool:
        """Whether whoever asked is not enough, however it is counted."""
        return self.is_vote or self.separate

    @property
    def candidates(self) -> tuple[str, ...]:
        """Those of all steps, without the levels."""
        return tuple(dict.fromkeys(one for step in self.steps for one in step.candidates))

    def of_kind(self, kind: RequestKind) -> "Terms":
        """Only an approval is voted on: what else is asked goes to the same people, and the first answer wins."""
        if kind is RequestKind.APPROVAL:
            return self
        return replace(self, steps=(Step(self.candidates),), code=False, refusals=1)

    def raised(self, wanted: "Terms") -> "Terms":
        """A rule's, with what an asker wants beyond them: more people, fewer to choose from, and nothing less."""
        steps = self.steps
        if wanted.people > self.people:
            first, *rest = steps
            more = wanted.people - self.people
            own = Step(first.candidates, first.people + more) if not rest else Step(self.candidates, more)
            steps = (own,) if not rest else (*steps, own)
        # Whom a rule names it is put to. Where it names nobody, an asker may not name others than who answers there.
        names_whom = self.candidates == (EVERYBODY,) and wanted.candidates != (EVERYBODY,)
        only = wanted.candidates if names_whom else self.only
        separate = self.separate or wanted.separate
        return replace(self, steps=steps, separate=separate, only=only, is_wanted=True)

    def passed_on(self, by: str, to: Sequence[str], steps: Collection[int]) -> "Terms":
        """With these candidates for the places that somebody could fill, who fills none any more."""
        with_them = tuple(
            Step(tuple(dict.fromkeys((*step.candidates, *to))), step.people) if number in steps else step
            for number, step in enumerate(self.steps)
        )
        only = tuple(dict.fromkeys((*self.only, *to))) if self.only else ()
        return replace(self.without(by), steps=with_them, only=only)

    def without(self, person_id: str) -> "Terms":
        """Their yes does not count any more; a no still does."""
        return replace(self, excluded=tuple(dict.fromkeys([*self.excluded, person_id])))

    def steps_open_to(self, candidacies: Collection[str], added: Collection[str]) -> frozenset[int]:
        """The steps whose places somebody may fill who is a candidate under these names.

        `added` are the candidates that levels and admins brought: they may fill any place.
        """
        if not set(candidacies).isdisjoint(added):
            return frozenset(range(len(self.steps)))
        if self.only and set(candidacies).isdisjoint(self.only):
            return frozenset()
        numbers = (number for number, step in enumerate(self.steps) if not set(candidacies).isdisjoint(step.candidates))
        return frozenset(numbers)

    def to_json(self) -> JsonObject:
        """Field by field; what is as usual is left out."""
        data: JsonObject = {"steps": [{"from": list(step.candidates), "people": step.people} for step in self.steps]}
        if self.levels:
            data["levels"] = [{"from": list(level.candidates), "after": level.after} for level in self.levels]
        if self.at_end is not AtEnd.WAIT:
            data["at_end"] = self.at_end
        plain = {"separate": False, "code": False, "refusals": 1, "deadline": None}
        data |= {name: getattr(self, name) for name, usual in plain.items() if getattr(self, name) != usual}
        data |= {name: list(getattr(self, name)) for name in ("excluded", "only") if getattr(self, name)}
        return data | ({"wanted": True} if self.is_wanted else {})

    @classmethod
    def from_json(cls, data: Mapping[str, JsonValue]) -> "Terms":
        return cls(
            steps=tuple(Step(tuple(one["from"]), one["people"]) for one in data["steps"]),
            separate=bool(data.get("separate")),
            code=bool(data.get("code")),
            refusals=data.get("refusals", 1),
            levels=tuple(Level(tuple(one["from"]), one["after"]) for one in data.get("levels", ())),
            at_end=AtEnd(data.get("at_end", AtEnd.WAIT)),
            deadline=data.get("deadline"),
            excluded=tuple(data.get("excluded", ())),
            only=tuple(data.get("only", ())),
            is_wanted=bool(data.get("wanted")),
        )


def wanted_terms(people: int, candidates: Sequence[str], *, separate: bool | None) -> Terms:
    """What an asker says of people itself."""
    step = Step(tuple(candidates) or (EVERYBODY,), people)
    return Terms((step,), separate=people > 1 if separate is None else separate, is_wanted=True)


@dataclass(frozen=True, slots=True)
class Needs:
    """Terms as people read them: candidates by name, and none where anybody may be who answers there."""

    people: int
    candidates: tuple[str, ...] = ()
    separate: bool = False
    code: bool = False

    @property
    def who(self) -> str:
        """In one line: `payments, ann`."""
        return ", ".join(one.partition(":")[2] for one in self.candidates)

    def to_json(self) -> JsonObject:
        return {
            "people": self.people,
            "from": list(self.candidates),
            "separate": self.separate,
            "code": self.code,
        }


@dataclass(frozen=True, slots=True)
class Routing:
    """Where a request stands with its people, and which rule put it there."""

    terms: Terms
    policy_version: int | None = None
    rule: str | None = None
    level: int = 0
    escalate_at: datetime | None = None
    """When the next level opens, or the end after the last one comes."""
    claimed_by: str | None = None
    """The id of the person who said that they have it."""
    claimed_until: datetime | None = None
    claimed_at: datetime | None = None
    """When it was first claimed on this level."""

    def claimer_at(self, now: datetime) -> str | None:
        """Who has it now. Nothing has to happen for a claim to end."""
        return self.claimed_by if self.claimed_until is not None and self.claimed_until > now else None


def places_filled(steps: Sequence[Step], voters: Sequence[frozenset[int]]) -> int:
    """How many places can be filled at most; each voter fills one, of the steps that are open to them.

    Somebody who is in two groups may stand in the only place that another one could fill: so whoever has a place moves
    to another one, where there is one.
    """
    places = [number for number, step in enumerate(steps) for _ in range(step.people)]
    taken: dict[int, int] = {}

    def seat(voter: int, seen: set[int]) -> bool:
        for place, step in enumerate(places):
            if step not in voters[voter] or place in seen:
                continue
            seen.add(place)
            if place not in taken or seat(taken[place], seen):
                taken[place] = voter
                return True
        return False

    return sum(seat(voter, set()) for voter in range(len(voters)))


@dataclass(frozen=True, slots=True)
class Vote:
    """One person's yes or no."""

    request_id: str
    person_id: str
    name: str
    is_yes: bool
    at: datetime
    source: str
    reason: str | None = None
    metadata: JsonObject | None = None
    """What the answer said of how it came about: the digest that was shown, how long it was looked at."""


class Outcome(StrEnum):
    OPEN = "open"
    ACCEPTED = "accepted"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class VoteCount:
    yes: int
    """Places that are filled."""
    needed: int
    refusals: int = 0
    outcome: Outcome = Outcome.OPEN


def count_votes(terms: Terms, votes: Sequence[Vote], open_steps: Mapping[str, frozenset[int]]) -> VoteCount:
    """The outcome of these votes. `open_steps` has, by person, the steps that are open to them now: who is not in it,
    or has none, is not counted."""
    valid_votes = [vote for vote in votes if open_steps.get(vote.person_id)]
    yes = places_filled(terms.steps, [open_steps[vote.person_id] for vote in valid_votes if vote.is_yes])
    refusals = sum(not vote.is_yes for vote in valid_votes)
    outcome = Outcome.OPEN
    if refusals >= terms.refusals:
        outcome = Outcome.REFUSED
    elif yes >= terms.people:
        outcome = Outcome.ACCEPTED
    return VoteCount(yes, terms.people, refusals, outcome)
