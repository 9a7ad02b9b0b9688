"""A vendor of channels in the process of the test: it keeps what it was sent, and refuses as the test says."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from interlock.domain.channel import Abilities, Channel, Message
from interlock.domain.json_value import JsonObject

CHAT = "chat"
CHAT_ABILITIES = Abilities(edits=True, taps=True, confirms=True, longest_text=200)


@dataclass
class Sent:
    address: str
    message: Message
    edited: list[Message] = field(default_factory=list[Message])


@dataclass
class Vendor:
    abilities: Abilities = CHAT_ABILITIES
    sends_codes: bool = True
    sent: list[Sent] = field(default_factory=list[Sent])
    errors: list[Exception] = field(default_factory=list[Exception])
    """Raised in turn, before anything is taken."""
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    """Closed, it keeps every response back."""
    begun: int = 0

    def __post_init__(self) -> None:
        self.gate.set()

    def read_settings(self, given: JsonObject, credentials: Mapping[str, str]) -> JsonObject:
        return dict(given)

    def read_address(self, channel: Channel, text: str) -> str:
        return text.strip().lower()

    def open(self, channel: Channel, credentials: Mapping[str, str]) -> "Vendor":
        return self

    async def send(self, address: str, message: Message) -> str:
        await self._take()
        self.sent.append(Sent(address, message))
        return f"ref-{len(self.sent)}"

    async def update(self, address: str, ref: str, message: Message) -> None:
        await self._take()
        self.sent[int(ref.removeprefix("ref-")) - 1].edited.append(message)

    async def _take(self) -> None:
        self.begun += 1
        if self.errors:
            raise self.errors.pop(0)
        await self.gate.wait()

    async def close(self) -> None: ...

    @property
    def titles(self) -> list[str]:
        return [one.message.title for one in self.sent]
