"""What the body of a run says, and what is begun with it: an answer, an input, or nothing but a look."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from interlock.domain.errors import Conflict, KeyReused, ThreadBusy
from interlock.domain.ids import named_run_id
from interlock.domain.json_value import ABSENT, JsonObject, JsonValue
from interlock.domain.run import Run
from interlock.domain.run_input import GraphCommand, GraphInput, Nodes, RunSettings, Send
from interlock.domain.thread import Thread, ThreadStatus
from interlock.faces.http.guard import is_click
from interlock.faces.langgraph.errors import Refusal, invalid
from interlock.faces.langgraph.fields import choice_of, is_on, not_offered, object_of, text_of, texts_of
from interlock.faces.langgraph.repeats import REPEATED_WITHIN, SOURCE
from interlock.faces.langgraph.resumes import Resume, is_goto_end
from interlock.faces.langgraph.scene import Scene, thread_uuid
from interlock.services.threads import messages, states, threads
from interlock.services.threads.messages import EnqueuedRun, StartedRun

STRATEGIES = ("enqueue", "reject", "interrupt", "rollback")


@dataclass(frozen=True, slots=True)
class RunRef:
    thread: Thread
    run_id: str
    seq: int
    """The thread's last event before it."""
    goes_on: bool = True
    """False where nothing is run: what is true now is all there is to tell."""
    is_answer: bool = False
    """Whether it goes on with an answer that came in this request."""


@dataclass(frozen=True, slots=True)
class Turn:
    agent: str
    given: GraphInput | None
    resume: JsonValue = ABSENT
    ends: bool = False
    """Whether it only says that the conversation is done with what is open."""
    strategy: str | None = None
    detached: bool = True
    fence: str | None = None
    """The checkpoint that its sender takes for the newest; without an input it may be one of the past."""
    metadata: JsonObject = field(default_factory=JsonObject)
    settings: RunSettings = field(default_factory=RunSettings)


def read_turn(scene: Scene, body: Mapping[str, Any]) -> Turn:
    agent_id = text_of(body, "assistant_id")
    if agent_id is None:
        raise invalid("assistant_id is required")
    agent = scene.agent(agent_id)
    config, context = object_of(body, "config"), object_of(body, "context")
    if config and config.get("configurable") and context:
        raise Refusal(400, "invalid_argument", "send config.configurable or context, not both")
    for name in ("after_seconds", "webhook"):
        if body.get(name) is not None:
            raise not_offered(f"{name} is not offered here")
    strategy = body.get("multitask_strategy")
    if strategy is not None:
        choice_of(body, "multitask_strategy", "enqueue", *STRATEGIES)
    if strategy == "rollback":
        raise not_offered("multitask_strategy rollback is not offered here: use interrupt")
    metadata = object_of(body, "metadata") or {}
    settings = RunSettings.of(
        config,
        context,
        _nodes(body, "interrupt_before"),
        _nodes(body, "interrupt_after"),
        tells_inner=is_on(body.get("stream_subgraphs")),
    )
    turn = Turn(
        agent,
        None,
        strategy=strategy,
        detached=choice_of(body, "on_disconnect", "continue", "continue", "cancel") == "continue",
        fence=_fence(body, config),
        metadata=metadata,
        settings=settings,
    )
    return _with_content(turn, body, settings)


def _with_content(turn: Turn, body: Mapping[str, Any], settings: RunSettings) -> Turn:
    from dataclasses import replace

    command = object_of(body, "command") or {}
    goto, update = command.get("goto") or None, command.get("update")
    is_empty_update = update in (None, {}, [])
    if "resume" in command and not (command["resume"] is None and (goto or not is_empty_update)):
        if goto or not is_empty_update:
            raise not_offered("resume goes without update and goto here")
        return replace(turn, resume=command["resume"])
    if goto or not is_empty_update:
        if is_empty_update and is_goto_end(goto):
            return replace(turn, ends=True)
        given = GraphCommand(None if is_empty_update else update, _goto(goto))
        return replace(turn, given=GraphInput(None, settings, given, turn.metadata))
    if "input" not in body:
        return turn
    return replace(turn, given=GraphInput(body["input"], settings, None, turn.metadata))


def _goto(goto: Any) -> tuple[str | Send, ...]:
    found: list[str | Send] = []
    for one in cast("list[Any]", goto) if isinstance(goto, list) else [goto] if goto else []:
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, dict) and isinstance(cast("JsonObject", one).get("node"), str):
            send = cast("JsonObject", one)
            found.append(Send(send["node"], send.get("input")))
        else:
            raise invalid("command.goto must name nodes")
    return tuple(found)


def _nodes(body: Mapping[str, Any], name: str) -> Nodes:
    given = texts_of(body, name) or ()
    return "*" if "*" in given or "All" in given else tuple(given)


def _fence(body: Mapping[str, Any], config: Mapping[str, Any] | None) -> str | None:
    given = object_of(body, "checkpoint") or {}
    configurable: Any = (config or {}).get("configurable") or {}
    found = given.get("checkpoint_id") or body.get("checkpoint_id") or configurable.get("checkpoint_id")
    if found is not None and not isinstance(found, str):
        raise invalid("checkpoint_id must be a text")
    return found


async def begin(scene: Scene, thread_id: str, turn: Turn, *, creates: bool = False) -> RunRef:
    """Do what the turn says. 2xx only after this: what it says is committed then."""
    thread = await _thread(scene, thread_id, turn, creates=creates)
    if turn.fence is not None and await _is_past(scene, thread, turn):
        return await _went_back(scene, thread, turn, turn.fence)
    if turn.resume is not ABSENT:
        return await _resume(scene, thread, turn)
    if turn.ends:
        return await _end_pause(scene, thread)
    if turn.given is None:
        return await _go_on(scene, thread, turn)
    await states.assign_agent(scene.core, scene.caller, thread.id, turn.agent)
    return await _send_input(scene, thread, turn, turn.given)


async def _thread(scene: Scene, thread_id: str, turn: Turn, *, creates: bool) -> Thread:
    try:
        return await scene.thread(thread_id)
    except Refusal:
        if not creates:
            raise
    if turn.resume is not ABSENT:
        raise Refusal(404, "not_found", "thread not found")
    try:
        return await threads.create_thread(
            scene.core, scene.caller, agent=turn.agent, thread_id=thread_uuid(thread_id), metadata=turn.metadata
        )
    except Conflict:
        # Another call made it a moment before, or it is somebody else's.
        return await scene.thread(thread_id)


async def _is_past(scene: Scene, thread: Thread, turn: Turn) -> bool:
    """Whether it is to begin at a checkpoint of the past. `Refusal` where that may be a mistake.

    Pages send the newest checkpoint that they know with whatever they send. An input there may come from one that has
    missed a turn, which it would leave out.
    """
    snapshot = await scene.core.agents.snapshot(thread)
    if snapshot.checkpoint_id == turn.fence:
        return False
    if turn.resume is not ABSENT or thread.status is ThreadStatus.PAUSED:
        raise await _stale(scene, thread)
    if turn.given is not None or turn.ends:
        message = "an input begins at the newest checkpoint: to go back, write the state there first"
        raise not_offered(message)
    return True


async def _stale(scene: Scene, thread: Thread) -> Refusal:
    picture = await scene.picture(thread.id)
    message = "the thread has gone on since this checkpoint"
    return Refusal(409, "stale_checkpoint", message, interrupts=picture.to_interrupts(scene.locale))


async def _went_back(scene: Scene, thread: Thread, turn: Turn, past: str) -> RunRef:
    """Once more from a step of the past, with the nodes that were next there."""
    core, caller = scene.core, scene.caller
    given = GraphInput(None, turn.settings, GraphCommand(), turn.metadata)
    key, run_options = _run_options(scene, thread, turn)
    if key is None and is_click(scene.request):
        # A double click, or sent again by a browser whose reply was lost.
        run_options["run_id"] = named_run_id(thread.id, f"{caller.id}\nback to {past}")
    known = await _find_earlier_run(scene, run_options)
    if known is not None and key is None and core.clock.now() - known.created_at >= REPEATED_WITHIN:
        del run_options["run_id"]
        known = None
    if known is None:
        await states.assign_agent(core, caller, thread.id, turn.agent)
        if not await _is_midway(scene, thread, past):
            raise await _stale(scene, thread)
        try:
            await states.return_to(core, caller, thread.id, past)
        except Conflict:
            # The same request may have come twice at once.
            if await _find_earlier_run(scene, run_options) is None:
                raise
    return _ref_of(await messages.send_input(core, caller, thread.id, given, **run_options), given, key)


async def _is_midway(scene: Scene, thread: Thread, past: str) -> bool:
    """Whether its run went on from this checkpoint by itself. Where it stopped, for a question, at a breakpoint or at
    its end, a page may have stood since, which goes on from there without knowing that others did."""
    agents = scene.core.agents
    snapshot = await agents.snapshot(thread, past)
    if not snapshot.next:
        return False
    if snapshot.run_id is None:
        return snapshot.metadata.get("source") == "fork"
    newest = await agents.snapshots(thread, 1, run_id=snapshot.run_id)
    return bool(newest) and newest[0].checkpoint_id != past


async def _find_earlier_run(scene: Scene, run_options: Mapping[str, Any]) -> Run | None:
    """The run of a request that came before."""
    async with scene.core.store.snapshot() as tx:
        return await tx.runs.get(run_options["run_id"]) if "run_id" in run_options else None


def _run_options(scene: Scene, thread: Thread, turn: Turn) -> tuple[str | None, dict[str, Any]]:
    """The key of a request that may be sent again, and how its run is begun."""
    key = scene.request.headers.get("idempotency-key")
    run_options: dict[str, Any] = {"detached": turn.detached}
    if key:
        run_options["run_id"] = named_run_id(thread.id, f"{scene.caller.id}\n{key}")
    return key, run_options


def _resumption(scene: Scene, thread: Thread, turn: Turn) -> Resume:
    return Resume.of(scene, thread.id, detached=turn.detached)


async def _resume(scene: Scene, thread: Thread, turn: Turn) -> RunRef:
    resumed = await _resumption(scene, thread, turn).answer(turn.resume)
    return RunRef(thread, resumed.run_id, resumed.seq, resumed.goes_on, is_answer=True)


async def _end_pause(scene: Scene, thread: Thread) -> RunRef:
    pause = await messages.cancel_pause(scene.core, scene.caller, thread.id, SOURCE)
    if pause is None:
        picture = await scene.picture(thread.id)
        return RunRef(thread, picture.last.id if picture.last else "", thread.seq, goes_on=False)
    return RunRef(thread, pause.run_id, thread.seq, goes_on=False)


async def _go_on(scene: Scene, thread: Thread, turn: Turn) -> RunRef:
    """`input: null`: at a breakpoint the yes; at a question nothing is run, and what is open comes back."""
    result = await _resumption(scene, thread, turn).pass_breakpoint()
    if result is not None:
        return RunRef(thread, result.run_id, result.seq, result.goes_on, is_answer=True)
    picture = await scene.picture(thread.id)
    if picture.pause is None:
        raise Refusal(422, "invalid_argument", "there is no input, and nothing to go on with")
    return RunRef(thread, picture.pause.run_id, thread.seq, goes_on=False)


async def _send_input(scene: Scene, thread: Thread, turn: Turn, given: GraphInput) -> RunRef:
    core, caller = scene.core, scene.caller
    key, run_options = _run_options(scene, thread, turn)
    if turn.strategy == "reject":
        return _ref_of(await messages.send_input(core, caller, thread.id, given, **run_options), given, key)
    if turn.strategy != "enqueue" and thread.status is ThreadStatus.PAUSED:
        try:
            return _ref_of(
                await messages.replace_pause(core, caller, thread.id, given, SOURCE, **run_options), given, key
            )
        except ThreadBusy as error:
            # Somebody answered meanwhile: it runs, and the input waits its turn.
            if error.status is not ThreadStatus.RUNNING:
                raise
    started = await messages.enqueue_input(core, caller, thread.id, given, **run_options)
    ref = _ref_of(started, given, key)
    if turn.strategy == "interrupt" and isinstance(started, EnqueuedRun) and started.behind is not None:
        # By its id: meanwhile it may have ended, and the input itself may run.
        await messages.stop(core, caller, thread.id, "another input takes its place", run_id=started.behind)
    return ref


def _ref_of(started: StartedRun | EnqueuedRun, given: GraphInput, key: str | None) -> RunRef:
    if key and started.run.input != given:
        raise KeyReused("this idempotency key came before with another body; use a new one")
    return RunRef(started.thread, started.run.id, started.seq)
