"""What a campaign is run with: a handful of rounds, or what the environment says."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

PREFIX = "INTERLOCK_TEST_CAMPAIGN_"
STAGES = ("sqlite", "stack")
DEFAULTS = {
    "SEED": "19",
    "ROUNDS": "4",
    "LANES": "3",
    "VOLLEYS": "1",
    "SHOTS": "40",
    "SOAK_SECONDS": "0",
    "STAGES": ",".join(STAGES),
    "REPORT": "",
}
"""Of each variable, what a small campaign has."""


@dataclass(frozen=True)
class Settings:
    seed: int
    rounds: int
    """Faults, one after the other."""
    lanes: int
    """Conversations at a time."""
    volleys: int
    """Rounds of answers at once."""
    shots: int
    """Answers in each."""
    soak_seconds: float
    """Load without faults for so long; 0 leaves this part out."""
    stages: tuple[str, ...]
    report: Path | None

    @classmethod
    def of_environment(cls) -> Self:
        given = {name: os.environ.get(f"{PREFIX}{name}") or default for name, default in DEFAULTS.items()}
        return cls(
            int(given["SEED"]),
            int(given["ROUNDS"]),
            int(given["LANES"]),
            int(given["VOLLEYS"]),
            int(given["SHOTS"]),
            float(given["SOAK_SECONDS"]),
            tuple(given["STAGES"].split(",")),
            Path(given["REPORT"]) if given["REPORT"] else None,
        )
