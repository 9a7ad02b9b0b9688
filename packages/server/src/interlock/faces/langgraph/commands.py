"""v2: commands in an envelope. `run.start` begins a run, `input.respond` answers, `agent.getTree` looks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from interlock.domain.errors import InterlockError, InvalidInput, NotAuthenticated, RateLimited, StorageUnavailable
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.faces.http.problems import public_message
from interlock.faces.langgraph.errors import Refusal, fields_of, invalid, status_here
from interlock.faces.langgraph.fields import not_offered, object_of, text_of
from interlock.faces.langgraph.interrupts import is_wire_id
from interlock.faces.langgraph.resumes import Resume
from interlock.faces.langgraph.scene import Scene
from interlock.faces.langgraph.turns import begin, read_turn
from interlock.faces.langgraph.views import tree_view

PARTS = 1 << 20
"""How many events may stand between two entries of a log, each with a number of its own."""
_CODES = {400: "invalid_argument", 404: "no_such_run", 422: "invalid_argument"}


class MalformedCommand(Exception):
    """What is no command at all."""


@dataclass(frozen=True, slots=True)
class Command:
    id: int
    method: str
    params: JsonObject

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "Command":
        params: Any = given.get("params") or {}
        number, method = given.get("id"), given.get("method")
        if type(number) is not int or not isinstance(method, str) or not isinstance(params, dict):
            raise MalformedCommand("a command is {id: number, method: text, params: object}")
        return cls(number, method, {name: one for name, one in cast("JsonObject", params).items() if one is not None})


def failure(number: int | None, error: str, message: str, more: Mapping[str, Any] | None = None) -> JsonObject:
    return {"type": "error", "id": number, "error": error, "message": message, **(more or {})}


def success(number: int, result: JsonObject, seq: int) -> JsonObject:
    """All that was logged up to this entry is from before the command: a client tells old questions from new by it."""
    return {"type": "success", "id": number, "result": result, "meta": {"applied_through_seq": seq * PARTS + PARTS - 1}}


async def obey(scene: Scene, thread_id: str, command: Command) -> JsonObject:
    try:
        match command.method:
            case "run.start":
                return await _start(scene, thread_id, command)
            case "input.respond":
                return await _respond(scene, thread_id, command)
            case "agent.getTree":
                return await _show_tree(scene, thread_id, command)
            case _:
                return failure(command.id, "unknown_command", f"there is no command {command.method!r}")
    except (NotAuthenticated, RateLimited, StorageUnavailable):
        raise
    except InterlockError as error:
        return _failure(command, error)


def _failure(command: Command, error: InterlockError) -> JsonObject:
    more = fields_of(error)
    if command.method == "input.respond" and (isinstance(error, InvalidInput) or status_here(error) in (409, 422)):
        code = "not_supported" if more["code"] == "not_supported" else "no_such_interrupt"
    else:
        code = "not_supported" if more["code"] == "not_supported" else _CODES.get(status_here(error), "unknown_error")
    return failure(command.id, code, public_message(error), more)


async def _start(scene: Scene, thread_id: str, command: Command) -> JsonObject:
    params = command.params
    named = {"multitaskStrategy": "multitask_strategy"}
    known = ("assistant_id", "input", "config", "metadata", "multitask_strategy")
    body = {named.get(name, name): value for name, value in params.items()}
    turn = read_turn(scene, {name: value for name, value in body.items() if name in known})
    ref = await begin(scene, thread_id, turn, creates=True)
    return success(command.id, {"run_id": ref.run_id}, ref.seq)


async def _respond(scene: Scene, thread_id: str, command: Command) -> JsonObject:
    params = command.params
    if params.get("update") or params.get("goto"):
        raise not_offered("update and goto are not offered beside an answer")
    given = _responses(params)
    thread = await scene.thread(thread_id)
    resumed = await Resume.of(scene, thread.id).answer(given)
    return success(command.id, {}, max(resumed.seq, thread.seq))


async def _show_tree(scene: Scene, thread_id: str, command: Command) -> JsonObject:
    picture = await scene.picture(thread_id)
    snapshot = await scene.core.agents.snapshot(picture.thread, inner=True)
    return success(command.id, {"tree": tree_view(picture, snapshot)}, picture.thread.seq)


def _responses(params: Mapping[str, Any]) -> JsonObject:
    many: Any = params.get("responses")
    items = cast("list[Any]", many) if isinstance(many, list) and many else [params]
    found: dict[str, JsonValue] = {}
    for one in items:
        fields = object_of({"one": one}, "one") or {}
        name = text_of(fields, "interrupt_id")
        if name is None or not is_wire_id(name) or name in found:
            raise Refusal(409, "no_such_interrupt", "each response names its interrupt_id, once")
        if fields.get("response") is None:
            raise invalid("response is required")
        found[name] = fields["response"]
    return found
