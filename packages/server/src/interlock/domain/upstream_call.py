"""A call of a tool of an upstream whose end is not known yet: it runs now, or nobody knows how it ended."""

from dataclasses import dataclass
from datetime import datetime

from interlock.domain.effect import EffectKey

TASK = "mcp:"
"""Before the upstream's name, in the place of a graph's task."""


@dataclass(frozen=True, slots=True)
class UpstreamCall:
    id: str
    asker_id: str
    thread_id: str
    upstream: str
    digest: str
    """Of the upstream, the tool, its definition, the arguments and the conversation: the same call has the same."""
    holder: str
    """Who runs it, or waits for a word on it."""
    until: datetime
    """Until when the holder is believed to be alive."""
    doubt_id: str | None = None
    """The request by which people were asked what became of it."""

    @property
    def key(self) -> EffectKey:
        return EffectKey(self.thread_id, f"{TASK}{self.upstream}", self.id)


@dataclass(frozen=True, slots=True)
class ToolPin:
    """The definition of a tool that a person last approved a call of."""

    owner_id: str
    upstream: str
    tool: str
    digest: str
