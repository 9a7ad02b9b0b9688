"""Votes in any order, of people who join and leave, pass their place on and are locked out, beside a plain model."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from interlock.domain.errors import AlreadySettled, Conflict, Forbidden, InvalidInput
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody, RequestKind
from interlock.domain.principal import Principal, Role, User, principal_of
from interlock.domain.team import Group
from interlock.domain.terms import Level, Step, Terms
from interlock.ports.store import Store
from interlock.services.core import Core, unit
from interlock.services.requests import outside
from interlock.services.requests.answering import Reply, Sender, answer
from interlock.services.requests.opening import NewRequest
from interlock.services.requests.outside import Ask
from interlock.services.teams.claims import delegate, withdraw_vote
from interlock.services.teams.voting import count
from tests.conformance.examples import AT, a_user
from tests.conformance.trails import core_on
from tests.domain.test_terms import most_places

pytestmark = pytest.mark.promise("P18", "P19")

ASKER, ADMIN = "ann", "root"
PEOPLE = (ASKER, ADMIN, "bob", "cyd", "dan", "eve")
GROUPS = ("a", "b", "c")
people, groups = st.sampled_from(PEOPLE), st.sampled_from(GROUPS)
Act = tuple[str, ...]
acts = st.one_of(
    st.tuples(st.just("yes"), people),
    st.tuples(st.just("yes"), people),
    st.tuples(st.just("no"), people),
    st.tuples(st.just("back"), people),
    st.tuples(st.just("pass"), people, people),
    st.tuples(st.sampled_from(("join", "leave")), people, groups),
    st.tuples(st.sampled_from(("lock", "unlock")), people),
)
steps = st.lists(
    st.builds(
        Step, st.lists(groups.map("group:{}".format), min_size=1, max_size=2, unique=True).map(tuple), st.integers(1, 2)
    ),
    min_size=1,
    max_size=3,
).map(tuple)
terms = st.builds(
    Terms,
    steps,
    separate=st.booleans(),
    refusals=st.integers(1, 2),
    levels=st.sampled_from([(), (Level(("group:c",), 9),)]),
)


@dataclass
class Model:
    """Who counts, by the words of the documentation alone."""

    terms: Terms
    members: dict[str, set[str]]
    passed: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    """By who was passed them, the places of others."""
    out: set[str] = field(default_factory=set[str])
    """Who passed theirs on."""
    locked: set[str] = field(default_factory=set[str])
    votes: dict[str, bool] = field(default_factory=dict[str, bool])
    end: str | None = None

    @property
    def is_vote(self) -> bool:
        return sum(step.people for step in self.terms.steps) > 1

    def places(self, who: str) -> frozenset[int]:
        if who in self.out or who in self.locked or (who == ASKER and self.terms.separate):
            return frozenset()
        own = {
            number
            for number, step in enumerate(self.terms.steps)
            if any(who in self.members[one.removeprefix("group:")] for one in step.candidates)
        }
        return frozenset(own | self.passed.get(who, set()))

    def sees(self, who: str) -> bool:
        asked = {one.removeprefix("group:") for step in self.terms.steps for one in step.candidates}
        return who in (ASKER, ADMIN) or who in self.passed or any(who in self.members[one] for one in asked)

    def yes(self, who: str) -> str:
        if self.end is not None:
            return "late" if self.sees(who) else "forbidden"
        if not self.places(who):
            return "forbidden"
        return self._voted(who, is_yes=True) if self.is_vote else self._ended("accept")

    def no(self, who: str) -> str:
        may_stop = who in (ASKER, ADMIN) or (who in self.out and self.sees(who))
        if self.end is not None:
            return "late" if self.sees(who) else "forbidden"
        if self.places(who) and self.is_vote and self.terms.refusals > 1:
            return self._voted(who, is_yes=False)
        return self._ended("reject") if may_stop or self.places(who) else "forbidden"

    def back(self, who: str) -> str:
        if not self.sees(who):
            return "forbidden"
        if self.end is not None:
            return "late"
        return "conflict" if self.votes.pop(who, None) is None else "open"

    def passes(self, who: str, to: str) -> str:
        if not self.sees(who) or (self.end is None and not self.places(who)):
            return "forbidden"
        if self.end is not None:
            return "late"
        if to == who or to in self.locked:
            return "invalid"
        if who in self.votes:
            return "conflict"
        theirs = self.places(to)
        later = {one.removeprefix("group:") for level in self.terms.levels for one in level.candidates}
        may_be_asked = to not in self.out and not (to == ASKER and self.terms.separate)
        if not theirs and not (may_be_asked and any(to in self.members[one] for one in later)):
            return "forbidden"
        if more := self.places(who) - theirs:
            self.passed.setdefault(to, set()).update(more)
        self.out.add(who)
        return "open"

    def count(self) -> tuple[int, int]:
        counted = {who: is_yes for who, is_yes in self.votes.items() if self.places(who)}
        yes = most_places(self.terms.steps, [self.places(who) for who, is_yes in counted.items() if is_yes])
        return yes, sum(not is_yes for is_yes in counted.values())

    def _voted(self, who: str, *, is_yes: bool) -> str:
        self.votes[who] = is_yes
        yes, no = self.count()
        if no >= self.terms.refusals:
            return self._ended("reject")
        return self._ended("accept") if yes == sum(step.people for step in self.terms.steps) else "open"

    def _ended(self, how: str) -> str:
        self.end = how
        return how


@pytest.fixture
async def core(store: Store) -> Core:
    async with store.transaction() as tx:
        for name in PEOPLE:
            await tx.users.add(a_user(f"u-{name}", name, role=Role.ADMIN if name == ADMIN else Role.OWNER))
        for name in GROUPS:
            await tx.groups.add(Group(name, "local", AT))
    return core_on(store)


def person(name: str) -> Principal:
    return principal_of(User(f"u-{name}", name, "", Role.ADMIN if name == ADMIN else Role.OWNER, AT, AT))


async def ask(core: Core, terms: Terms) -> str:
    async with unit(core) as work:
        thread = await outside.lock_conversation(work, person(ASKER), Ask(RequestKind.APPROVAL, {}, None), "votes")
        asked = await outside.ask_on(work, thread, NewRequest(ApprovalBody.ask("pay", {}), terms=terms))
    return asked.request.id


async def say(core: Core, request_id: str, who: str, decision: str) -> str:
    done = await answer(core, Sender(person(who), "test"), Reply(request_id, {"decision": decision}))
    if done.votes:
        return "open"
    async with core.store.snapshot() as tx:
        value = (await tx.answers.of_requests([request_id]))[request_id].value
    assert isinstance(value, ApprovalAnswer)
    return value.decision


async def done(core: Core, request_id: str, act: Act) -> str:
    verb, who, *rest = act
    try:
        match verb:
            case "back":
                await withdraw_vote(core, person(who), request_id)
                return "open"
            case "pass":
                await delegate(core, person(who), request_id, rest[0])
                return "open"
            case _:
                return await say(core, request_id, who, "accept" if verb == "yes" else "reject")
    except AlreadySettled:
        return "late"
    except Conflict:
        return "conflict"
    except Forbidden:
        return "forbidden"
    except InvalidInput:
        return "invalid"


async def set_up(core: Core, model: Model) -> None:
    async with core.store.transaction() as tx:
        for name, members in model.members.items():
            await tx.groups.set_members(name, [f"u-{one}" for one in members])
        for name in PEOPLE:
            await tx.users.set_disabled(f"u-{name}", AT if name in model.locked else None)


def changed(model: Model, act: Act) -> bool:
    """Whether it is a change of who is who, and no word on the request."""
    verb, who, *rest = act
    match verb:
        case "join":
            model.members[rest[0]].add(who)
        case "leave":
            model.members[rest[0]].discard(who)
        case "lock":
            model.locked.add(who)
        case "unlock":
            model.locked.discard(who)
        case _:
            return False
    return True


def expected(model: Model, act: Act) -> str:
    verb, *who = act
    said = {"yes": model.yes, "no": model.no, "back": model.back, "pass": model.passes}
    return said[verb](*who)


TWO_PLACES = Terms((Step(("group:a",)), Step(("group:b",))), separate=True)


@example(
    # Who is passed a place, and may fill another one already, leaves that to somebody else.
    TWO_PLACES,
    {"a": {"bob"}, "b": {"cyd", "dan"}, "c": set()},
    [("pass", "bob", "cyd"), ("yes", "bob"), ("yes", "cyd"), ("yes", "dan")],
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(terms, st.fixed_dictionaries({name: st.sets(people) for name in GROUPS}), st.lists(acts, max_size=14))
async def test_whatever_people_do_the_same_are_counted_as_by_a_plain_model(
    core: Core, wanted: Terms, members: dict[str, set[str]], acts: Sequence[Act]
) -> None:
    wanted = wanted if wanted.is_vote else replace(wanted, refusals=1)
    model = Model(wanted, {name: set(found) for name, found in members.items()})
    await set_up(core, model)
    request_id = await ask(core, wanted)
    for act in acts:
        if changed(model, act):
            await set_up(core, model)
        elif act[1] not in model.locked:
            assert await done(core, request_id, act) == expected(model, act), act
        await check(core, request_id, model)


async def check(core: Core, request_id: str, model: Model) -> None:
    async with core.store.snapshot() as tx:
        request = await tx.requests.get(request_id)
        assert request is not None
        thread = await tx.threads.get(request.thread_id)
        assert thread is not None
        found, _ = await count(tx, thread, request)
        given = (await tx.answers.of_requests([request_id])).get(request_id)
    assert (found.yes, found.refusals) == model.count()
    value = given.value if given else None
    assert (value.decision if isinstance(value, ApprovalAnswer) else None) == model.end
    if model.end == "accept" and model.is_vote and given is not None:
        assert ASKER not in given.by_name.split(", ") or not model.terms.separate
