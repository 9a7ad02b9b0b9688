"""What a policy would have said of recorded requests. Only read: nothing is settled, told, or counted as used."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from interlock.domain.errors import InvalidInput
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody
from interlock.domain.policy import Ruling
from interlock.domain.principal import Principal
from interlock.domain.request import Answer, AnswerOrigin, Request
from interlock.domain.thread import Thread
from interlock.ports.filters import SettledFilter
from interlock.ports.store import Transaction
from interlock.services.core import Core
from interlock.services.policies.deciding import facts_of, for_request, judge
from interlock.services.policies.versions import admin_only, check_right, engine_in

MOST_REQUESTS = 100_000
_PAGE = 500
_SAMPLES = 20
_OUTCOMES: Mapping[str, str] = {"accept": "approved", "edit": "edited", "reject": "refused", "response": "replied"}

Cell = tuple[str, Ruling]
"""What happened to a request, and what the policy would have said."""


@dataclass(frozen=True, slots=True)
class Sample:
    request_id: str
    tool: str
    action: str
    answered_by: str | None
    settled_at: datetime | None
    rule: str | None


@dataclass(slots=True)
class Replay:
    looked_at: int = 0
    is_whole: bool = True
    """Whether that were all requests since the moment that was given."""
    cells: Counter[Cell] = field(default_factory=Counter[Cell])
    samples: dict[Cell, list[Sample]] = field(default_factory=dict[Cell, list[Sample]])
    not_replayed: Counter[str] = field(default_factory=Counter[str])
    errors: Counter[str] = field(default_factory=Counter[str])
    """By rule, how often it could not be evaluated."""
    asks_saved: int = 0
    """Asks that a person answered, and the policy would have."""
    asks_added: int = 0
    """Asks that a policy answered then, and this one would leave to a person."""

    def ordered(self) -> list[tuple[Cell, int]]:
        """First what a person refused and the policy would allow, then the rest, the most frequent first."""
        return sorted(self.cells.items(), key=lambda item: (item[0] != ("refused", Ruling.ALLOW), -item[1], item[0]))


async def replay(
    core: Core, principal: Principal, text: str, *, since: datetime | None = None, limit: int = 10_000
) -> Replay:
    admin_only(principal)
    if not 1 <= limit <= MOST_REQUESTS:
        raise InvalidInput(f"limit is 1 to {MOST_REQUESTS}")
    engine = engine_in(core)
    document = check_right(core, text)
    reads_groups = any("owner_groups" in engine.reads(rule.when) for rule in document.rules)
    report = Replay()
    async with core.store.snapshot() as tx:
        threads: dict[str, Thread | None] = {}
        before: tuple[datetime, str] | None = None
        while report.looked_at < limit:
            size = min(_PAGE, limit - report.looked_at)
            page = await tx.requests.page_settled(SettledFilter(since=since, before=before), size)
            for request, answer in page:
                report.looked_at += 1
                thread = await _thread(tx, threads, request.thread_id)
                if not isinstance(request.body, ApprovalBody):
                    report.not_replayed["not an approval"] += 1
                elif request.is_in_doubt:
                    report.not_replayed["about a call that was cut short"] += 1
                elif thread is None:
                    report.not_replayed["the conversation was deleted"] += 1
                elif reads_groups and request.owner_groups is None:
                    report.not_replayed["the groups of its owner were not kept then"] += 1
                else:
                    decision = judge(engine, engine.name, document, await facts_of(tx, thread, request))
                    report.errors.update(name for name, _ in decision.errors)
                    decision = for_request(request, decision)
                    rule = decision.rule.name if decision.rule else None
                    _count(report, request, answer, decision.ruling, rule)
            if len(page) < size:
                return report
            last = page[-1][0]
            assert last.settled_at is not None
            before = (last.settled_at, last.id)
            # Others may want something meanwhile.
            await asyncio.sleep(0)
        report.is_whole = not await tx.requests.page_settled(SettledFilter(since=since, before=before), 1)
    return report


async def _thread(tx: Transaction, known: dict[str, Thread | None], thread_id: str) -> Thread | None:
    if thread_id not in known:
        known[thread_id] = await tx.threads.get(thread_id)
    return known[thread_id]


def _count(report: Replay, request: Request, answer: Answer | None, ruling: Ruling, rule: str | None) -> None:
    value = answer.value if answer else None
    happened = _OUTCOMES[value.decision] if isinstance(value, ApprovalAnswer) else request.status.value
    cell = (happened, ruling)
    report.cells[cell] += 1
    samples = report.samples.setdefault(cell, [])
    if len(samples) < _SAMPLES and isinstance(request.body, ApprovalBody):
        by = answer.by_name if answer else None
        samples.append(Sample(request.id, request.tool, request.body.action, by, request.settled_at, rule))
    if answer is not None and answer.origin is AnswerOrigin.PERSON and ruling is not Ruling.ASK:
        report.asks_saved += 1
    if answer is not None and answer.origin is AnswerOrigin.POLICY and ruling is Ruling.ASK:
        report.asks_added += 1
