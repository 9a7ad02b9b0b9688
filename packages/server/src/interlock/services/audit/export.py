"""The audit trail as lines of JSON: every entry, then every chain's head, then one line about the whole.

Kept elsewhere, an export tells later whether the store was rolled back, and can be checked by itself.
"""

import json
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from interlock.domain.audit import AuditEntry, AuditHead, ChainKey, Finding, FindingKind, HeadsDigest
from interlock.domain.audit_check import ChainCheck
from interlock.domain.canonical import canonical_json
from interlock.domain.errors import InvalidInput, NotFound
from interlock.domain.json_value import JsonObject
from interlock.domain.moment import to_iso
from interlock.ports.store import Transaction
from interlock.services.core import Core

PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Report:
    """What a check went through, and what it found."""

    chains: int
    entries: int
    findings: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class _Whole:
    """The last line: what the export is of, and a mac over all of it."""

    conversation_id: str | None
    entries: int
    chains: int
    digest: str
    at: str
    mac: str = ""

    def compute_mac(self, key: ChainKey) -> str:
        return key.whole_mac([self.conversation_id, self.entries, self.chains, self.digest, self.at])


async def export(core: Core, thread_id: str | None = None) -> AsyncGenerator[str]:
    """The trail as it is at this moment, or one thread's; `NotFound` when that has none."""
    async with core.store.snapshot() as tx:
        if thread_id is not None and not await has_trail(tx, thread_id):
            raise NotFound(f"there is no audit trail of {thread_id!r}")
        async for line in lines(tx, core.clock.now(), thread_id):
            yield line


async def has_trail(tx: Transaction, thread_id: str) -> bool:
    return bool(await tx.audit.entries(thread_id, 0, 1) or await tx.audit.heads_of([thread_id]))


async def lines(tx: Transaction, at: datetime, thread_id: str | None = None) -> AsyncGenerator[str]:
    """The same inside of a snapshot; of a thread that has no trail there is the last line alone."""
    count = 0
    async for entry in _entries(tx, thread_id):
        yield _line("entry", _entry_fields(entry))
        count += 1
    digest = HeadsDigest()
    async for head in _heads(tx, thread_id):
        digest.add(head)
        yield _line("head", {"chain": head.chain, "number": head.number, "hash": head.hash, "mac": head.mac})
    whole = _Whole(thread_id, count, digest.count, digest.hex, to_iso(at))
    fields = {name: getattr(whole, name) for name in ("conversation_id", "entries", "chains", "digest", "at")}
    yield _line("heads", fields | {"mac": whole.compute_mac(tx.audit.key)})


async def _entries(tx: Transaction, thread_id: str | None) -> AsyncGenerator[AuditEntry]:
    chain, number = thread_id or "", 0
    while True:
        if thread_id is None:
            page = await tx.audit.trail(chain, number, PAGE)
        else:
            page = await tx.audit.entries(chain, number, PAGE)
        for entry in page:
            yield entry
        if not page:
            return
        chain, number = page[-1].chain, page[-1].number


async def _heads(tx: Transaction, thread_id: str | None) -> AsyncGenerator[AuditHead]:
    if thread_id is not None:
        for head in (await tx.audit.heads_of([thread_id])).values():
            yield head
        return
    after = ""
    while page := await tx.audit.heads(after, PAGE):
        for head in page:
            yield head
        after = page[-1].chain


def _entry_fields(entry: AuditEntry) -> JsonObject:
    return {
        "chain": entry.chain,
        "number": entry.number,
        "at": to_iso(entry.at),
        "actor_id": entry.actor_id,
        "actor_name": entry.actor_name,
        "action": entry.action,
        "data": entry.data,
        "hash": entry.hash,
    }


def _line(kind: str, fields: JsonObject) -> str:
    return canonical_json({"type": kind, **fields})


def exported_heads(key: ChainKey, lines: Iterable[str]) -> tuple[dict[str, AuditHead], list[Finding]]:
    """The heads of an export by chain, and what is wrong with them; `InvalidInput` when the whole is not authentic."""
    heads: dict[str, AuditHead] = {}
    findings: list[Finding] = []
    reader = _ExportReader(key)
    for read in reader.items(lines):
        if not isinstance(read, AuditHead):
            continue
        if key.is_authentic(read):
            heads[read.chain] = read
        else:
            findings.append(Finding(FindingKind.FORGED_HEAD, read.chain, None, "the exported head is not authentic"))
    problem = reader.problem()
    if problem is not None:
        raise InvalidInput(f"the export cannot be compared with: {problem}")
    return heads, findings


async def verify_export(core: Core, lines: Callable[[], Iterable[str]]) -> Report:
    """Check an export by itself. `lines` begins at its first line each time: the heads are read before the entries."""
    async with core.store.snapshot() as tx:
        key = tx.audit.key
    heads = {read.chain: read for read in _ExportReader(key).items(lines()) if isinstance(read, AuditHead)}
    checks = {chain: ChainCheck(key, chain, head) for chain, head in heads.items()}
    reader = _ExportReader(key)
    for read in reader.items(lines()):
        if isinstance(read, AuditEntry):
            checks.setdefault(read.chain, ChainCheck(key, read.chain, None)).feed(read)
    findings = [finding for chain in sorted(checks) for finding in checks[chain].findings()]
    problem = reader.problem()
    if problem is not None:
        findings.append(Finding(FindingKind.FORGED_EXPORT, "", None, problem))
    return Report(len(checks), reader.entries, findings)


class _ExportReader:
    """Reads the lines of one export and, at the end, says what is wrong with it as a whole."""

    def __init__(self, key: ChainKey) -> None:
        self._key = key
        self._digest = HeadsDigest()
        self._whole: _Whole | None = None
        self.entries = 0

    def items(self, lines: Iterable[str]) -> Iterator[AuditEntry | AuditHead]:
        for number, line in enumerate(lines, start=1):
            try:
                item = _read(line)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
                raise InvalidInput(f"line {number} is not of an audit export") from error
            if isinstance(item, _Whole):
                self._whole = item
                continue
            if isinstance(item, AuditHead):
                self._digest.add(item)
            else:
                self.entries += 1
            yield item

    def problem(self) -> str | None:
        whole = self._whole
        if whole is None:
            return "its last line is missing, so it was cut off"
        if whole.compute_mac(self._key) != whole.mac:
            return "its last line was not made by this server"
        if (whole.digest, whole.chains) != (self._digest.hex, self._digest.count):
            return "its heads are not those that were exported"
        if whole.entries != self.entries:
            return f"it was made with {whole.entries} entries and has {self.entries}"
        return None


def _read(line: str) -> AuditEntry | AuditHead | _Whole:
    fields: JsonObject = json.loads(line)
    kind = fields.pop("type")
    if kind == "heads":
        return _Whole(**fields)
    texts = (value for name, value in fields.items() if name not in ("number", "data"))
    if type(fields["number"]) is not int or not all(isinstance(text, str) for text in texts):
        raise TypeError("another type than an export has")
    if kind == "head":
        return AuditHead(**fields)
    at = datetime.fromisoformat(fields.pop("at"))
    if kind != "entry" or at.tzinfo is None:
        raise ValueError("neither an entry nor a head")
    return AuditEntry(at=at, **fields)
