"""Stream modes with a memory: `messages`, and `tasks`, `checkpoints` and `debug`."""

from collections.abc import Iterator, Mapping, Sequence, Set

from interlock.domain.event import Partial, Token
from interlock.domain.json_value import ABSENT, JsonObject, JsonValue
from interlock.faces.langgraph.feed import Step
from interlock.faces.langgraph.views import checkpoint
from interlock.ports.agents import Snapshot, TaskState


class WholeMessages:
    """The mode `messages`: every message as it stands, whole each time, and where in the graph it is said."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._known: set[str] = set()
        self._done: set[str] = set()

    def token(self, item: Token | Partial, node: JsonObject) -> Iterator[tuple[str, JsonValue]]:
        before = self._texts.get(item.message_id, "")
        text = item.text if isinstance(item, Partial) else before + item.text
        self._texts[item.message_id] = text
        yield from self._where(item.message_id, node)
        if text != before:
            yield "messages/partial", [_message(item.message_id, text)]

    def complete(self, message: JsonObject, node: JsonObject) -> Iterator[tuple[str, JsonValue]]:
        key = str(message.get("id"))
        if key in self._done or message.get("type") not in ("ai", "tool"):
            return
        self._done.add(key)
        yield from self._where(key, node)
        yield "messages/complete", [message]

    def _where(self, key: str, node: JsonObject) -> Iterator[tuple[str, JsonValue]]:
        if key not in self._known:
            self._known.add(key)
            yield "messages/metadata", {key: {"metadata": node}}


def _message(message_id: str, text: str) -> JsonObject:
    return {
        "content": text,
        "additional_kwargs": {},
        "response_metadata": {},
        "type": "ai",
        "name": None,
        "id": message_id,
        "tool_calls": [],
        "invalid_tool_calls": [],
        "usage_metadata": None,
    }


INSPECTION_MODES = ("tasks", "checkpoints", "debug")
_MODE = {"task": "tasks", "task_result": "tasks", "checkpoint": "checkpoints"}


class Inspection:
    """The modes `tasks`, `checkpoints` and `debug`: what LangGraph itself reports of each step, read from its
    checkpoint."""

    def __init__(self, thread_id: str, modes: Set[str]) -> None:
        self._thread_id = thread_id
        self._modes = modes & set(INSPECTION_MODES)
        self._begun: set[str] = set()

    def step(self, step: Step) -> Iterator[tuple[str, JsonValue]]:
        if not self._modes:
            return
        at = step.snapshot.created_at
        for task in _nodes(step.done) if not step.is_input else ():
            yield from self._task(task, step.number, at, None)
            yield from self._event("task_result", step.number, at, _result(task, []))
        yield from self._event("checkpoint", step.number, at, _checkpoint(self._thread_id, step.snapshot))
        for task in _nodes(step.snapshot.tasks):
            yield from self._task(task, step.number + 1, at, step.snapshot.values)

    def task_interrupts(self, snapshot: Snapshot, views: Mapping[str, JsonObject]) -> Iterator[tuple[str, JsonValue]]:
        """The tasks that wait, with what they ask; `views` are the open interrupts by LangGraph's ids."""
        for task in _nodes(snapshot.tasks):
            if interrupts := [views[name] for name in task.interrupts if name in views]:
                yield from self._event("task_result", snapshot.step + 1, snapshot.created_at, _result(task, interrupts))

    def _task(self, task: TaskState, number: int, at: str | None, values: JsonValue) -> Iterator[tuple[str, JsonValue]]:
        if task.id not in self._begun:
            self._begun.add(task.id)
            given = values if task.sent is ABSENT else task.sent
            payload: JsonObject = {"id": task.id, "name": task.name, "input": given, "triggers": []}
            yield from self._event("task", number, at, payload)

    def _event(self, kind: str, number: int, at: str | None, payload: JsonObject) -> Iterator[tuple[str, JsonValue]]:
        if _MODE[kind] in self._modes:
            yield _MODE[kind], payload
        if "debug" in self._modes:
            yield "debug", {"step": number, "timestamp": at, "type": kind, "payload": payload}


def _nodes(tasks: Sequence[TaskState]) -> list[TaskState]:
    return [one for one in tasks if not one.name.startswith("__")]


def _result(task: TaskState, interrupts: Sequence[JsonObject]) -> JsonObject:
    result: JsonValue = {} if task.result is None else task.result
    return {"id": task.id, "name": task.name, "error": task.error, "result": result, "interrupts": list(interrupts)}


def _checkpoint(thread_id: str, snapshot: Snapshot) -> JsonObject:
    """Without the configurable of a run, and without interrupts: those that are open come with their task."""
    parent = checkpoint(thread_id, snapshot.parent_id, snapshot.space)
    return {
        "config": {"configurable": checkpoint(thread_id, snapshot.checkpoint_id, snapshot.space)},
        "parent_config": {"configurable": parent} if parent else None,
        "values": snapshot.values,
        "metadata": dict(snapshot.metadata),
        "next": list(snapshot.next),
        "tasks": [{"id": one.id, "name": one.name, "interrupts": [], "state": None} for one in _nodes(snapshot.tasks)],
    }
