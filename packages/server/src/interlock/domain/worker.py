"""A process that runs agents, as the others know it: by the sign of life that it left in the store."""

import os
import socket
from dataclasses import dataclass, field
from datetime import datetime

from interlock.domain.ids import new_id
from interlock.domain.json_value import JsonObject


def new_worker_id() -> str:
    """Of this process: no other one, on whatever machine and whenever, is ever called the same."""
    return new_id(f"{socket.gethostname()}-{os.getpid()}")


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
