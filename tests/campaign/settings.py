"""What a campaign is run with: a handful of rounds, or what the environment says."""

import os
from dataclasses import dataclass, field
from pathlib import Path

STAGES = ("sqlite", "stack")


@dataclass(frozen=True)
class Settings:
    seed: int
    rounds: int
    """Faults, one after the other; 0 leaves this part out."""
    stages: tuple[str, ...]
    lanes: int
    """Conversations at a time."""
    volleys: int
    """Rounds of answers at once; 0 leaves this part out."""
    shots: int
    """Answers in each."""
    soak_seconds: float
    """Load without faults for so long; 0 leaves this part out."""
    report: Path | None = field(default=None)

    @classmethod
    def of_environment(cls) -> "Settings":
        def number(name: str, default: int) -> int:
            return int(os.environ.get(f"INTERLOCK_CAMPAIGN_{name}", default))

        report = os.environ.get("INTERLOCK_CAMPAIGN_REPORT")
        return cls(
            seed=number("SEED", 19),
            rounds=number("ROUNDS", 5),
            stages=tuple(os.environ.get("INTERLOCK_CAMPAIGN_STAGES", ",".join(STAGES)).split(",")),
            lanes=number("LANES", 3),
            volleys=number("VOLLEYS", 2),
            shots=number("SHOTS", 40),
            soak_seconds=float(number("SOAK_SECONDS", 0)),
            report=Path(report) if report else None,
        )
