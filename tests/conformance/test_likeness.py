"""Which earlier calls count as like a request, what a rule is drafted from, and how far the store looks for them."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import insert, text

from interlock.conditions import CelConditions
from interlock.domain.errors import Conflict, Forbidden
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody
from interlock.domain.likeness import Change
from interlock.domain.policy import Ruling
from interlock.domain.principal import Principal, Role
from interlock.domain.request import AnswerOrigin, RequestStatus
from interlock.ports.filters import AlikeFilter
from interlock.services.core import Core, unit
from interlock.services.policies import versions
from interlock.services.policies.replay import replay
from interlock.services.requests.likeness import MOST_COUNTED, draft_policy, likeness
from interlock.services.requests.settling import Settlement, settle
from interlock.storage._settled_requests import alike_statement
from interlock.storage.database import Database
from interlock.storage.requests import request_values
from interlock.storage.schema import requests
from interlock.storage.store import SqlStore
from tests.conformance.examples import ANN, a_pause, a_request, a_thread, a_user, after
from tests.conformance.trails import core_on

ROOT = Principal("u-root", "root", Role.ADMIN)
BOB = Principal("u-bob", "bob", Role.OWNER)
YES, NO = ApprovalAnswer("accept"), ApprovalAnswer("reject")
EDIT = ApprovalAnswer("edit", {"path": "docs/edited", "mode": "w"})


@pytest.fixture
async def core(store: SqlStore) -> Core:
    core = replace(core_on(store), conditions=CelConditions())
    async with store.transaction() as tx:
        await tx.users.add(a_user())
        await tx.threads.add(a_thread())
        await tx.threads.add(a_thread("bob-1", owner_id="u-bob"))
        await tx.threads.add(a_thread("other-1", agent="other"))
    return core


class Asks:
    """Asks and answers, each a second after the one before."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.count = 0

    async def ask(self, path: str = "docs/x", value: ApprovalAnswer | None = None, **changes: Any) -> str:
        self.count += 1
        origin = changes.pop("origin", AnswerOrigin.PERSON)
        tool, risk = changes.pop("tool", "edit"), changes.pop("risk", "medium")
        body = ApprovalBody.ask(tool, {"path": path, "mode": "w"}, risk_level=risk)
        name = f"perm_{self.count}"
        thread_id = changes.pop("thread_id", "ann-1")
        whose = {"ann-1": ("u-ann", "demo"), "bob-1": ("u-bob", "demo"), "other-1": ("u-ann", "other")}[thread_id]
        asked = a_request(name, f"pause-{name}", thread_id=thread_id, body=body, definition="d1")
        request = replace(asked, owner_id=whose[0], agent=whose[1], **changes)
        async with unit(self.core) as work:
            await work.tx.pauses.add(a_pause(request.pause_id, thread_id), [request])
            if value is not None:
                how = Settlement(RequestStatus.ANSWERED, ANN, "web", value=value, origin=origin)
                await settle(work, request, how)
        return name


@pytest.fixture
def asks(core: Core) -> Asks:
    return Asks(core)


async def test_calls_of_one_definition_are_counted_by_who_decided(core: Core, asks: Asks) -> None:
    await asks.ask(value=YES)
    await asks.ask("docs/y", value=EDIT)
    await asks.ask(value=NO)
    await asks.ask(value=YES, origin=AnswerOrigin.GRANT)
    for unlike in ({"thread_id": "bob-1"}, {"thread_id": "other-1"}, {"definition": "d2"}, {"tool": "write"}):
        await asks.ask(value=YES, **unlike)
    await asks.ask()
    found = await likeness(core, ANN, await asks.ask())
    assert (found.earlier, found.approved, found.is_whole) == (4, 2, True)
    assert found.last is not None
    assert (found.last.request_id, found.last.args, found.last.by) == ("perm_2", EDIT.args, "ann")
    assert [(one.name, one.change, one.before) for one in found.differences] == [
        ("path", Change.CHANGED, ('"docs/edited"',))
    ]


async def test_of_a_settled_request_only_what_was_settled_before_counts(core: Core, asks: Asks) -> None:
    await asks.ask("docs/a", value=YES)
    second = await asks.ask("docs/b", value=YES)
    await asks.ask("docs/c", value=YES)
    found = await likeness(core, ANN, second)
    assert found.earlier == 1
    assert found.last is not None
    assert found.last.args["path"] == "docs/a"


async def test_a_tool_of_which_nothing_is_known_is_like_no_other(core: Core, asks: Asks) -> None:
    await asks.ask(value=YES, definition=None)
    found = await likeness(core, ANN, await asks.ask(definition=None))
    assert (found.earlier, found.last) == (0, None)


@pytest.mark.promise("P12")
async def test_who_may_not_see_the_conversation_learns_nothing(core: Core, asks: Asks) -> None:
    await asks.ask(value=YES)
    waiting = await asks.ask()
    key = Principal("key-1", "worker", Role.AGENT, on_behalf_of=ANN)
    for who in (BOB, key):
        with pytest.raises(Forbidden):
            await likeness(core, who, waiting)
        with pytest.raises(Forbidden):
            await draft_policy(core, who, waiting)
    with pytest.raises(Forbidden):
        await draft_policy(core, ANN, waiting)


async def test_a_rule_is_drafted_from_what_people_approved_as_it_stood(core: Core, asks: Asks) -> None:
    for name in "abc":
        await asks.ask(f"docs/{name}", value=YES)
    await asks.ask("src/x", value=EDIT)
    await asks.ask("src/y", value=NO)
    await asks.ask("src/z", value=YES, origin=AnswerOrigin.GRANT)
    inside, outside = await asks.ask("docs/new"), await asks.ask("src/new")
    assert (await likeness(core, ROOT, inside)).may_be_ruled
    assert not (await likeness(core, ANN, inside)).may_be_ruled
    draft = await draft_policy(core, ROOT, inside)
    assert (draft.calls, draft.covers, draft.active) == (3, True, None)
    assert 'under(args["path"], "docs")' in draft.rule.text
    assert not (await draft_policy(core, ROOT, outside)).covers


async def test_the_draft_stands_behind_the_active_policy_and_saves_nothing(core: Core, asks: Asks) -> None:
    before = '[[rule]]\nname = "first"\ntools = ["edit"]\nthen = "ask"\n'
    version, _ = await versions.save(core, ROOT, before)
    await versions.activate(core, ROOT, version.number, None)
    for _ in range(3):
        await asks.ask(value=YES)
    draft = await draft_policy(core, ROOT, await asks.ask())
    assert draft.active == version.number
    assert draft.text.startswith(before)
    assert [rule.name for rule in versions.check_right(core, draft.text).rules] == ["first", draft.rule.name]
    assert len((await versions.history(core, ROOT)).versions) == 1


@pytest.mark.parametrize(
    "waiting", [{"risk": "high"}, {"value": YES}, {"definition": None}], ids=["risky", "settled", "unknown"]
)
async def test_no_rule_is_offered_for_such_a_call(core: Core, asks: Asks, waiting: dict[str, Any]) -> None:
    for _ in range(3):
        await asks.ask(value=YES)
    name = await asks.ask(**waiting)
    assert not (await likeness(core, ROOT, name)).may_be_ruled
    with pytest.raises(Conflict):
        await draft_policy(core, ROOT, name)


@pytest.mark.promise("P22")
async def test_what_was_asked_before_its_owners_groups_were_kept_is_not_guessed(core: Core, asks: Asks) -> None:
    free = '[[rule]]\nname = "{}"\nwhen = \'{}\'\nthen = "allow"\n'
    by_tool = free.format("tool", 'tool == "edit"')
    by_groups = free.format("groups", 'tool == "edit" && !("a" in owner_groups)')
    await asks.ask(value=NO)
    await asks.ask(value=NO, owner_groups=("b",))
    report = await replay(core, ROOT, by_tool)
    assert (report.cells, report.not_replayed) == ({("refused", Ruling.ALLOW): 2}, {})
    report = await replay(core, ROOT, by_groups)
    assert report.cells == {("refused", Ruling.ALLOW): 1}
    assert report.not_replayed == {"the groups of its owner were not kept then": 1}


async def test_without_the_engine_no_rule_is_offered(core: Core, asks: Asks) -> None:
    for _ in range(3):
        await asks.ask(value=YES)
    assert not (await likeness(replace(core, conditions=None), ROOT, await asks.ask())).may_be_ruled


@pytest.mark.promise("P16")
async def test_however_many_are_alike_the_index_is_read_no_further_than_the_bound(
    core: Core, asks: Asks, database: Database
) -> None:
    name = await asks.ask()
    async with core.store.snapshot() as tx:
        request = await tx.requests.get(name)
    assert request is not None
    unlike = replace(request, owner_id="u-bob", definition="d2")
    shares = [request if number % 5 == 0 else unlike for number in range(4_000)]
    await _copy(database, [replace(one, id=f"r-{n}", settled_at=after(n)) for n, one in enumerate(shares)])
    found = await likeness(core, ANN, name)
    assert (found.earlier, found.is_whole) == (MOST_COUNTED, False)
    query = AlikeFilter("u-ann", "demo", "edit", "d1")
    async with database.read() as connection:
        statement = alike_statement(query, MOST_COUNTED).compile(
            dialect=connection.dialect, compile_kwargs={"literal_binds": True}
        )
        explain = "EXPLAIN QUERY PLAN" if connection.dialect.name == "sqlite" else "EXPLAIN"
        plan = "\n".join(str(row) for row in await connection.execute(text(f"{explain} {statement}")))
    assert "ix_requests_alike" in plan
    assert "TEMP B-TREE" not in plan
    assert "Seq Scan on requests" not in plan


async def _copy(database: Database, copies: list[Any]) -> None:
    values = [request_values(replace(one, status=RequestStatus.CANCELLED)) for one in copies]
    async with database.write() as connection:
        await connection.execute(insert(requests), values)
        await connection.execute(text("ANALYZE"))
