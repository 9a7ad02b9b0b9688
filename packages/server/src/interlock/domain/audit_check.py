"""Checking one chain of the audit trail, entry by entry, and saying exactly what is wrong with it.

While entries are fed, each is held against the hash that stands before it. Those that do not fit are kept as suspects
and explained at the end, when it is known which of them stands in whose place.
"""

from dataclasses import dataclass

from interlock.domain.audit import AuditEntry, AuditHead, ChainKey, Finding, FindingKind

MAX_SUSPECTS = 100
"""So many entries of a chain are explained one by one; a chain with more is broken as a whole."""


@dataclass(frozen=True, slots=True)
class _Suspect:
    """An entry that does not fit, or a gap from `number` to `until`."""

    number: int
    until: int
    previous: str | None
    """The hash that stands before it; None where there is a gap before it."""
    entry: AuditEntry | None = None


class ChainCheck:
    def __init__(self, key: ChainKey, chain: str, head: AuditHead | None, exported: AuditHead | None = None) -> None:
        """`exported` is an authentic head of an earlier time, which the chain must still go through."""
        self.chain = chain
        self.entries = 0
        self._key = key
        self._head = head
        self._exported = exported
        self._marked = {one.number: "" for one in (head, exported) if one is not None}
        self._last = 0
        self._last_proven = 0
        self._previous = ""
        self._suspects: list[_Suspect] = []
        self._unexplained = 0
        self._findings: list[Finding] = []

    def feed(self, entry: AuditEntry) -> None:
        """The next entry by number."""
        self.entries += 1
        if entry.number < 1:
            self._find(FindingKind.ADDED, entry.number, "entries are numbered from 1")
            return
        if entry.number <= self._last:
            self._find(FindingKind.REORDERED, entry.number, f"the entry stands behind entry {self._last}")
            return
        if entry.number in self._marked:
            self._marked[entry.number] = entry.hash
        if entry.number > self._last + 1:
            self._suspect(_Suspect(self._last + 1, entry.number - 1, self._previous))
            self._suspect(_Suspect(entry.number, entry.number, None, entry))
        elif _hash_of(self._key, self._previous, entry) != entry.hash:
            self._suspect(_Suspect(entry.number, entry.number, self._previous, entry))
        else:
            self._last_proven = entry.number
        self._last, self._previous = entry.number, entry.hash

    def findings(self) -> list[Finding]:
        """What is wrong with the chain, once every entry was fed, in the order of the entries."""
        end = self._head if self._head is not None and self._key.is_authentic(self._head) else None
        if end is None or not self._explain_shift(end):
            if end is not None and end.number > self._last:
                self._suspect(_Suspect(self._last + 1, end.number, self._previous))
            _Explanation(self._key, self.chain, self._suspects, end, self._last, self._findings).run()
            self._check_head(end)
            self._check_exported(end)
        if self._unexplained:
            first = self._suspects[-1].until + 1
            self._find(FindingKind.EDITED, first, f"{self._unexplained} more entries do not fit")
        return sorted(self._findings, key=lambda finding: (finding.number is None, finding.number or 0))

    def _find(self, kind: FindingKind, number: int | None, text: str) -> None:
        self._findings.append(Finding(kind, self.chain, number, text))

    def _suspect(self, suspect: _Suspect) -> None:
        if len(self._suspects) < MAX_SUSPECTS:
            self._suspects.append(suspect)
        else:
            self._unexplained += 1

    def _explain_shift(self, end: AuditHead) -> bool:
        """Entries were taken out or put in, and all that follow were given other numbers; False if it is not so."""
        shift, suspects = end.number - self._last, self._suspects
        added = max(-shift, 0)
        moved = suspects[added:]
        # The last entry is then the one that the head names, under another number.
        if not shift or end.hash != self._previous or not moved or any(one.entry is None for one in suspects):
            return False
        # What stood before the first of those that moved is gone, unless it is what stands before those put in.
        known = [(moved[0].entry, suspects[0].previous)] if added else []
        known += [(one.entry, one.previous) for one in moved[1:]]
        if not all(entry and self._fits(entry, previous, entry.number + shift) for entry, previous in known):
            return False
        first = suspects[0].number
        if added:
            self._find(FindingKind.ADDED, first, f"{_entries(first, first + added - 1)} added")
        else:
            self._find(FindingKind.MISSING, first, f"{_entries(first, first + shift - 1)} missing")
        way = "lower" if shift > 0 else "higher"
        text = f"{_entries(moved[0].number + shift, end.number)} under a number {way} by {abs(shift)}"
        self._find(FindingKind.REORDERED, moved[0].number, text)
        return True

    def _fits(self, entry: AuditEntry, previous: str | None, number: int) -> bool:
        return previous is not None and _hash_of(self._key, previous, entry, number) == entry.hash

    def _check_head(self, end: AuditHead | None) -> None:
        if self._head is None:
            if self.entries:
                self._find(FindingKind.NO_HEAD, None, "the chain has no head")
        elif end is None:
            self._find(FindingKind.FORGED_HEAD, None, "the head was not made by this server")
        elif self._marked[end.number] not in ("", end.hash) and not self._is_explained(end.number):
            self._find(FindingKind.UNKNOWN_HEAD, end.number, "the head is of another entry than this one")
        elif end.number < self._last_proven:
            self._find(FindingKind.STALE_HEAD, end.number, f"the head is older than entry {self._last_proven}")

    def _check_exported(self, end: AuditHead | None) -> None:
        exported = self._exported
        if exported is None or self._marked[exported.number] == exported.hash or self._is_explained(exported.number):
            return
        if not self.entries and end is None:
            text = f"the whole chain is gone; {exported.number} entries of it were exported"
            self._find(FindingKind.MISSING, None, text)
        elif self._marked[exported.number]:
            text = "this is not the entry that was exported: the chain was rolled back and went another way"
            self._find(FindingKind.ROLLED_BACK, exported.number, text)
        elif end is None or end.number < exported.number:
            text = f"the chain ends at {self._last}, and was exported up to {exported.number}: it was rolled back"
            self._find(FindingKind.ROLLED_BACK, exported.number, text)

    def _is_explained(self, number: int) -> bool:
        """Whether something was said of this entry already."""
        return any(finding.number == number for finding in self._findings)


class _Explanation:
    """Goes through the suspects in order, with the true hash of each entry where it can be known."""

    def __init__(
        self,
        key: ChainKey,
        chain: str,
        suspects: list[_Suspect],
        end: AuditHead | None,
        last: int,
        findings: list[Finding],
    ) -> None:
        self._key = key
        self._chain = chain
        self._suspects = suspects
        self._end = end
        self._last = last
        self._findings = findings
        self._true: dict[int, str | None] = {}
        """By number, the hash that an entry had; None where nobody can know any more."""
        self._recognized: set[int] = set()
        """The numbers under which entries stand that belong elsewhere."""

    def run(self) -> None:
        for place, suspect in enumerate(self._suspects):
            previous = self._true.get(suspect.number - 1, suspect.previous)
            if suspect.entry is None:
                self._explain_gap(suspect, previous)
            elif self._end is not None and suspect.number > self._end.number:
                if suspect.number not in self._recognized:
                    self._find(FindingKind.ADDED, suspect.number, "the entry stands behind the end of the chain")
            else:
                following = self._suspects[place + 1] if place + 1 < len(self._suspects) else None
                self._explain_entry(suspect, suspect.entry, previous, following)

    def _explain_gap(self, gap: _Suspect, previous: str | None) -> None:
        number = gap.number
        until = gap.until if self._end is None else min(gap.until, self._end.number)
        while number <= until and previous is not None:
            previous = self._found_elsewhere(number, previous, gap)
            self._true[number] = previous
            number += previous is not None
        if number > until:
            return
        self._true[gap.until] = None
        if number > self._last:
            self._find(FindingKind.CUT_TAIL, number, f"{_entries(number, until)} cut off the end")
        else:
            self._find(FindingKind.MISSING, number, f"{_entries(number, until)} missing")

    def _explain_entry(
        self, suspect: _Suspect, entry: AuditEntry, previous: str | None, following: _Suspect | None
    ) -> None:
        if previous is None:
            self._find(FindingKind.UNPROVEN, suspect.number, "what its hash covers is gone")
            return
        right = _hash_of(self._key, previous, entry)
        if right == entry.hash:
            self._true[suspect.number] = right
            return
        elsewhere = self._found_elsewhere(suspect.number, previous, suspect)
        if elsewhere is not None:
            self._true[suspect.number] = elsewhere
            return
        self._find(FindingKind.EDITED, suspect.number, "the entry is not what was recorded")
        if following is not None and following.entry is not None and following.number == suspect.number + 1:
            # Where its hash alone was edited, the next entry tells; where both were, nobody can.
            fits = right is not None and _hash_of(self._key, right, following.entry) == following.entry.hash
            self._true[suspect.number] = right if fits else None

    def _found_elsewhere(self, number: int, previous: str, place: _Suspect) -> str | None:
        """The hash of the entry that belongs here and stands among the other suspects, which is then told."""
        for other in self._suspects:
            if other.entry is None or other is place:
                continue
            belongs = _hash_of(self._key, previous, other.entry, number)
            if belongs is not None and belongs in (other.entry.hash, place.entry.hash if place.entry else None):
                self._recognized.add(other.number)
                self._find(FindingKind.REORDERED, number, f"the entry stands under number {other.number}")
                return belongs
        return None

    def _find(self, kind: FindingKind, number: int, text: str) -> None:
        self._findings.append(Finding(kind, self._chain, number, text))


def _hash_of(key: ChainKey, previous: str, entry: AuditEntry, number: int | None = None) -> str | None:
    try:
        return key.entry_hash(previous, entry, number)
    except RecursionError:
        # Nothing that deep was ever recorded.
        return None


def _entries(first: int, last: int) -> str:
    return f"entry {first} is" if first == last else f"entries {first} to {last} are"
