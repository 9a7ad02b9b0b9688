"""The manage face: the audit trail."""

from datetime import datetime
from typing import Any

from pydantic import Field

from interlock_client.base import ServerModel


class AuditEntry(ServerModel):
    conversation_id: str = Field(description="The thread; `server` for what belongs to none.")
    number: int = Field(description="Its place in the thread's chain, from 1.")
    at: datetime
    actor: str
    action: str
    data: Any
    hash: str = Field(description="Covers the entry and the one before.")


class AuditPage(ServerModel):
    entries: list[AuditEntry]
    next_cursor: str | None
