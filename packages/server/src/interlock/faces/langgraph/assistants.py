"""`/ok`, `/info`, and the agents hosted here as assistants, which nobody makes or changes over this interface."""

import importlib.metadata
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interlock import __version__
from interlock.domain.json_value import JsonObject
from interlock.domain.thread_metadata import contains
from interlock.faces.http.credentials import Caller
from interlock.faces.http.lenient_json import LenientJSONResponse
from interlock.faces.http.server_state import state_of
from interlock.faces.langgraph.errors import Refusal, not_found
from interlock.faces.langgraph.fields import (
    Fields,
    body_of,
    choice_of,
    is_on,
    not_offered,
    number_of,
    object_of,
    query_of,
    text_of,
    texts_of,
)
from interlock.faces.langgraph.scene import Scene
from interlock.faces.langgraph.views import assistant, assistant_id, page_headers, select_fields
from interlock.ports.agents import GraphSchemas

router = APIRouter(include_in_schema=False)

FIXED = "assistants are the agents hosted here: they are named when the server starts"


@router.get("/ok")
async def ok() -> Response:
    return LenientJSONResponse({"ok": True})


@router.get("/info")
async def info() -> Response:
    flags = {"assistants": True, "crons": False, "langsmith": False, "strict_resume": True}
    return LenientJSONResponse(
        {
            "version": __version__,
            "langgraph_py_version": importlib.metadata.version("langgraph"),
            "flags": flags,
            "host": {"kind": "self-hosted", "project_id": None},
        }
    )


@router.post("/assistants/search")
async def search(request: Request, caller: Caller) -> Response:
    body = await body_of(request)
    limit, offset = number_of(body, "limit", 10, 1, 1000), number_of(body, "offset", 0, 0, 1_000_000)
    sort_by = choice_of(body, "sort_by", "created_at", "assistant_id", "graph_id", "name", "created_at", "updated_at")
    found = sorted(_find(request, body), key=lambda one: one[sort_by])
    if choice_of(body, "sort_order", "asc", "asc", "desc") == "desc":
        found.reverse()
    page = [select_fields(one, texts_of(body, "select")) for one in found[offset : offset + limit]]
    return LenientJSONResponse(page, headers=page_headers(offset, len(page), has_more=len(found) > offset + limit))


@router.post("/assistants/count")
async def count(request: Request, caller: Caller) -> Response:
    return LenientJSONResponse(len(_find(request, await body_of(request))))


@router.post("/assistants")
async def make(request: Request, caller: Caller) -> Response:
    raise not_offered(FIXED)


@router.get("/assistants/{named}")
async def get(request: Request, caller: Caller, named: str) -> Response:
    return LenientJSONResponse(_view(request, _agent(request, caller, named)))


@router.patch("/assistants/{named}")
@router.delete("/assistants/{named}")
@router.post("/assistants/{named}/latest")
async def change(request: Request, caller: Caller, named: str) -> Response:
    raise not_offered(FIXED)


@router.post("/assistants/{named}/versions")
async def versions(request: Request, caller: Caller, named: str) -> Response:
    return LenientJSONResponse([_view(request, _agent(request, caller, named))])


@router.get("/assistants/{named}/schemas")
async def schemas(request: Request, caller: Caller, named: str) -> Response:
    agent = _agent(request, caller, named)
    return LenientJSONResponse({"graph_id": agent, **_schemas(state_of(request).core.agents.schemas(agent))})


@router.get("/assistants/{named}/graph")
async def graph(request: Request, caller: Caller, named: str) -> Response:
    xray: Any = query_of(request).get("xray", False)
    depth = xray if isinstance(xray, int) and xray > 1 else is_on(xray)
    return LenientJSONResponse(state_of(request).core.agents.drawing(_agent(request, caller, named), depth))


@router.get("/assistants/{named}/subgraphs")
@router.get("/assistants/{named}/subgraphs/{space}")
async def subgraphs(request: Request, caller: Caller, named: str, space: str | None = None) -> Response:
    agents, recurse = state_of(request).core.agents, is_on(query_of(request).get("recurse"))
    found = agents.inner_schemas(_agent(request, caller, named), space, recurse=recurse)
    return LenientJSONResponse({name: _schemas(one) for name, one in found.items()})


def _schemas(schemas: GraphSchemas) -> JsonObject:
    return {
        "input_schema": schemas.input,
        "output_schema": schemas.output,
        "state_schema": schemas.state,
        "config_schema": schemas.config,
        "context_schema": schemas.context,
    }


def _agent(request: Request, caller: Caller, named: str) -> str:
    try:
        return Scene(request, caller).agent(named)
    except Refusal as error:
        raise not_found("assistant") from error


def _view(request: Request, agent: str) -> JsonObject:
    return assistant(agent, state_of(request).started_at)


def _find(request: Request, body: Fields) -> list[JsonObject]:
    graph_id, name, metadata = text_of(body, "graph_id"), text_of(body, "name"), object_of(body, "metadata")
    wanted_id = text_of(body, "assistant_id")
    return [
        view
        for agent in state_of(request).core.agents.names
        if graph_id in (None, agent, assistant_id(agent))
        and (name is None or name.lower() in agent.lower())
        and wanted_id in (None, assistant_id(agent))
        and contains((view := _view(request, agent))["metadata"], metadata or {})
    ]
