"""A campaign: people at all faces, faults one after the other, and the history of it all held to what is promised.

Everything that is chosen is chosen by the seed. When exactly something happens is the machine's, and so a seed leads to
the same faults under the same load, and not to the same interleaving.
"""

import logging
import random
from collections import Counter
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.campaign.checker import check
from tests.campaign.ending import conclude
from tests.campaign.faults import Faults
from tests.campaign.history import History
from tests.campaign.lane import TALK_SECONDS, Lane, name_of
from tests.campaign.stage import Stage

CHAPTER = 40
"""Faults after which everything is let come to rest and is checked, on servers that go on."""

log = logging.getLogger(__name__)
# Else every call of every client is a line.
logging.getLogger("httpx").setLevel(logging.WARNING)


@dataclass
class Figures:
    """What a report tells."""

    faults: Counter[str] = field(default_factory=Counter[str])
    reached: Counter[str] = field(default_factory=Counter[str])
    seen: Counter[str] = field(default_factory=Counter[str])

    def count(self, history: History) -> None:
        """Of a history that passed."""
        for call in history.calls:
            self.seen[f"{call.verb}: {call.came}"] += 1
            if call.verb == "answer":
                self.seen[f"answers at {call.face}"] += 1
        self.seen["conversations"] += len(history.endings)
        self.seen["connections of followers"] += len(history.segments)
        self.seen["effects"] += sum(one.count for one in history.effects)
        for asked in history.asked:
            self.seen[f"requests: {asked.purpose}"] += 1


def names(lanes: int) -> list[str]:
    return [name_of(number) for number in range(lanes)]


def run_faults(broken: Stage, folder: Path, seed: int, rounds: int, lanes: int) -> Figures:
    """So many faults on a stage; raises with the seed and what of the history is wrong."""
    figures, faults = Figures(), Faults(broken, random.Random(f"{seed} {broken.name}"))
    for chapter, first in enumerate(range(0, rounds, CHAPTER)):
        history = History()
        people = [
            Lane(broken, history, number, random.Random(f"{seed} {broken.name} {chapter} {number}"), chapter)
            for number in range(lanes)
        ]
        with living(people):
            for _ in range(min(CHAPTER, rounds - first)):
                faults.strike()
        finish(people, history, f"{seed}, {broken.name}, chapter {chapter}", folder)
        figures.count(history)
        log.info("%s: %d of %d faults", broken.name, min(first + CHAPTER, rounds), rounds)
    figures.faults, figures.reached = faults.done, faults.reached
    return figures


@contextmanager
def living(people: Sequence[Lane]) -> Generator[None]:
    """They talk during the block, and come to an end after it."""
    with ThreadPoolExecutor(len(people)) as pool:
        lives: list[Future[Any]] = [pool.submit(lane.live) for lane in people]
        try:
            yield
        finally:
            for lane in people:
                lane.stopping.set()
        for life in lives:
            life.result(2 * TALK_SECONDS)


def finish(people: Sequence[Lane], history: History, seed: str, folder: Path) -> None:
    try:
        with ThreadPoolExecutor(len(people)) as pool:
            for _ in pool.map(conclude, people):
                pass
    finally:
        history.write(folder / "history.jsonl")
    check(history, seed)
