"""The rows of the role matrix for LangGraph's own interface, where what is another's is not there."""

import uuid
from collections.abc import Callable
from typing import Any

from fastapi.routing import APIRoute

from interlock.faces.langgraph import assistants, many, protocol, runs, thread_stream, threads
from tests.faces.scene import Scene
from tests.support.puppet import says, script

OPEN = "200 200 200 200 200 200 200 200 200 200"
ANYBODY = "200 200 200 200 200 200 200 200 200 401"
PEOPLE = "200 200 200 200 200 200 200 404 404 401"
SEE = "200 200 404 200 404 404 200 404 404 401"
DRIVE = "200 200 404 404 404 404 200 404 404 401"
DRIVE_SILENTLY = "204 204 404 404 404 404 204 404 404 401"
NOT_ACTIVE = "404 404 404 404 404 404 404 404 404 401"
NOT_OFFERED = "422 422 422 422 422 422 422 422 422 401"

Row = tuple[str, Callable[[Scene], dict[str, Any]], str]
INPUT = {"assistant_id": "puppet", "input": {"messages": [{"type": "human", "content": script(says("hi"))}]}}
_shared: dict[str, str] = {}


def to(path: str, body: Any = None) -> dict[str, Any]:
    return {"url": path} if body is None else {"url": path, "json": body}


def paused(scene: Scene) -> str:
    """One for all rows that only look."""
    if scene.url not in _shared:
        _shared[scene.url] = scene.paused()
    return _shared[scene.url]


def run_of(scene: Scene, thread_id: str) -> str:
    [run] = scene.threads.http.get(f"/threads/{thread_id}/runs").raise_for_status().json()
    return f"/threads/{thread_id}/runs/{run['run_id']}"


def at(tail: str, body: Any = None) -> Callable[[Scene], dict[str, Any]]:
    return lambda scene: to(f"/threads/{paused(scene)}{tail}", body)


def at_run(tail: str = "") -> Callable[[Scene], dict[str, Any]]:
    return lambda scene: to(run_of(scene, paused(scene)) + tail)


def on_new(tail: str, body: Any = None) -> Callable[[Scene], dict[str, Any]]:
    return lambda scene: to(f"/threads/{scene.hosted()}{tail}", body)


def fixed(path: str, body: Any = None) -> Callable[[Scene], dict[str, Any]]:
    return lambda _: to(path, body)


def asked(scene: Scene) -> tuple[str, str]:
    """A new thread that waits, and the id of its interrupt."""
    thread_id = scene.paused()
    found = scene.threads.http.get(f"/threads/{thread_id}").raise_for_status().json()["interrupts"]
    [[interrupt]] = found.values()
    return thread_id, interrupt["id"]


def resumed(scene: Scene) -> dict[str, Any]:
    thread_id, interrupt_id = asked(scene)
    answer = {interrupt_id: {"decisions": [{"type": "reject"}]}}
    return to(f"/threads/{thread_id}/runs/wait", {"assistant_id": "puppet", "command": {"resume": answer}})


def checkpoint_of(scene: Scene) -> dict[str, Any]:
    path = f"/threads/{paused(scene)}/state"
    return to(f"{path}/{scene.threads.http.get(path).raise_for_status().json()['checkpoint_id']}")


def command(method: str, params: Any) -> dict[str, Any]:
    return {"id": 1, "method": method, "params": params}


EVENTS = "post /threads/{thread_id}/stream/events"
"""It goes on over all later runs, and has no end."""
COMMANDS = "post /threads/{thread_id}/commands"

ROWS: list[Row] = [
    ("get /ok", fixed("/ok"), OPEN),
    ("get /info", fixed("/info"), OPEN),
    ("post /assistants/search", fixed("/assistants/search", {}), ANYBODY),
    ("post /assistants/count", fixed("/assistants/count", {}), ANYBODY),
    ("post /assistants", fixed("/assistants", {}), NOT_OFFERED),
    ("get /assistants/{named}", fixed("/assistants/puppet"), ANYBODY),
    ("patch /assistants/{named}", fixed("/assistants/puppet", {}), NOT_OFFERED),
    ("delete /assistants/{named}", fixed("/assistants/puppet"), NOT_OFFERED),
    ("post /assistants/{named}/latest", fixed("/assistants/puppet/latest", {}), NOT_OFFERED),
    ("post /assistants/{named}/versions", fixed("/assistants/puppet/versions", {}), ANYBODY),
    ("get /assistants/{named}/schemas", fixed("/assistants/puppet/schemas"), ANYBODY),
    ("get /assistants/{named}/graph", fixed("/assistants/puppet/graph"), ANYBODY),
    ("get /assistants/{named}/subgraphs", fixed("/assistants/puppet/subgraphs"), ANYBODY),
    ("get /assistants/{named}/subgraphs/{space}", fixed("/assistants/puppet/subgraphs/model"), ANYBODY),
    ("post /threads", fixed("/threads", {}), PEOPLE),
    ("post /threads/search", fixed("/threads/search", {}), ANYBODY),
    ("post /threads/count", fixed("/threads/count", {}), ANYBODY),
    ("get /threads/{thread_id}", at(""), SEE),
    ("patch /threads/{thread_id}", at("", {"metadata": {"seen": True}}), DRIVE),
    ("delete /threads/{thread_id}", on_new(""), DRIVE_SILENTLY),
    ("get /threads/{thread_id}/state", at("/state"), SEE),
    ("get /threads/{thread_id}/state/{checkpoint_id}", checkpoint_of, SEE),
    ("post /threads/{thread_id}/state/checkpoint", at("/state/checkpoint", {}), SEE),
    ("post /threads/{thread_id}/state", on_new("/state", {"values": {"messages": []}, "as_node": "model"}), DRIVE),
    ("get /threads/{thread_id}/history", at("/history"), SEE),
    ("post /threads/{thread_id}/history", at("/history", {}), SEE),
    ("post /threads/{thread_id}/runs", on_new("/runs", INPUT), DRIVE),
    ("post /threads/{thread_id}/runs/stream", on_new("/runs/stream", INPUT), DRIVE),
    ("post /threads/{thread_id}/runs/wait", on_new("/runs/wait", INPUT), DRIVE),
    ("post /threads/{thread_id}/runs/wait", resumed, SEE),
    ("get /threads/{thread_id}/runs", at("/runs"), SEE),
    ("get /threads/{thread_id}/runs/{run_id}", at_run(), SEE),
    ("get /threads/{thread_id}/runs/{run_id}/join", at_run("/join"), SEE),
    ("get /threads/{thread_id}/runs/{run_id}/stream", at_run("/stream"), SEE),
    ("post /threads/{thread_id}/runs/{run_id}/cancel", at_run("/cancel"), NOT_ACTIVE),
    ("delete /threads/{thread_id}/runs/{run_id}", at_run(), NOT_OFFERED),
    ("post /runs", fixed("/runs", INPUT), PEOPLE),
    ("post /runs/stream", fixed("/runs/stream", INPUT), PEOPLE),
    ("post /runs/wait", fixed("/runs/wait", INPUT), PEOPLE),
    ("post /runs/batch", fixed("/runs/batch", [INPUT]), PEOPLE),
    ("post /runs/cancel", lambda scene: to("/runs/cancel", {"thread_id": paused(scene)}), DRIVE_SILENTLY),
    # It tells how many were theirs.
    ("post /threads/prune", lambda scene: to("/threads/prune", {"thread_ids": [scene.hosted()]}), ANYBODY),
    ("post /threads/{thread_id}/copy", on_new("/copy", {}), DRIVE),
    ("get /threads/{thread_id}/stream", at("/stream"), SEE),
    (EVENTS, at("/stream/events", {"channels": ["input"]}), SEE),
    # Whether it was obeyed is said in the body.
    (COMMANDS, lambda _: to(f"/threads/{uuid.uuid4()}/commands", command("run.start", INPUT)), ANYBODY),
]


def served() -> set[str]:
    """Every route of the face; the WebSocket is tried where its protocol is."""
    routers = (part.router for part in (assistants, threads, many, runs, thread_stream, protocol))
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    return {f"{method.lower()} {route.path}" for route in routes for method in route.methods or ()}
