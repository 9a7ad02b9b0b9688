"""What was decided, by whom and from where; and the agents with their tools."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request

from interlock.domain.risk import risk_of
from interlock.faces.http.credentials import Caller
from interlock.faces.http.cursors import cursor as cursor_at
from interlock.faces.http.cursors import read_cursor
from interlock.faces.http.documented import problems
from interlock.faces.http.locale import locale_of
from interlock.faces.http.server_state import state_of
from interlock.faces.inbox import views
from interlock.services.requests import history
from interlock.services.requests.history import DecisionQuery
from interlock_client import inbox as wire

router = APIRouter(prefix="/api/v1", tags=["inbox"])


@router.get("/history", responses=problems(401))
async def list_all(
    request: Request,
    caller: Caller,
    who: Annotated[str | None, Query(max_length=64)] = None,
    face: Annotated[str | None, Query(max_length=64)] = None,
    tool: Annotated[str | None, Query(max_length=200)] = None,
    outcome: Annotated[wire.Outcome | None, Query()] = None,
    since: Annotated[datetime | None, Query(alias="from")] = None,
    until: Annotated[datetime | None, Query(alias="to")] = None,
    cursor: Annotated[str | None, Query(max_length=500)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> wire.History:
    """What was settled on the conversations that the caller may see, the newest first."""
    query = DecisionQuery(who, face, tool, outcome, since, until)
    before = read_cursor(cursor) if cursor else None
    found, next_before = await history.list_decisions(state_of(request).core, caller, query, before, limit)
    views_of_page = [views.history_view(one, answer, locale_of(request)) for one, answer in found]
    entries = [wire.HistoryEntry.model_validate(one) for one in views_of_page]
    return wire.History(entries=entries, next_cursor=cursor_at(*next_before) if next_before else None)


@router.get("/agents", responses=problems(401))
async def agents(request: Request, _caller: Caller) -> wire.Agents:
    """The agents hosted here, with their tools and how risky each is held to be."""
    core = state_of(request).core
    risks = core.settings.risks
    entries = [
        wire.Agent(
            name=name,
            tools=[
                wire.Tool.model_validate(
                    {
                        "name": tool.name,
                        "description": tool.description,
                        "risk": risk_of(tool.risk, risks.get(tool.name), is_outside=False),
                        "args_schema": tool.schema,
                    }
                )
                for tool in core.agents.tools_of(name)
            ],
        )
        for name in core.agents.names
    ]
    return wire.Agents(agents=entries)
