"""What the parts of the client stand on: one transport, and replies in the envelope of the hitl face or without."""

import asyncio
import secrets
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from interlock_client._patience import Patience
from interlock_client._transport import Call, Transport
from interlock_client.hitl import Done

HITL = "/api/v1/agent/hitl"

M = TypeVar("M", bound=BaseModel)


class Part:
    def __init__(self, transport: Transport, agent: str | None = None, conversation_id: str | None = None) -> None:
        self._transport = transport
        self._agent = agent
        self.conversation_id: str | None = conversation_id
        """Where this client asks; the first ask begins one, unless it was given."""
        self._beginning = asyncio.Lock()

    async def _enveloped(self, model: type[M], call: Call, patience: Patience | None = None) -> M:
        envelope = await self._transport.fetch(Done[model], call, patience)
        return envelope.data

    async def _got(self, model: type[M], path: str, params: Mapping[str, Any] | None = None) -> M:
        return await self._transport.fetch(model, Call("GET", path, params=params or {}, repeatable=True))

    def _new_key(self) -> dict[str, str]:
        """Made once for a call, however often it is sent."""
        return {"idempotency-key": secrets.token_hex(16)}

    def _body(self, **fields: Any) -> dict[str, Any]:
        """With who is calling, for a server that runs without accounts; unset fields are left out."""
        named = {"user_id": self._transport.user, **fields}
        return {name: value for name, value in named.items() if value is not None}
