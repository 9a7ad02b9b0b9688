"""The agents this server hosts, with the saver that keeps their state."""

import platform
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from interlock.agents import previews
from interlock.agents._langgraph import CHECKPOINTER
from interlock.domain.errors import FieldError, InvalidAnswer, InvalidInput
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody, Value
from interlock.domain.preview import FilePreview
from interlock.domain.request import Request
from interlock.domain.run_input import GraphInput
from interlock.domain.thread import Lease, Thread
from interlock.domain.unkept import unkept
from interlock.ports.agents import GraphSchemas, Message, Snapshot, ToolInfo
from interlock.runners import arguments, declared_schema, replies, snapshots
from interlock.runners.graph_state import RUN_KEY
from interlock.runners.loading import HostedAgent
from interlock.runners.transcript import messages_in, to_messages


class Savers(Protocol):
    """The keeper of graphs' state, for reading as it is, and for one run with its lease."""

    def with_lease(self, lease: Lease) -> BaseCheckpointSaver[Any]: ...

    def at_rest(self, epoch: int) -> BaseCheckpointSaver[Any]: ...

    def trial(self) -> BaseCheckpointSaver[Any]: ...

    async def with_heads(self, thread_ids: Collection[str]) -> BaseCheckpointSaver[Any]: ...

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None: ...


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
        state = await agent.graph.aget_state(self._config(thread))
        return to_messages(messages_in(state.values))

    async def snapshot(
        self, thread: Thread, checkpoint_id: str | None = None, *, inner: bool = False, space: str = ""
    ) -> Snapshot:
        agent = self.find(thread.agent)
        if agent is None:
            return snapshots.EMPTY
        config = self._config(thread, checkpoint_id, space=space)
        graph = snapshots.graph_at(agent.graph, space)
        if graph is None:
            return await snapshots.read_values(config)
        return await snapshots.read(graph, config, inner=inner)

    async def heads(self, threads: Sequence[Thread]) -> list[Snapshot]:
        saver = await self.saver.with_heads([one.id for one in threads if self.find(one.agent)])
        found: list[Snapshot] = []
        for thread in threads:
            agent, config = self.find(thread.agent), self._config(thread, saver=saver)
            found.append(await snapshots.read(agent.graph, config, inner=False) if agent else snapshots.EMPTY)
        return found

    async def snapshots(
        self,
        thread: Thread,
        limit: int,
        before: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        run_id: str | None = None,
        space: str = "",
    ) -> list[Snapshot]:
        agent = self.find(thread.agent)
        if agent is None:
            return []
        config, graph = self._config(thread, space=space), snapshots.graph_at(agent.graph, space)
        earlier = self._config(thread, before, space=space) if before else None
        filters = {**(metadata or {}), **({RUN_KEY: run_id} if run_id else {})}
        if graph is None:
            return await snapshots.read_many_values(config, limit, earlier, filters)
        return await snapshots.read_many(graph, config, limit, earlier, filters)

    async def check_update(self, thread: Thread, values: Any, as_node: str | None, past: str | None = None) -> None:
        config = self._config(thread, past, self.saver.trial())
        await snapshots.update(self._agent_of(thread).graph, config, values, as_node)

    async def update_state(self, thread: Thread, values: Any, as_node: str | None, past: str | None = None) -> str:
        config = self._config(thread, past, self.saver.at_rest(thread.epoch))
        return await snapshots.update(self._agent_of(thread).graph, config, values, as_node)

    async def return_to(self, thread: Thread, checkpoint_id: str) -> str:
        config = self._config(thread, checkpoint_id, self.saver.at_rest(thread.epoch))
        return await snapshots.copy(self._agent_of(thread).graph, config)

    def _agent_of(self, thread: Thread) -> HostedAgent:
        agent = self.find(thread.agent)
        if agent is None:
            raise InvalidInput(f"the agent {thread.agent!r} is not hosted here")
        return agent

    async def copy_state(self, source: Thread, target: Thread) -> None:
        await self.saver.acopy_thread(source.id, target.id)

    def schemas(self, name: str) -> GraphSchemas:
        return snapshots.schemas(self._agents[name].graph)

    def inner_schemas(self, name: str, space: str | None, *, recurse: bool) -> Mapping[str, GraphSchemas]:
        return snapshots.inner_schemas(self._agents[name].graph, space, recurse=recurse)

    def has_inner(self, name: str) -> bool:
        agent = self.find(name)
        return agent is not None and snapshots.has_inner(agent.graph)

    def drawing(self, name: str, depth: int | bool) -> Mapping[str, Any]:
        return snapshots.drawing(self._agents[name].graph, depth)

    def _config(
        self, thread: Thread, checkpoint_id: str | None = None, saver: Any = None, space: str = ""
    ) -> RunnableConfig:
        place = {"checkpoint_id": checkpoint_id, "checkpoint_ns": ""} if checkpoint_id else {}
        if space:
            place["checkpoint_ns"] = space
        return {"configurable": {"thread_id": thread.id, CHECKPOINTER: saver or self.saver, **place}}

    def has_messages(self, name: str) -> bool:
        agent = self.find(name)
        return agent is None or agent.has_messages

    def check_input(self, name: str, given: GraphInput) -> None:
        if agent := self.find(name):
            agent.check_input(given)

    def check(self, request: Request, value: Value) -> None:
        # First, since it names each argument; the schema of a single approval refuses the edit as a whole.
        if isinstance(request.body, ApprovalBody) and isinstance(value, ApprovalAnswer) and value.args is not None:
            if request.checked_by_agent:
                arguments.check(self._parameters(request), value.args)
            else:
                declared_schema.check(request.body, value.args)
        if request.checked_by_agent:
            replies.check(request, value)
            if (message := unkept("the answer", value, mends_names=True)) is not None:
                raise InvalidAnswer(message, [FieldError("answer", "range", message)])

    def takes(self, request: Request) -> frozenset[str] | None:
        schemas = self._parameters(request)
        return arguments.names_in(schemas) if schemas else None

    def tools_of(self, name: str) -> Sequence[ToolInfo]:
        agent = self.find(name)
        if agent is None:
            return ()
        return [
            ToolInfo(tool, agent.descriptions.get(tool, ""), dict(schemas[0]), agent.risks.get(tool))
            for tool, schemas in sorted(agent.parameters.items())
        ]

    def schema(self, request: Request) -> Mapping[str, Any] | None:
        schemas = self._parameters(request)
        return dict(schemas[0]) if len(schemas) == 1 else None

    async def file_preview(self, request: Request) -> FilePreview | None:
        file = request.form.file if request.form else None
        if file is None or not isinstance(request.body, ApprovalBody):
            return None
        agent, args = self.find(request.agent), request.body.args
        previewer = agent.previewer(request.tool) if agent else None
        if previewer is None or not file.file.on_disk or file.host != platform.node():
            return file.file
        now = await previews.in_time(lambda: previews.compute(previewer, args, {}))
        return now if isinstance(now, FilePreview) else file.file

    def _parameters(self, request: Request) -> Sequence[arguments.Schema]:
        agent = self.find(request.agent)
        if agent is None or not isinstance(request.body, ApprovalBody):
            return ()
        return arguments.select_matching(agent.parameters.get(request.tool, ()), request.body.args)
