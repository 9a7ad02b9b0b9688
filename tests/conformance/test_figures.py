"""Weekly figures as the store gives them: whose rows are read, and how far."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from interlock.domain.errors import Forbidden, InvalidInput
from interlock.domain.figures import SettledAsk
from interlock.domain.kinds import ApprovalAnswer, ClarificationAnswer, Value
from interlock.domain.policy import Ruling, ShadowWord, Word
from interlock.domain.principal import Principal, Role
from interlock.domain.request import AnswerOrigin, RequestStatus
from interlock.domain.terms import Vote
from interlock.services.core import Core, unit
from interlock.services.requests.figures import weekly_figures
from interlock.services.requests.settling import Settlement, settle
from interlock.storage.store import SqlStore
from tests.conformance.examples import ANN, AT, a_body, a_pause, a_request, a_thread, a_user
from tests.conformance.trails import core_on

ROOT = Principal("u-root", "root", Role.ADMIN)
BOB = Principal("u-bob", "bob", Role.REVIEWER, reviews=("demo",))
YES = ApprovalAnswer("accept")


@pytest.fixture
async def core(store: SqlStore) -> Core:
    core = core_on(store)
    async with store.transaction() as tx:
        await tx.users.add(a_user())
        await tx.users.add(a_user("u-bob", "bob"))
        await tx.threads.add(a_thread())
        await tx.threads.add(a_thread("bob-1", owner_id="u-bob"))
    return core


async def settled(core: Core, name: str, by: Principal | None, value: Value = YES, **changes: Any) -> None:
    thread_id = changes.pop("thread_id", "ann-1")
    origin = changes.pop("origin", AnswerOrigin.PERSON)
    dwell: dict[str, Any] = {"dwell_ms": changes.pop("dwell_ms")} if "dwell_ms" in changes else {}
    body = a_body(value.kind)
    owner_id = "u-bob" if thread_id == "bob-1" else "u-ann"
    asked = a_request(name, f"p-{name}", thread_id=thread_id, body=body, owner_id=owner_id, agent="demo")
    async with unit(core) as work:
        await work.tx.pauses.add(a_pause(asked.pause_id, thread_id), [asked])
        how = Settlement(RequestStatus.CANCELLED, ANN, "web")
        if by is not None:
            how = Settlement(RequestStatus.ANSWERED, by, "web", value=value, origin=origin, metadata=dwell)
        await settle(work, replace(asked, **changes), how)


async def _scene(core: Core) -> None:
    await settled(core, "r1", ANN, dwell_ms=4_000)
    await settled(core, "r2", BOB, ApprovalAnswer("reject"), dwell_ms=2_000)
    await settled(core, "r3", ANN, origin=AnswerOrigin.GRANT)
    await settled(core, "r4", None)
    await settled(core, "r5", ANN, ClarificationAnswer("a"), thread_id="bob-1")


async def test_everybody_reads_their_own_and_admins_read_all(core: Core) -> None:
    await _scene(core)
    (own,) = (await weekly_figures(core, ANN, 2)).people
    assert own.person_id == "u-ann"
    week = own.weeks[-1]
    assert (week.asks, week.by_grant, week.unanswered) == (4, 1, 1)
    assert (week.answers, week.approvals, week.yes, week.dwell_ms) == (2, 1, 1, 4_000)
    report = await weekly_figures(core, ROOT, 2)
    assert [report.names[one.person_id] for one in report.people] == ["root", "ann", "bob"]
    assert report.is_whole
    assert report.people[1] == own
    (of_bob,) = (await weekly_figures(core, BOB, 2)).people
    assert of_bob == report.people[2]
    assert (of_bob.weeks[-1].asks, of_bob.weeks[-1].answers, of_bob.weeks[-1].yes) == (1, 1, 0)


async def test_a_persons_rows_are_read_once_and_the_last_ones_first(core: Core) -> None:
    await _scene(core)
    long_ago, now = AT - timedelta(days=3650), core.clock.now()

    async def read(since: Any, person_id: str | None, limit: int = 10) -> list[SettledAsk]:
        async with core.store.snapshot() as tx:
            return await tx.requests.settled_asks(since, person_id, limit)

    assert len(await read(long_ago, None)) == 5
    assert len(await read(long_ago, "u-ann")) == 5
    assert len(await read(long_ago, "u-bob")) == 2
    assert await read(now + timedelta(hours=1), None) == []
    some = await read(long_ago, "u-ann", 2)
    assert some == (await read(long_ago, "u-ann"))[:2]
    assert all(one.length > 0 for one in some)


async def test_votes_and_words_of_a_version_in_shadow_are_counted(core: Core) -> None:
    await _scene(core)
    now = core.clock.now()
    async with core.store.transaction() as tx:
        for request_id, person_id, is_yes in (("r1", "u-bob", False), ("r1", "u-ann", True), ("r2", "u-ann", True)):
            await tx.routes.put_vote(Vote(request_id, person_id, person_id, is_yes, now, "web"))
        for request_id, ruling in (("r1", Ruling.ALLOW), ("r2", Ruling.ASK), ("r3", Ruling.DENY), ("r4", Ruling.ALLOW)):
            word = ShadowWord(1, request_id, "ann-1", Word(ruling), False, None, Word(Ruling.ASK), now)
            await tx.policies.add_word(word)
    report = await weekly_figures(core, ROOT, 1)
    _, ann, bob = (one.weeks[-1] for one in report.people)
    assert (ann.votes_contradicted, ann.by_shadow) == (1, 1)
    assert (bob.votes_contradicted, bob.by_shadow) == (1, 0)
    (own,) = (await weekly_figures(core, ANN, 1)).people
    assert own.weeks[-1] == ann


@pytest.mark.promise("P12")
async def test_an_agents_key_reads_none(core: Core) -> None:
    key = Principal("key-1", "worker", Role.AGENT, on_behalf_of=ANN)
    with pytest.raises(Forbidden):
        await weekly_figures(core, key, 2)


@pytest.mark.parametrize("count", [0, 27])
async def test_no_more_weeks_are_counted_than_half_a_year(core: Core, count: int) -> None:
    with pytest.raises(InvalidInput):
        await weekly_figures(core, ANN, count)
