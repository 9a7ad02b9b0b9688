"""The modes `tasks`, `checkpoints` and `debug`: what LangGraph itself tells of each step, read from its checkpoint."""

from collections.abc import Iterator, Mapping, Sequence, Set

from interlock.domain.json_value import JsonObject, JsonValue
from interlock.faces.langgraph.feed import Step
from interlock.faces.langgraph.views import checkpoint
from interlock.ports.agents import Snapshot, TaskState

MODES = ("tasks", "checkpoints", "debug")
_MODE = {"task": "tasks", "task_result": "tasks", "checkpoint": "checkpoints"}


class Inspection:
    def __init__(self, thread_id: str, modes: Set[str]) -> None:
        self._thread_id = thread_id
        self._modes = modes & set(MODES)
        self._begun: set[str] = set()

    def step(self, step: Step) -> Iterator[tuple[str, JsonValue]]:
        if not self._modes:
            return
        at = step.snapshot.created_at
        for task in _nodes(step.done) if not step.is_input else ():
            yield from self._task(task, step.number, at, None)
            yield from self._said("task_result", step.number, at, _result(task, []))
        yield from self._said("checkpoint", step.number, at, _checkpoint(self._thread_id, step.snapshot))
        for task in _nodes(step.snapshot.tasks):
            yield from self._task(task, step.number + 1, at, step.snapshot.values)

    def asked(self, snapshot: Snapshot, views: Mapping[str, JsonObject]) -> Iterator[tuple[str, JsonValue]]:
        """The tasks that wait, with what they ask; `views` are the open interrupts by LangGraph's ids."""
        for task in _nodes(snapshot.tasks):
            if interrupts := [views[name] for name in task.interrupts if name in views]:
                yield from self._said("task_result", snapshot.step + 1, snapshot.created_at, _result(task, interrupts))

    def _task(self, task: TaskState, number: int, at: str | None, values: JsonValue) -> Iterator[tuple[str, JsonValue]]:
        if task.id not in self._begun:
            self._begun.add(task.id)
            payload: JsonObject = {"id": task.id, "name": task.name, "input": values, "triggers": []}
            yield from self._said("task", number, at, payload)

    def _said(self, kind: str, number: int, at: str | None, payload: JsonObject) -> Iterator[tuple[str, JsonValue]]:
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
