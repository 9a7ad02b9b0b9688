"""v1: one run as server-sent events, in the modes that its client asked for; and as one JSON at its end."""

import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import Any, cast

from starlette.types import Receive, Scope, Send
from typing_extensions import override

from interlock.domain.canonical import json_text
from interlock.domain.event import Custom, Event, Partial, Token
from interlock.domain.json_value import JsonObject, JsonValue, object_at
from interlock.domain.run import RunStatus
from interlock.faces.http.depth import too_deep
from interlock.faces.http.dropping import drop
from interlock.faces.http.sse import EventStream, data_line, encode_lines
from interlock.faces.langgraph.errors import Refusal, invalid
from interlock.faces.langgraph.feed import NOTHING_YET, Over, Quiet, RunFeed, Step
from interlock.faces.langgraph.scene import Scene
from interlock.faces.langgraph.stream_modes import INSPECTION_MODES, Inspection, WholeMessages
from interlock.faces.langgraph.turns import RunRef
from interlock.faces.langgraph.views import own_asks
from interlock.ports.agents import Snapshot, TaskState
from interlock.texts import threads_text as text

GOES_ON = ("closing", "unavailable")
"""Why a stream may end while its run does not."""
MODES = ("values", "updates", "messages-tuple", "messages", "custom", "events", *INSPECTION_MODES)
KEEP_ALIVE = b": keep-alive\n"
"""One newline: the JavaScript client makes an empty event of every blank line."""
FAILED = "RunFailed"
END: tuple[str, JsonValue] = ("end", None)


def modes_of(given: Any) -> list[str]:
    items = cast("list[Any]", given) if isinstance(given, list) else [given]
    positions = [one for one in items if one not in (None, "")]
    if len(positions) == 1 and isinstance(positions[0], str) and positions[0].startswith("["):
        try:
            positions = json.loads("" if too_deep(positions[0]) else positions[0])
        except ValueError as error:
            raise invalid("stream_mode is no list") from error
    wrong = [one for one in positions if one not in MODES]
    if wrong:
        raise Refusal(422, "invalid_argument", f"stream_mode {wrong[0]!r} is not offered; known: {', '.join(MODES)}")
    return positions or ["values"]


class CutShort(Exception):
    """There is no outcome yet: a client whose connection is cut joins the run again, and waits on."""


class Outcome(EventStream):
    """One JSON at the end of a run."""

    media_type = "application/json"

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except CutShort:
            await drop(scope)


class Messages:
    """What was said of the messages of one run, so that nothing is said twice."""

    def __init__(self) -> None:
        self._sent: dict[str, str] = {}
        self._done: set[str] = set()

    def token(self, item: Token | Partial) -> str:
        """What is new of its text."""
        sent = self._sent.get(item.message_id, "")
        whole = item.text if isinstance(item, Partial) else sent + item.text
        self._sent[item.message_id] = whole
        return whole[len(sent) :] if whole.startswith(sent) else whole

    def rest_of(self, message: JsonObject) -> JsonObject | None:
        """What is still to be said of a message that is in the state: all of it, or its tool calls."""
        key = str(message.get("id"))
        if key in self._done or message.get("type") not in ("ai", "tool"):
            return None
        self._done.add(key)
        if message["type"] == "tool" or key not in self._sent:
            return message
        return _calls(message) if message.get("tool_calls") else None


def _calls(message: JsonObject) -> JsonObject:
    chunks = [
        {"name": one["name"], "args": json_text(one["args"]), "id": one["id"], "index": n, "type": "tool_call_chunk"}
        for n, one in enumerate(message["tool_calls"])
    ]
    return {**chunk(str(message.get("id")), ""), "tool_calls": message["tool_calls"], "tool_call_chunks": chunks}


def chunk(message_id: str, content: str) -> JsonObject:
    return {
        "content": content,
        "additional_kwargs": {},
        "response_metadata": {},
        "type": "AIMessageChunk",
        "name": None,
        "id": message_id,
        "tool_calls": [],
        "invalid_tool_calls": [],
        "usage_metadata": None,
        "tool_call_chunks": [],
    }


def messages_of(result: JsonValue) -> list[JsonObject]:
    found: Any = object_at(result).get("messages")
    items = cast("list[Any]", found) if isinstance(found, list) else [found]
    return [one for one in items if isinstance(one, dict)]


class RunStream:
    def __init__(
        self,
        scene: Scene,
        ref: RunRef,
        modes: Sequence[str],
        after: str | None = None,
        last: tuple[str, JsonValue] = END,
        *,
        inner: bool = False,
    ) -> None:
        self._scene = scene
        self._ref = ref
        self._last = last
        self._modes = frozenset(modes)
        seq, step = ref.seq, NOTHING_YET
        self._is_rejoined = after is not None
        if after is not None:
            seq, step = position(after)
            # One that this thread has not reached, say from before a restored backup, must not hide what comes.
            seq = min(seq, ref.thread.seq)
        self._seq, self._step_number = max(seq, ref.seq), step
        inner = inner and scene.core.agents.has_inner(ref.thread.agent)
        self._feed = RunFeed(scene, ref.thread, ref.run_id, self._seq, step, inner=inner)
        self._messages = Messages()
        self._whole = WholeMessages()
        self._inspection = Inspection(ref.thread.id, self._modes)
        self._started: set[str] = set()
        self.is_over = False

    @property
    def seq(self) -> int:
        """How far the log was read."""
        return self._feed.seq

    async def events(self) -> AsyncGenerator[bytes]:
        if not self._is_rejoined:
            yield self._frame("metadata", {"run_id": self._ref.run_id, "attempt": 1})
        if not self._ref.goes_on:
            async for frame in self._present():
                yield frame
            return
        async with aclosing(self._feed.items()) as items:
            async for item in items:
                if isinstance(item, Over):
                    async for frame in self._over(item):
                        yield frame
                    return
                for frame in self._encode(item):
                    yield frame

    async def result(self) -> AsyncGenerator[bytes]:
        """The values at the end; a newline now and then keeps the connection."""
        over = Over(RunStatus.PAUSED)
        if self._ref.goes_on:
            async with aclosing(self._feed.items()) as items:
                async for item in items:
                    if isinstance(item, Quiet):
                        yield b"\n"
                    if isinstance(item, Over):
                        over = item
        if over.reason in GOES_ON:
            raise CutShort
        yield json_text(await self._outcome(over), ensure_ascii=False).encode("utf-8", "backslashreplace")
        self.is_over = True

    async def _outcome(self, over: Over) -> JsonValue:
        if over.status is RunStatus.FAILED or over.reason:
            return {"__error__": self._error(over)}
        picture = await self._scene.picture(self._ref.thread.id)
        snapshot = await self._final()
        if not self._is_of_this(picture.pause):
            return snapshot.values
        await self._scene.note_shown(picture, in_reply=self._ref.is_answer)
        interrupts = picture.to_interrupts(self._scene.locale)
        return {**_fields(snapshot.values), "__interrupt__": interrupts} if interrupts else snapshot.values

    def _is_of_this(self, pause: Any) -> bool:
        return pause is not None and pause.run_id == self._ref.run_id

    async def _final(self) -> Snapshot:
        """The state that the run left."""
        thread = self._ref.thread
        head = await self._scene.core.agents.snapshot(thread)
        if head.run_id in (None, self._ref.run_id) or not self._ref.goes_on:
            return head
        found = await self._scene.core.agents.snapshots(thread, 1, run_id=self._ref.run_id)
        return found[0] if found else head

    def _encode(self, item: Any) -> Iterator[bytes]:
        if isinstance(item, Quiet):
            yield KEEP_ALIVE
            return
        if isinstance(item, Event):
            self._seq = item.seq
        frames = list(self._frames(item))
        for place, (event, data) in enumerate(frames, 1):
            if isinstance(item, Step) and not item.space and place == len(frames):
                # Who was cut off in the middle of a step gets it whole once more, with those inside.
                self._step_number = item.number
            yield self._frame(event, data)

    def _frames(self, item: Any) -> Iterator[tuple[str, JsonValue]]:
        match item:
            case Token() | Partial():
                yield from self._token(item)
            case Step():
                yield from ((_event_name(event, item.space), data) for event, data in self._step(item))
            case Event(data=Custom(written)) if "custom" in self._modes:
                yield "custom", written
            case _:
                pass

    def _token(self, item: Token | Partial) -> Iterator[tuple[str, JsonValue]]:
        if "messages-tuple" in self._modes and (new := self._messages.token(item)):
            yield "messages", [chunk(item.message_id, new), self._node()]
        if "messages" in self._modes:
            yield from self._whole.token(item, self._node())

    def _step(self, step: Step) -> Iterator[tuple[str, JsonValue]]:
        yield from self._inspection.step(step)
        for task in step.done if not step.is_input else ():
            if not task.name.startswith("__"):
                yield from self._task(task, step)
        if "values" in self._modes and not step.is_input:
            yield "values", step.snapshot.values
        if "events" in self._modes:
            for task in step.snapshot.tasks:
                if not task.name.startswith("__"):
                    yield from self._start_node(task, self._place(task, step.number + 1, step.space))

    def _task(self, task: TaskState, step: Step) -> Iterator[tuple[str, JsonValue]]:
        node = self._place(task, step.number, step.space)
        if "events" in self._modes:
            yield from self._start_node(task, node)
            yield "events", self._event("on_chain_end", task, node, {"output": task.result})
        if "messages-tuple" in self._modes:
            for message in messages_of(task.result):
                if (rest := self._messages.rest_of(message)) is not None:
                    yield "messages", [rest, node]
        if "messages" in self._modes:
            for message in messages_of(task.result):
                yield from self._whole.complete(message, node)
        if "updates" in self._modes:
            yield "updates", {task.name: task.result}

    def _start_node(self, task: TaskState, node: JsonObject) -> Iterator[tuple[str, JsonValue]]:
        if task.id not in self._started:
            self._started.add(task.id)
            yield "events", self._event("on_chain_start", task, node, {"input": None})

    def _event(self, name: str, task: TaskState, node: JsonObject, data: JsonObject) -> JsonObject:
        return {
            "event": name,
            "name": task.name,
            "run_id": task.id,
            "parent_ids": [self._ref.run_id],
            "tags": [f"graph:step:{node['langgraph_step']}"],
            "metadata": node,
            "data": data,
        }

    def _node(self) -> JsonObject:
        """Where in the graph something is said just now."""
        head = self._feed.steps.head
        task = next((one for one in head.tasks if not one.name.startswith("__")), None) if head else None
        return self._place(task, head.step + 1 if head and task else 0)

    def _place(self, task: TaskState | None, number: int, space: str = "") -> JsonObject:
        own = f"{task.name}:{task.id}" if task else ""
        return {
            "thread_id": self._ref.thread.id,
            "run_id": self._ref.run_id,
            "langgraph_node": task.name if task else "",
            "langgraph_step": number,
            "langgraph_checkpoint_ns": f"{space}|{own}" if space else own,
        }

    async def _over(self, over: Over) -> AsyncGenerator[bytes]:
        if over.status is RunStatus.FAILED or over.reason in ("revoked", "deleted"):
            yield self._last_frame("error", self._error(over))
            return
        if over.reason:
            # The run goes on: a client that sees no `end` comes back.
            return
        if over.status is RunStatus.PAUSED:
            async for frame in self._interrupt_frames():
                yield frame
        yield self._last_frame(*self._last)

    def _last_frame(self, event: str, data: JsonValue) -> bytes:
        self.is_over = True
        if self._last != END:
            # A stream that goes on behind the run is continued behind it.
            self._seq = self.seq
        return self._frame(event, data)

    async def _interrupt_frames(self) -> AsyncGenerator[bytes]:
        picture = await self._scene.picture(self._ref.thread.id)
        if not self._is_of_this(picture.pause):
            # It was answered meanwhile: an old question is not shown as an open one.
            return
        interrupts = picture.to_interrupts(self._scene.locale)
        if "updates" in self._modes:
            yield self._frame("updates", {"__interrupt__": interrupts})
        if "values" in self._modes and interrupts:
            yield self._frame("values", {**_fields((await self._final()).values), "__interrupt__": interrupts})
        is_told = False
        if interrupts and self._modes & {"tasks", "debug"}:
            snapshot, views = await self._final(), picture.by_source(self._scene.locale)
            is_told = not own_asks(snapshot, views)
            for event, data in self._inspection.task_interrupts(snapshot, views):
                yield self._frame(event, data)
        if is_told or self._modes & {"updates", "values"}:
            await self._scene.note_shown(picture, in_reply=self._ref.is_answer)

    async def _present(self) -> AsyncGenerator[bytes]:
        picture = await self._scene.picture(self._ref.thread.id)
        snapshot = await self._scene.core.agents.snapshot(picture.thread)
        interrupts = picture.to_interrupts(self._scene.locale)
        more = {"__interrupt__": interrupts} if interrupts else {}
        if "updates" in self._modes and picture.pause is not None:
            yield self._frame("updates", {"__interrupt__": interrupts})
        if "values" in self._modes:
            yield self._frame("values", {**_fields(snapshot.values), **more} if more else snapshot.values)
        if self._modes & {"updates", "values"}:
            await self._scene.note_shown(picture, in_reply=self._ref.is_answer)
        self.is_over = True
        yield self._frame(*self._last)

    def _error(self, over: Over) -> JsonObject:
        if over.status is RunStatus.FAILED:
            return {"error": FAILED, "message": over.error or "the run failed"}
        return {"error": over.reason, "message": text(over.reason or "unavailable", self._scene.locale)}

    def _frame(self, event: str, data: JsonValue) -> bytes:
        position = f"{self._seq}-{self._step_number - NOTHING_YET}"
        return encode_lines(f"id: {position}", f"event: {event}", data_line(data))


def _event_name(event: str, space: str) -> str:
    """What is told of a graph inside has its namespace in the name, but for the modes that name the node themselves."""
    return f"{event}|{space}" if space and event != "events" and "/" not in event else event


def _fields(values: JsonValue) -> JsonObject:
    return cast("JsonObject", values) if isinstance(values, dict) else {"__root__": values}


def is_whole(after: str | None) -> bool:
    return after is None or after.strip() in ("", "-", "-1")


def position(after: str) -> tuple[int, int]:
    seq, _, step = after.strip().partition("-")
    if not (seq.isascii() and seq.isdigit() and len(seq) < 19 and step.isascii() and step.isdigit() and len(step) < 10):
        raise invalid("Last-Event-ID must be the id of an event of this stream")
    return int(seq), int(step) + NOTHING_YET
