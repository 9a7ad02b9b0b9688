"""A gateway beside an MCP host: what stands before one server that the host starts. The wire models of its asks."""

from typing import Annotated, Literal

from pydantic import Field

from interlock_client.base import ClientModel, JsonObject

Name = Annotated[str, Field(min_length=1, max_length=200)]
Seconds = Annotated[float, Field(ge=0, le=60)]


class HostCall(ClientModel):
    """A call of a tool that is about to be made."""

    upstream: Name
    tool: Name
    args: JsonObject
    definition: JsonObject = Field(default_factory=dict, description="As the server lists the tool.")
    rules: JsonObject = Field(default_factory=dict, description="As in the file of a served gateway.")
    conversation: Name | None = None
    key: Name = Field(description="Of this very call, also when it is sent again.")
    holder: Name = Field(description="Of the process that makes it.")
    before: tuple[str, str] | None = Field(default=None, strict=False, description="The call that this is the rest of.")
    wait_seconds: Seconds = 20


class CallEnd(ClientModel):
    """How a call ended, or that it has not."""

    holder: Name
    outcome: Literal["alive", "done", "failed", "waiting", "lost"]
    result: JsonObject = Field(default_factory=dict)
    error: str | None = None
    wait_seconds: Seconds = 20
