"""Assistants, threads, states and runs in the form of LangGraph's server."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.request import Pause, Request
from interlock.domain.run import Run, RunCause, RunStatus, WaitingRun
from interlock.domain.run_input import GraphInput, MessageInput
from interlock.domain.thread import Thread, ThreadStatus
from interlock.faces.langgraph.interrupts import Interrupt, open_interrupts, view_of
from interlock.ports.agents import Snapshot, TaskState
from interlock.texts import Locale

NAMESPACE = uuid.UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8")
RUN_STATUS = {
    RunStatus.QUEUED: "pending",
    RunStatus.RUNNING: "running",
    # Also where it ends in a question: what is open is told with the thread.
    RunStatus.PAUSED: "success",
    RunStatus.DONE: "success",
    RunStatus.FAILED: "error",
    RunStatus.STOPPED: "interrupted",
    RunStatus.NOT_ANSWERED: "interrupted",
}
_STATUS = {ThreadStatus.RUNNING: "busy", ThreadStatus.PAUSED: "interrupted"}
_TREE_STATUS = {"busy": "running", "interrupted": "interrupted", "error": "failed", "idle": "completed"}


def assistant_id(agent: str) -> str:
    return str(uuid.uuid5(NAMESPACE, agent))


def moment(at: datetime) -> str:
    return at.isoformat()


def assistant(agent: str, started_at: datetime) -> JsonObject:
    return {
        "assistant_id": assistant_id(agent),
        "graph_id": agent,
        "name": agent,
        "description": None,
        "config": {},
        "context": {},
        "metadata": {"created_by": "system"},
        "version": 1,
        "created_at": moment(started_at),
        "updated_at": moment(started_at),
    }


@dataclass(frozen=True, slots=True)
class ThreadPicture:
    """A thread with what waits on it, in one moment."""

    thread: Thread
    pause: Pause | None
    requests: Sequence[Request]
    """All of the pause, settled ones included."""
    last: Run | None

    @property
    def open(self) -> list[Interrupt]:
        return open_interrupts(self.pause, self.requests)

    @property
    def view_id(self) -> str | None:
        return view_of(self.pause, self.requests) if self.pause else None

    @property
    def status(self) -> str:
        has_failed = self.last is not None and self.last.status is RunStatus.FAILED
        return _STATUS.get(self.thread.status, "error" if has_failed else "idle")

    def to_interrupts(self, locale: Locale) -> list[JsonObject]:
        """As `__interrupt__` has them."""
        return [{"response_schema": None, **one.view(locale)} for one in self.open]

    def by_source(self, locale: Locale) -> dict[str, JsonObject]:
        return {one.source or one.id: one.view(locale) for one in self.open}


def metadata_of(thread: Thread) -> JsonObject:
    return {**thread.metadata, "graph_id": thread.agent, "assistant_id": assistant_id(thread.agent)}


def thread_view(picture: ThreadPicture, snapshot: Snapshot | None, locale: Locale) -> JsonObject:
    thread = picture.thread
    error = picture.last.error if picture.status == "error" and picture.last else None
    return {
        "thread_id": thread.id,
        "created_at": moment(thread.created_at),
        "updated_at": moment(thread.updated_at),
        "state_updated_at": moment(thread.updated_at),
        "metadata": metadata_of(thread),
        "status": picture.status,
        "config": {},
        "values": None if snapshot is None or snapshot.checkpoint_id is None else snapshot.values,
        "interrupts": _by_task(picture, snapshot, locale),
        "error": None if error is None else {"error": "RunFailed", "message": error},
    }


def _by_task(picture: ThreadPicture, snapshot: Snapshot | None, locale: Locale) -> JsonObject:
    left = picture.by_source(locale)
    found: JsonObject = {}
    for task in snapshot.tasks if snapshot else ():
        views = [left.pop(source) for source in task.interrupts if source in left]
        if views:
            found[task.id] = views
    # Of what the server itself asks no task of the graph knows.
    found |= {view["id"]: [view] for view in left.values()}
    return found


def checkpoint(thread_id: str, checkpoint_id: str | None, space: str = "") -> JsonObject | None:
    if checkpoint_id is None:
        return None
    return {"checkpoint_id": checkpoint_id, "thread_id": thread_id, "checkpoint_ns": space}


def state_view(thread_id: str, snapshot: Snapshot, views: Mapping[str, JsonObject], own: Sequence[str] = ()) -> Any:
    """`views` are the open interrupts by LangGraph's ids; none for a state of the past."""
    return {
        "values": snapshot.values,
        "next": list(snapshot.next),
        "tasks": [_task(thread_id, one, views) for one in snapshot.tasks],
        "metadata": {**snapshot.metadata, "thread_id": thread_id, "run_id": snapshot.run_id},
        "created_at": snapshot.created_at,
        "checkpoint": checkpoint(thread_id, snapshot.checkpoint_id, snapshot.space),
        "parent_checkpoint": checkpoint(thread_id, snapshot.parent_id, snapshot.space),
        "interrupts": [*_of_tasks(snapshot.tasks, views), *(views[name] for name in own)],
        "checkpoint_id": snapshot.checkpoint_id,
        "parent_checkpoint_id": snapshot.parent_id,
    }


def own_asks(snapshot: Snapshot, views: Mapping[str, JsonObject]) -> list[str]:
    """What the server itself asks, of which the graph's state knows nothing."""
    known = {source for task in snapshot.tasks for source in task.interrupts}
    return [name for name in views if name not in known]


def _of_tasks(tasks: Sequence[TaskState], views: Mapping[str, JsonObject]) -> list[JsonObject]:
    return [views[source] for task in tasks for source in task.interrupts if source in views]


def _task(thread_id: str, task: TaskState, views: Mapping[str, JsonObject]) -> JsonObject:
    place = {"thread_id": thread_id, "checkpoint_ns": task.space} if task.space else None
    return {
        "id": task.id,
        "name": task.name,
        "path": list(task.path),
        "error": task.error,
        "interrupts": _of_tasks([task], views),
        "checkpoint": place,
        "state": state_view(thread_id, task.state, views) if task.state else None,
        "result": task.result,
    }


def tree_view(picture: ThreadPicture, snapshot: Snapshot) -> JsonObject:
    """The graph and those inside of it that it stands in now."""
    status = _TREE_STATUS[picture.status]
    root: JsonObject = {"namespace": [], "status": status, "graph_name": picture.thread.agent}
    return {**root, "children": _inner_trees(snapshot.tasks, status)}


def _inner_trees(tasks: Sequence[TaskState], status: str) -> list[JsonObject]:
    return [
        {
            "namespace": task.space.split("|"),
            "status": status if status != "interrupted" or task.interrupts else "completed",
            "graph_name": task.name,
            "children": _inner_trees(task.state.tasks if task.state else (), status),
        }
        for task in tasks
        if task.space
    ]


def run_view(thread: Thread, run: Run | WaitingRun) -> JsonObject:
    status = "pending" if isinstance(run, WaitingRun) else RUN_STATUS[run.status]
    settings = run.input.settings if isinstance(run.input, GraphInput) else None
    is_new = isinstance(run, WaitingRun) or run.cause is RunCause.MESSAGE
    return {
        "run_id": run.id,
        "thread_id": thread.id,
        "assistant_id": assistant_id(thread.agent),
        "status": status,
        "metadata": run.input.metadata if isinstance(run.input, GraphInput) else {},
        "multitask_strategy": "enqueue" if isinstance(run, WaitingRun) else "reject",
        # No value of a resume is in it: an answer has no run input.
        "kwargs": {
            "input": _input(run.input) if is_new else None,
            "config": {"configurable": settings.configurable} if settings else {},
            "context": settings.context if settings else None,
        },
        "created_at": moment(run.created_at),
        "updated_at": moment(run.created_at),
    }


def _input(given: Any) -> JsonValue:
    if isinstance(given, MessageInput):
        return {"messages": [{"type": "human", "content": given.text}]}
    return given.values if isinstance(given, GraphInput) else None


def page_headers(offset: int, length: int, *, has_more: bool) -> dict[str, str]:
    """How many there are in all is not counted: one more than were seen, where there are more."""
    end = offset + length
    if not has_more:
        return {"x-pagination-total": str(end)}
    return {"x-pagination-total": str(end + 1), "x-pagination-next": str(end)}


def select_fields(view: JsonObject, names: Sequence[str] | None) -> JsonObject:
    return view if names is None else {name: value for name, value in view.items() if name in names}
