"""Holds: which call waits for an ask, so that one answer is never given to two calls.

An agent that runs elsewhere may lose its connection before it was told the id of what it asked. The ask is an orphan
then: the same ask again takes it over, and nobody else does.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

LEASE = timedelta(seconds=60)
"""For so long a hold is believed without a sign of life: the process behind it may have died."""
ORPHANS_KEPT = timedelta(minutes=15)
"""For so long an orphan, answered or not, waits for one who takes it over."""


@dataclass(frozen=True, slots=True)
class Hold:
    request_id: str
    asker_id: str
    digest: str
    """Of everything that was asked, and where."""
    holder: str
    """The call that waits, or waited last."""
    until: datetime
    """Until when the call is believed to wait; from then on the ask is an orphan."""
    call: str | None = None
    """The idempotency key under which the ask came, where it had one."""
