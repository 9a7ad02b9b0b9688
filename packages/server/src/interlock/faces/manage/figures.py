"""Weekly figures: what was asked of people, how they answered, and how long they read."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from interlock.domain.figures import PersonFigures, WeekFigures
from interlock.faces.http.credentials import Caller
from interlock.faces.http.documented import problems
from interlock.faces.http.server_state import state_of
from interlock.services.requests import figures
from interlock_client import manage as wire

router = APIRouter(prefix="/api/v1", tags=["figures"])


@router.get("/figures", responses=problems(401))
async def weekly(
    request: Request, caller: Caller, weeks: Annotated[int, Query(ge=1, le=figures.MOST_WEEKS)] = 8
) -> wire.Figures:
    """The caller's own figures by week, and for admins everybody's."""
    report = await figures.weekly_figures(state_of(request).core, caller, weeks)
    people = [_person(one, report.names.get(one.person_id, one.person_id)) for one in report.people]
    return wire.Figures(people=people, whole=report.is_whole)


def _person(one: PersonFigures, name: str) -> wire.PersonFigures:
    return wire.PersonFigures(
        user_id=one.person_id,
        name=name,
        weeks=[_week(week) for week in one.weeks],
        reading=[wire.ReadingTime.model_validate(part, from_attributes=True) for part in one.reading],
    )


def _week(week: WeekFigures) -> wire.WeekFigures:
    return wire.WeekFigures(
        week=week.week.isoformat(),
        asks=week.asks,
        by_grant=week.by_grant,
        by_rule=week.by_rule,
        unanswered=week.unanswered,
        answers=week.answers,
        approvals=week.approvals,
        yes=week.yes,
        dwell_ms=week.dwell_ms,
        drills=week.drills,
        drills_caught=week.drills_caught,
        by_shadow=week.by_shadow,
        votes_contradicted=week.votes_contradicted,
    )
