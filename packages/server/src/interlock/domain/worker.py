"""A process that runs agents, as the others know it: by the sign of life that it left in the store."""

from dataclasses import dataclass, field
from datetime import datetime

from interlock.domain.json_value import JsonObject


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
    measured: JsonObject = field(default_factory=JsonObject)
    """What it counted since it started."""
