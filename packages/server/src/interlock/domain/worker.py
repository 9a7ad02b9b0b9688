"""A process that runs agents, as the others know it: by the sign of life that it left in the store."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Worker:
    id: str
    node: str
    kind: str
    """`server` where it also answers requests, `ray` for one that Ray placed."""
    started_at: datetime
    seen_at: datetime
    capacity: int
    running: int
    measured: dict[str, Any] = field(default_factory=dict[str, Any])
    """What it counted since it started."""
