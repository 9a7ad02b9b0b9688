"""v2: all of a thread as events, from its beginning or after a number, over all runs that come."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast

from interlock.domain.errors import StorageUnavailable
from interlock.domain.event import (
    AssistantMessage,
    Custom,
    Event,
    Partial,
    RunEnded,
    RunStarted,
    ThreadDeleted,
    Token,
    ToolEnded,
    ToolStarted,
)
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.run import RunStatus
from interlock.domain.thread import Thread
from interlock.faces.http.watching import Watch
from interlock.faces.langgraph.commands import PARTS
from interlock.faces.langgraph.errors import Refusal
from interlock.faces.langgraph.feed import Step, Steps
from interlock.faces.langgraph.fields import Fields
from interlock.faces.langgraph.scene import Scene
from interlock.ports.agents import TaskState
from interlock.services.threads.followers import count_follower
from interlock.services.threads.following import follow

CHANNELS = ("lifecycle", "input", "values", "messages", "tools", "custom", "updates", "tasks", "checkpoints")
OF_STEPS = {"values", "updates", "tasks", "checkpoints"}
REPLAYED = 100
"""How many of the newest steps of a thread come again at the beginning of a stream."""
OWN, LATE = PARTS // 4, PARTS // 2
"""Where the numbers begin of what an entry of the log tells, and of what comes after it: before it are steps, which
not every reader is told, and its own numbers are the same for all."""
_ENDED = {RunStatus.DONE: "completed", RunStatus.FAILED: "failed"}


@dataclass(frozen=True, slots=True)
class Filter:
    channels: frozenset[str]
    namespaces: tuple[tuple[str, ...], ...] | None
    depth: int | None
    """How many levels below its namespaces, or below the graph itself."""
    since: int | None

    @classmethod
    def read(cls, body: Fields) -> "Filter":
        channels, spaces = body.get("channels"), body.get("namespaces")
        if not isinstance(channels, list) or not channels:
            raise _wrong("channels must be a list")
        names = [str(one).partition(":")[0] for one in cast("list[Any]", channels)]
        if unknown := [one for one in names if one not in CHANNELS]:
            raise _wrong(f"unknown channel {unknown[0]!r}; known: {', '.join(CHANNELS)}")
        return cls(frozenset(names), _spaces(spaces), _count(body, "depth"), _count(body, "since"))

    def takes(self, channel: str, namespace: Sequence[str] = ()) -> bool:
        if channel not in self.channels:
            return False
        most = len(namespace) if self.depth is None else self.depth
        prefixes = ((),) if self.namespaces is None else self.namespaces
        return any(len(namespace) - len(one) <= most and _is_in(namespace, one) for one in prefixes)


def _count(body: Fields, name: str) -> int | None:
    value = body.get(name)
    if value is not None and (type(value) is not int or value < 0):
        raise _wrong(f"{name} must be a number")
    return value


def _spaces(given: Any) -> tuple[tuple[str, ...], ...] | None:
    if given is None:
        return None
    if not isinstance(given, list) or not all(isinstance(one, list) for one in cast("list[Any]", given)):
        raise _wrong("namespaces must be a list of lists")
    return tuple(tuple(str(part) for part in one) for one in cast("list[list[Any]]", given))


def _is_in(namespace: Sequence[str], prefix: Sequence[str]) -> bool:
    """`a` means every `a:id` too."""
    if len(namespace) < len(prefix):
        return False
    return all(one == part or one.partition(":")[0] == part for one, part in zip(namespace, prefix, strict=False))


def _wrong(message: str) -> Refusal:
    return Refusal(400, "invalid_argument", message)


@dataclass(slots=True)
class _Message:
    """One that is being told."""

    id: str
    text: str = ""
    parts: list[JsonObject] = field(default_factory=list[JsonObject])


class ThreadEvents:
    def __init__(self, scene: Scene, thread: Thread, event_filter: Filter) -> None:
        self._scene = scene
        self._thread = thread
        self._filter = event_filter
        # A number that this thread has not reached, say from before a restored backup, must not hide what comes.
        self._since = None if event_filter.since is None else min(event_filter.since, thread.seq * PARTS + PARTS - 1)
        self._watch = Watch(scene.request)
        self._base = 0
        self._part = 0
        self._at = 0
        self._run_id = ""
        self._steps: Steps | None = None
        self._past: dict[str | None, list[Step]] = {}
        """By run, the newest steps from before the stream."""
        self._ended: set[str] = set()
        self._message: _Message | None = None
        steps = OF_STEPS | {"lifecycle"} if scene.core.agents.has_inner(thread.agent) else OF_STEPS
        self._wants_steps = bool(event_filter.channels & steps)
        self._inner: list[TaskState] = []
        """Graphs inside that are under way."""

    async def events(self) -> AsyncGenerator[JsonObject | None]:
        """Without an end of its own; None where nothing happened for a while."""
        core = self._scene.core
        after = await self._start()
        with count_follower(core, self._thread.id):
            try:
                async with aclosing(follow(core, self._thread.id, after)) as items:
                    async for item in items:
                        async for event in self._events_of(item):
                            yield event
                        if item is None:
                            yield None
                        is_gone = isinstance(item, Event) and isinstance(item.data, ThreadDeleted)
                        if is_gone or await self._watch.reason_to_end(self._thread.id, is_idle=item is None):
                            return
            except StorageUnavailable:
                return

    async def _start(self) -> int:
        """After which entry of the log it begins; one that stands in the middle of a run knows which."""
        if self._wants_steps:
            await self._read_past()
        if self._since is None:
            return 0
        after = max(0, self._since // PARTS - 1)
        async with self._scene.core.store.snapshot() as tx:
            runs = await tx.runs.newest(self._thread.id, REPLAYED)
        if under_way := [one for one in runs if one.started_seq <= after]:
            self._begin(under_way[0].id)
        return after

    async def _read_past(self) -> None:
        found = await self._scene.core.agents.snapshots(self._thread, REPLAYED)
        tasks = {one.checkpoint_id: one.tasks for one in found}
        for one in reversed(found):
            self._past.setdefault(one.run_id, []).append(Step(one, tasks.get(one.parent_id, ())))

    def _begin(self, run_id: str) -> None:
        self._run_id = run_id
        self._steps = Steps(self._scene, self._thread, run_id)

    async def _events_of(self, item: Event | Token | Partial | None) -> AsyncGenerator[JsonObject]:
        if isinstance(item, Event):
            self._base, self._part = item.seq, 0
            self._at = int(item.at.timestamp() * 1000)
        if not isinstance(item, Token | Partial):
            async for event in self._step_events(item):
                yield event
        if isinstance(item, Event):
            self._part = OWN
        if item is not None:
            for event in await self._translate(item):
                yield event
        if isinstance(item, Event):
            self._part = LATE

    async def _step_events(self, item: Event | None) -> AsyncGenerator[JsonObject]:
        is_end = isinstance(item, Event) and isinstance(item.data, RunEnded) and item.data.run_id == self._run_id
        if self._steps is None or not self._wants_steps or self._run_id in self._ended:
            return
        if item is not None and item.seq <= self._thread.seq:
            # Of what is replayed the steps come with the end of their run.
            steps = self._past.get(self._run_id, []) if is_end else []
        else:
            steps = await self._steps.new(is_newest=not is_end)
        for step in steps:
            for event in self._step(step):
                yield event

    def _step(self, step: Step) -> Iterator[JsonObject]:
        if step.is_input:
            return
        snapshot = step.snapshot
        place = {"id": snapshot.checkpoint_id, "parent_id": snapshot.parent_id, "step": snapshot.step}
        source = snapshot.metadata.get("source")
        yield from self._event("checkpoints", f"checkpoints:{snapshot.checkpoint_id}", {**place, "source": source})
        for task in step.done:
            if task.space:
                yield from self._inner_lifecycle(task, "failed" if task.error else "completed")
            if not task.name.startswith("__"):
                result: JsonObject = {"id": task.id, "name": task.name, "result": task.result, "error": task.error}
                yield from self._event("tasks", f"tasks:{task.id}:result", {**result, "interrupts": []})
                yield from self._event("updates", f"updates:{task.id}", {task.name: task.result}, node=task.name)
        yield from self._event("values", f"values:{step.snapshot.checkpoint_id}", step.snapshot.values)
        self._inner = [task for task in snapshot.tasks if task.space]
        for task in self._inner:
            yield from self._inner_lifecycle(task, "started")

    async def _translate(self, item: Event | Token | Partial) -> list[JsonObject]:
        if isinstance(item, Token | Partial):
            return list(self._token(item))
        match item.data:
            case RunStarted(run_id=run_id):
                self._begin(run_id)
                return list(self._lifecycle(run_id, "running"))
            case RunEnded() as ended if ended.run_id not in self._ended:
                return [event async for event in self._over(ended)]
            case AssistantMessage() as message:
                return list(self._whole(message))
            case _:
                return list(self._tool(item))

    async def _over(self, ended: RunEnded) -> AsyncGenerator[JsonObject]:
        self._ended.add(ended.run_id)
        if ended.status is RunStatus.PAUSED:
            async for event in self._open_interrupts(ended.run_id):
                yield event
        name = _ENDED.get(ended.status, "interrupted")
        for task in self._inner:
            for event in self._inner_lifecycle(task, name, ended.run_id):
                yield event
        more = {"error": ended.error} if ended.error else {}
        for event in self._lifecycle(ended.run_id, name, **more):
            yield event

    async def _open_interrupts(self, run_id: str) -> AsyncGenerator[JsonObject]:
        """What is open now of what the run asked: a question that was answered is not told as one that is open."""
        picture = await self._scene.picture(self._thread.id)
        if picture.pause is None or picture.pause.run_id != run_id:
            return
        left = len(picture.open)
        for one in picture.open:
            view = one.view(self._scene.locale)
            data = {"interrupt_id": one.id, "payload": view["value"], "value": view["value"]}
            for event in self._event("input", f"input:{one.id}", data, method="input.requested"):
                left -= 1
                yield event
        # What is left of a question has the number of the whole: who begins after that number is not told of it.
        if self._filter.takes("input") and not left:
            await self._scene.note_shown(picture)

    def _lifecycle(self, run_id: str, name: str, **more: JsonValue) -> Iterator[JsonObject]:
        data = {"event": name, "graph_name": self._thread.agent, **more}
        yield from self._event("lifecycle", f"lifecycle:{run_id}:{name}", data)

    def _inner_lifecycle(self, task: TaskState, name: str, run_id: str = "") -> Iterator[JsonObject]:
        data: JsonObject = {"event": name, "graph_name": task.name}
        yield from self._event("lifecycle", f"lifecycle:{task.space}:{run_id}:{name}", data, space=task.space)

    def _token(self, item: Token | Partial) -> Iterator[JsonObject]:
        if self._message is None or self._message.id != item.message_id:
            self._message = _Message(item.message_id)
            yield from self._message_start(item.message_id)
            yield from self._block(item.message_id, 0, "content-block-start", content={"type": "text", "text": ""})
        whole = item.text if isinstance(item, Partial) else self._message.text + item.text
        new, self._message.text = whole[len(self._message.text) :], whole
        if new:
            delta = {"type": "text-delta", "text": new}
            yield from self._event(
                "messages",
                f"messages:{item.message_id}:delta:{len(whole)}",
                {"event": "content-block-delta", "id": item.message_id, "index": 0, "delta": delta},
            )

    def _whole(self, message: AssistantMessage) -> Iterator[JsonObject]:
        is_begun = self._message is not None and self._message.id == message.message_id
        self._message = None
        if not is_begun:
            yield from self._message_start(message.message_id)
        index = 0
        if message.text or is_begun:
            content = {"type": "text", "text": message.text}
            if not is_begun:
                yield from self._block(message.message_id, 0, "content-block-start", content={**content, "text": ""})
            yield from self._block(message.message_id, 0, "content-block-finish", content=content)
            index = 1
        for place, call in enumerate(message.tool_calls, index):
            block = {"type": "tool_call", "id": call.id, "name": call.name, "args": call.args}
            yield from self._block(message.message_id, place, "content-block-start", content=block)
            yield from self._block(message.message_id, place, "content-block-finish", content=block)
        data = {"event": "message-finish", "id": message.message_id}
        yield from self._event("messages", f"messages:{message.message_id}:finish", data)

    def _message_start(self, message_id: str) -> Iterator[JsonObject]:
        data = {"event": "message-start", "role": "ai", "id": message_id}
        yield from self._event("messages", f"messages:{message_id}:start", data)

    def _block(self, message_id: str, index: int, name: str, **more: JsonValue) -> Iterator[JsonObject]:
        data = {"event": name, "id": message_id, "index": index, **more}
        yield from self._event("messages", f"messages:{message_id}:{name}:{index}", data)

    def _tool(self, event: Event) -> Iterator[JsonObject]:
        match event.data:
            case ToolStarted(call_id, tool, given):
                data: JsonObject = {"event": "tool-started", "tool_call_id": call_id, "tool_name": tool, "input": given}
                yield from self._event("tools", f"tools:{event.seq}", data)
            case ToolEnded(call_id, tool, output, status):
                is_error = status == "failed"
                result = {"message": output} if is_error else {"output": output}
                name = "tool-error" if is_error else "tool-finished"
                data = {"event": name, "tool_call_id": call_id, "tool_name": tool, **result}
                yield from self._event("tools", f"tools:{event.seq}", data)
            case Custom(written):
                yield from self._event("custom", f"custom:{event.seq}", {"payload": written})
            case _:
                pass

    def _event(
        self,
        channel: str,
        event_id: str,
        data: JsonValue,
        *,
        method: str | None = None,
        node: str | None = None,
        space: str = "",
    ) -> Iterator[JsonObject]:
        # Numbered before it is filtered: every reader has the same numbers.
        seq = self._base * PARTS + self._part
        self._part = min(self._part + 1, PARTS - 1)
        namespace = space.split("|") if space else []
        if not self._filter.takes(channel, namespace) or (self._since is not None and seq <= self._since):
            return
        params: JsonObject = {"namespace": namespace, "timestamp": self._at, "data": data}
        if node is not None:
            params["node"] = node
        yield {
            "type": "event",
            "event_id": f"{self._thread.id}:{event_id}",
            "seq": seq,
            "method": method or channel,
            "params": params,
        }
