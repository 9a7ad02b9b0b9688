"""The audit trail: read by those who may, and checked against everything that could have been done to it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from interlock.domain.audit import (
    HEADS_MADE,
    SERVER_CHAIN,
    AuditEntry,
    AuditHead,
    AuditPosition,
    Finding,
    FindingKind,
    StoredAnswer,
)
from interlock.domain.audit_check import ChainCheck
from interlock.domain.canonical import canonical_json
from interlock.domain.errors import Forbidden
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.kinds import EnvVarAnswer, RequestKind
from interlock.domain.principal import SYSTEM, Principal, Role
from interlock.ports.store import Store, Transaction
from interlock.services.audit.export import Report, exported_heads
from interlock.services.core import Core
from interlock.services.teams.eligibility import access_to, is_blind
from interlock.services.threads.threads import NOT_YOURS, visible

PAGE = 1_000
_VOTES = ("request.voted", "request.vote_withdrawn")


@dataclass(frozen=True, slots=True)
class Page:
    entries: Sequence[AuditEntry]
    next_before: AuditPosition | None
    """Where the next page begins, None on the last one."""


async def make_heads(store: Store, now: datetime) -> None:
    """Once for each database: make heads for the chains of before there were any. From then on a head is never made
    for a chain that has entries, and one that is missing is a finding."""
    async with store.snapshot() as tx:
        if await tx.audit.is_recorded(SERVER_CHAIN, HEADS_MADE):
            return
    async with store.transaction() as tx:
        head_count = await tx.audit.make_heads()
        await tx.audit.append(SERVER_CHAIN, SYSTEM, HEADS_MADE, {"count": head_count}, now)


async def list_audit(
    core: Core,
    principal: Principal,
    *,
    conversation_id: str | None = None,
    action: str | None = None,
    before: AuditPosition | None = None,
    limit: int = 50,
) -> Page:
    """The newest entries first: of one thread for whoever may see it, else of all that is theirs; admins see all.

    Without the votes of others on what the caller has a vote to give on themselves.
    """
    if principal.is_agent:
        raise Forbidden("an agent's key may not look at the audit trail")
    is_admin = principal.role is Role.ADMIN
    async with core.store.snapshot() as tx:
        if conversation_id is not None and not is_admin:
            if conversation_id == SERVER_CHAIN:
                raise Forbidden(NOT_YOURS)
            visible(principal, await tx.threads.get(conversation_id))
        found = await tx.audit.page(
            limit + 1,
            owner_id=principal.id if conversation_id is None and not is_admin else None,
            thread_id=conversation_id,
            action=action,
            before=before,
        )
        page = found[:limit]
        hidden = await _hidden_votes(tx, principal, page)
    last = page[-1] if len(found) > limit else None
    shown = [entry for entry in page if _request_of_vote(entry) not in hidden]
    return Page(shown, AuditPosition(last.at, last.chain, last.number) if last else None)


async def _hidden_votes(tx: Transaction, principal: Principal, entries: Iterable[AuditEntry]) -> set[str]:
    """The requests among them on which others have voted, and the caller may and has not."""
    hidden: set[str] = set()
    for request_id in {one for entry in entries if (one := _request_of_vote(entry)) is not None}:
        request = await tx.requests.get(request_id)
        thread = await tx.threads.get(request.thread_id) if request else None
        if request is None or thread is None:
            continue
        if await is_blind(tx, principal, request, await access_to(tx, principal, thread, request)):
            hidden.add(request.id)
    return hidden


async def verify(core: Core, against: Iterable[str] | None = None) -> Report:
    """Check the whole trail as it is at this moment, and that it goes through the heads of an earlier export.

    `against` are the lines of the export; `InvalidInput` when it is not one that this server made.
    """
    async with core.store.snapshot() as tx:
        heads, findings = ({}, []) if against is None else exported_heads(tx.audit.key, against)
        checking = _Verification(tx, heads, findings)
        await checking.check_chains()
        await checking.check_lost_chains()
        await checking.check_unrecorded_answers()
    found = sorted(checking.findings, key=lambda finding: (finding.chain, finding.number is None, finding.number or 0))
    return Report(checking.chains, checking.entries, found)


@dataclass(slots=True)
class _Verification:
    tx: Transaction
    exported: dict[str, AuditHead]
    findings: list[Finding]
    chains: int = 0
    entries: int = 0
    recorded_answers: int = 0
    is_deleted: bool = False
    """Of the chain at hand: whether it says that its thread was deleted, with all answers."""
    lost_answers: list[Finding] = field(default_factory=list[Finding])

    async def check_chains(self) -> None:
        chain, number, check = "", 0, None
        while page := await self.tx.audit.trail(chain, number, PAGE):
            heads = await self.tx.audit.heads_of({entry.chain for entry in page})
            answers = await self.tx.audit.stored_answers(list(filter(None, map(_request_of_entry, page))))
            for entry in page:
                if check is None or check.chain != entry.chain:
                    self._end(check)
                    check = self._begin(entry.chain, heads.get(entry.chain))
                check.feed(entry)
                self._check_answer(entry, answers)
            chain, number = page[-1].chain, page[-1].number
        self._end(check)

    async def check_lost_chains(self) -> None:
        """Chains of which there is only a head, and exported ones of which there is nothing."""
        after = ""
        while heads := await self.tx.audit.lone_heads(after, PAGE):
            for head in heads:
                self._end(self._begin(head.chain, head))
            after = heads[-1].chain
        for chain in list(self.exported):
            check = self._begin(chain, None)
            self.chains -= 1
            self._end(check)

    async def check_unrecorded_answers(self) -> None:
        if await self.tx.audit.count_stored_answers() == self.recorded_answers:
            return
        after = ""
        while page := await self.tx.audit.all_stored_answers(after, PAGE):
            for answer in page:
                if not await self._is_recorded(answer):
                    text = f"the answer to {answer.request_id} is in the database, and was never recorded"
                    self.findings.append(Finding(FindingKind.UNRECORDED_ANSWER, answer.chain, None, text))
            after = page[-1].request_id

    def _begin(self, chain: str, head: AuditHead | None) -> ChainCheck:
        self.chains += 1
        self.is_deleted = False
        self.lost_answers = []
        return ChainCheck(self.tx.audit.key, chain, head, self.exported.pop(chain, None))

    def _end(self, check: ChainCheck | None) -> None:
        if check is None:
            return
        self.entries += check.entries
        self.findings += check.findings()
        if not self.is_deleted:
            self.findings += self.lost_answers

    def _check_answer(self, entry: AuditEntry, answers: Mapping[str, StoredAnswer]) -> None:
        self.is_deleted = self.is_deleted or entry.action == "thread.deleted"
        request_id = _request_of_entry(entry)
        if request_id is None:
            return
        answer = answers.get(request_id)
        if answer is None:
            text = f"the answer to {request_id} is no longer in the database"
            self.lost_answers.append(Finding(FindingKind.ALTERED_ANSWER, entry.chain, entry.number, text))
            return
        self.recorded_answers += 1
        if not _agree(entry, answer):
            text = f"the answer to {request_id} in the database is not the one that was recorded"
            self.findings.append(Finding(FindingKind.ALTERED_ANSWER, entry.chain, entry.number, text))

    async def _is_recorded(self, answer: StoredAnswer) -> bool:
        after = 0
        while page := await self.tx.audit.entries(answer.chain, after, PAGE):
            if any(_request_of_entry(entry) == answer.request_id for entry in page):
                return True
            after = page[-1].number
        return False


def _request_of_entry(entry: AuditEntry) -> str | None:
    """The request of which the entry records an answer."""
    data: JsonValue = entry.data
    if not entry.action.startswith("request.") or not isinstance(data, dict):
        return None
    data = cast("JsonObject", data)
    request_id = data.get("request_id")
    return request_id if isinstance(request_id, str) and data.get("value") is not None else None


def _request_of_vote(entry: AuditEntry) -> str | None:
    data: JsonValue = entry.data
    if entry.action not in _VOTES or not isinstance(data, dict):
        return None
    request_id = cast("JsonObject", data).get("request_id")
    return request_id if isinstance(request_id, str) else None


def _agree(entry: AuditEntry, answer: StoredAnswer) -> bool:
    data: JsonObject = entry.data
    recorded = (data["value"], entry.actor_id, entry.actor_name, data.get("source"), data.get("origin"))
    value = _recorded_value(data.get("kind"), answer.value)
    kept = (value, answer.by_id, answer.by_name, answer.source, answer.origin)
    try:
        return canonical_json(recorded) == canonical_json(kept)
    except RecursionError:
        return False


def _recorded_value(kind: JsonValue, value: JsonValue) -> JsonValue:
    """An answer as it is recorded, which is without sensitive values; of a row that anybody may have written."""
    if kind != RequestKind.ENV_VAR:
        return value
    try:
        answer = EnvVarAnswer.from_json(value)
        return answer.readable().to_json() if answer.to_json() == value else value
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
