"""A day of asks through the server's own services: what rules and remembered answers leave to people."""

import re
import shutil
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from interlock.conditions import CelConditions
from interlock.domain.grant import GrantDuration, GrantScope, Remember
from interlock.domain.kinds import ApprovalAnswer, RequestKind
from interlock.domain.principal import Principal, Role
from interlock.domain.request import AnswerOrigin
from interlock.services.core import Core
from interlock.services.policies import versions
from interlock.services.requests.answering import Reply, Sender, answer
from interlock.services.requests.outside import Ask, AskResult, ask
from interlock.storage.database import open_database
from interlock.storage.sealing import Sealer, derive
from interlock.storage.store import SqlStore
from tests.conformance.examples import ANN, a_user
from tests.conformance.trails import core_on
from tests.conftest import MASTER_KEY
from tests.support.pages import ROOT, blocks
from tests.support.recorded_day import CALLS, Call, recorded_day

PAGE = ROOT / "docs" / "explanation" / "a-day-of-asks.md"
ROOT_ADMIN = Principal("u-root", "root", Role.ADMIN)
AGENT = Principal("key-1", "claude-code", Role.AGENT, on_behalf_of=ANN, agent="claude-code")
REMEMBERED = Remember(GrantDuration.SESSION, GrantScope.THIS_ACTION)
COLUMNS = ("rule: yes", "rule: no", "remembered: yes", "remembered: no", "person")
_OF_RULE, _OF_GRANT = ("rule: yes", "rule: no"), ("remembered: yes", "remembered: no")


@pytest.fixture
async def core(tmp_path: Path, sqlite_template: Path) -> AsyncGenerator[Core]:
    shutil.copyfile(sqlite_template, tmp_path / "interlock.db")
    database = open_database(f"sqlite:///{tmp_path}/interlock.db")
    store = SqlStore(database, sealer=Sealer(MASTER_KEY), audit_key=derive(MASTER_KEY, "audit"))
    async with store.transaction() as tx:
        await tx.users.add(a_user())
    yield replace(core_on(store), conditions=CelConditions())
    await database.close()


@dataclass
class Outcome:
    by: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    left: list[Call] = field(default_factory=list[Call])
    """To a person."""
    wrongly_allowed: list[Call] = field(default_factory=list[Call])
    wrongly_refused: list[Call] = field(default_factory=list[Call])

    @property
    def put_to_people(self) -> int:
        return len(self.left)

    def rows(self) -> Iterator[str]:
        for kind in CALLS:
            yield f"| {kind} | {' | '.join(str(self.by[kind][column]) for column in COLUMNS)} |"
        totals = [sum(self.by[kind][column] for kind in CALLS) for column in COLUMNS]
        yield f"| **all** | {' | '.join(f'**{total}**' for total in totals)} |"


async def live(core: Core, day: Sequence[Call], *, remembers: bool = True) -> Outcome:
    """Ask about each call; its person answers at once what is put to people."""
    outcome = Outcome()
    for call in day:
        asked = await _asked(core, call)
        counts = outcome.by.setdefault(call.kind, Counter())
        if asked.answer is None:
            counts["person"] += 1
            outcome.left.append(call)
            await _decide(core, asked, call, remembers=remembers)
            continue
        assert isinstance(asked.answer.value, ApprovalAnswer)
        is_yes = asked.answer.value.runs
        columns = {AnswerOrigin.POLICY: _OF_RULE, AnswerOrigin.GRANT: _OF_GRANT}[asked.answer.origin]
        counts[columns[0] if is_yes else columns[1]] += 1
        if is_yes and call.is_refused:
            outcome.wrongly_allowed.append(call)
        elif not is_yes and not call.is_refused:
            outcome.wrongly_refused.append(call)
    return outcome


async def _asked(core: Core, call: Call) -> AskResult:
    """As the hook of such an agent asks."""
    found: list[AskResult] = []
    data = {
        "tool_name": call.tool,
        "args": call.args,
        "description": "Claude Code, in /home/ann/shop",
        "risk_level": call.risk,
    }

    def keep(result: AskResult) -> bytes:
        found.append(result)
        return b""

    await ask(core, AGENT, Ask(RequestKind.APPROVAL, data, None, conversation_key="day"), None, keep)
    return found[0]


async def _decide(core: Core, asked: AskResult, call: Call, *, remembers: bool) -> None:
    value = {"decision": "reject" if call.is_refused else "accept"}
    how = REMEMBERED if remembers and call.is_remembered else None
    await answer(core, Sender(ANN, "web"), Reply(asked.request.id, value, remember=how))


def rules() -> str:
    (text,) = blocks(PAGE, "toml")
    return text


@pytest.mark.promise("P22", "P24")
async def test_five_rules_and_remembered_answers_cut_the_asks_of_a_day_and_allow_nothing_wrong(core: Core) -> None:
    version, _ = await versions.save(core, ROOT_ADMIN, rules())
    await versions.activate(core, ROOT_ADMIN, version.number, None)
    day = recorded_day()
    outcome = await live(core, day)
    assert outcome.wrongly_allowed == []
    assert outcome.wrongly_refused == []
    assert outcome.put_to_people <= len(day) // 5
    page = PAGE.read_text()
    assert [row for row in outcome.rows() if row not in page.splitlines()] == []
    left = sum(call.is_refused for call in outcome.left)
    assert f"**{outcome.put_to_people} of {len(day):,}**" in page
    assert f"{left} of the {outcome.put_to_people} are calls that the person refuses" in page


async def test_without_rules_and_remembered_answers_all_of_it_is_put_to_people(core: Core) -> None:
    day = recorded_day()[:50]
    assert (await live(core, day, remembers=False)).put_to_people == len(day)


def test_the_page_states_the_make_up_of_the_day_and_five_rules() -> None:
    day, page = recorded_day(), PAGE.read_text()
    assert len(day) == sum(CALLS.values()) == 1_000
    assert day == recorded_day()
    refused = Counter(call.kind for call in day if call.is_refused)
    stated = re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \| [^|]+ \|$", page, re.MULTILINE)
    assert [(kind, int(calls), int(no)) for kind, calls, no in stated] == [(k, n, refused[k]) for k, n in CALLS.items()]
    assert f"{refused.total()} of them are refused" in page
    assert rules().count("[[rule]]") == 5
