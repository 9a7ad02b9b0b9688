"""The agents this server hosts, with the saver that keeps their state."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from interlock.agents._langgraph import CHECKPOINTER
from interlock.domain.request import Request, RequestKind
from interlock.domain.showing import FileBehind
from interlock.domain.thread import Lease, Thread
from interlock.ports.agents import Message, ToolInfo
from interlock.runners import arguments, declared, replies
from interlock.runners.loading import HostedAgent
from interlock.runners.transcript import messages_in, shown


class Savers(Protocol):
    """The keeper of graphs' state, for reading as it is, and for one run with its lease."""

    def with_lease(self, lease: Lease) -> BaseCheckpointSaver[Any]: ...


class HostedAgents:
    def __init__(self, agents: Sequence[HostedAgent], saver: Savers) -> None:
        self._agents = {agent.name: agent for agent in agents}
        self.saver = saver

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._agents)

    def find(self, name: str) -> HostedAgent | None:
        return self._agents.get(name)

    async def history(self, thread: Thread) -> list[Message]:
        agent = self.find(thread.agent)
        if agent is None:
            return []
        config: RunnableConfig = {"configurable": {"thread_id": thread.id, CHECKPOINTER: self.saver}}
        state = await agent.graph.aget_state(config)
        return shown(messages_in(state.values))

    def check(self, request: Request, value: Mapping[str, Any]) -> None:
        # First, since it names each argument; the schema of a single approval refuses the edit as a whole.
        is_edit = request.kind is RequestKind.APPROVAL and value["decision"] == "edit"
        if "shape" not in request.form:
            if is_edit:
                declared.check(request.body, value["args"])
            return
        if is_edit:
            arguments.check(self._parameters(request), value["args"])
        replies.check(request, value)

    def takes(self, request: Request) -> frozenset[str] | None:
        schemas = self._parameters(request)
        return arguments.names_in(schemas) if schemas else None

    def tools_of(self, name: str) -> Sequence[ToolInfo]:
        agent = self.find(name)
        if agent is None:
            return ()
        return [
            ToolInfo(tool, agent.descriptions.get(tool, ""), dict(schemas[0]))
            for tool, schemas in sorted(agent.parameters.items())
        ]

    def schema(self, request: Request) -> Mapping[str, Any] | None:
        if request.kind is not RequestKind.APPROVAL:
            return None
        schemas = self._parameters(request)
        return dict(schemas[0]) if len(schemas) == 1 else None

    async def file_behind(self, request: Request) -> FileBehind | None:
        agent = self.find(request.agent)
        if agent is None or agent.preview is None or request.kind is not RequestKind.APPROVAL:
            return None
        return await asyncio.to_thread(agent.preview.behind, request.tool, request.body["args"])

    def _parameters(self, request: Request) -> Sequence[arguments.Schema]:
        agent = self.find(request.agent)
        schemas = agent.parameters.get(request.body["tool_name"], ()) if agent else ()
        return arguments.fitting(schemas, request.body["args"])
