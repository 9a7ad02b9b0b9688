"""What a crash left out of the log, put back from the graph's state."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage

from interlock.domain.event import AssistantMessage
from interlock.runners.transcript import assistant_entry
from interlock.services.core import Core

PAGE = 500


async def unreported_messages(core: Core, thread_id: str, messages: Sequence[BaseMessage]) -> list[AssistantMessage]:
    """The agent's finished messages that are in the state and not in the log."""
    reported = await _reported_ids(core, thread_id)
    return [
        assistant_entry(message)
        for message in messages
        if isinstance(message, AIMessage) and message.id not in reported
    ]


async def _reported_ids(core: Core, thread_id: str) -> set[str]:
    ids: set[str] = set()
    seq = 0
    while True:
        async with core.store.snapshot() as tx:
            page = await tx.events.after(thread_id, seq, PAGE)
        ids |= {event.data.message_id for event in page if isinstance(event.data, AssistantMessage)}
        if len(page) < PAGE:
            return ids
        seq = page[-1].seq
