"""A promise that a history shows broken, with the part of the history that shows it."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.campaign.history import Entry, line

MOST_LINES = 40


@dataclass(frozen=True)
class Violation:
    what: str
    where: str
    """The request, the thread or the effect."""
    part: Sequence[Entry]

    def __str__(self) -> str:
        lines = [line(one) for one in self.part]
        cut = [f"... and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
        return "\n  ".join([f"{self.what}: {self.where}", *lines[:MOST_LINES], *cut])
