"""Load at half of what the server can do, for a long time, and what it costs: nothing may grow but the database."""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.campaign.campaign import Figures, finish, living, names
from tests.campaign.history import History
from tests.campaign.lane import Lane
from tests.campaign.stage import Stage, stage

SAMPLES = 24
WARM = SAMPLES // 4
"""Samples after which everything has been loaded."""
COLUMNS = ("minute", "memory, MiB", "files open", "database, MiB", "a look, ms")


@dataclass(frozen=True)
class Sample:
    """Of all servers together."""

    minute: float
    memory: float
    files: int
    database: float
    latency: float

    @property
    def cells(self) -> list[str]:
        numbers = (self.minute, self.memory, self.files, self.database, self.latency)
        return [f"{number:,.1f}" for number in numbers]


class Unhurried(Lane):
    """Rests after each conversation for as long as that took."""

    def live(self) -> None:
        while not self.stopping.is_set():
            begun = time.monotonic()
            self.talk()
            self.stopping.wait(time.monotonic() - begun)


def run_soak(name: str, folder: Path, seed: int, seconds: float, lanes: int) -> tuple[Figures, list[Sample]]:
    figures, samples = Figures(), list[Sample]()
    begun = time.monotonic()
    with stage(name, folder, names(lanes)) as sound:
        for chapter in range(SAMPLES):
            history = History()
            people = [
                Unhurried(sound, history, number, random.Random(f"{seed} {name} {chapter} {number}"), chapter)
                for number in range(lanes)
            ]
            with living(people):
                time.sleep(seconds / SAMPLES)
            finish(people, history, f"{seed}, {name}, chapter {chapter}", folder)
            figures.count(history)
            samples.append(_sample(sound, (time.monotonic() - begun) / 60))
    return figures, samples


def grown(samples: Sequence[Sample]) -> float:
    """How much more memory there is at the end than once everything was loaded: 1.0 is the same."""
    warm = samples[WARM:]
    third = max(1, len(warm) // 3)
    return _mean(warm[-third:]) / _mean(warm[:third])


def _mean(samples: Sequence[Sample]) -> float:
    return sum(one.memory for one in samples) / len(samples)


def _sample(sound: Stage, minute: float) -> Sample:
    pids = [server.running.pid for server in sound.servers]
    begun = time.perf_counter()
    sound.people[0].named("root").http.get("/api/v1/inbox").raise_for_status()
    return Sample(
        minute,
        sum(_memory(pid) for pid in pids),
        sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in pids),
        _size(sound) / 2**20,
        (time.perf_counter() - begun) * 1000,
    )


def _memory(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def _size(sound: Stage) -> int:
    if sound.postgres is not None:
        return sound.postgres.server.size_of("campaign")
    return sum(file.stat().st_size for file in sound.database.parent.glob("interlock.db*"))
