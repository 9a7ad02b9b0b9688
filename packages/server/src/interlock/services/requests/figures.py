"""Weekly figures: one's own, and for admins everybody's."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from interlock.domain.errors import Forbidden, InvalidInput
from interlock.domain.figures import PersonFigures, SettledAsk, figures, start_of, weeks_until, with_drills, with_votes
from interlock.domain.principal import Principal, Role
from interlock.domain.request import AnswerOrigin
from interlock.services.core import Core

MOST_WEEKS = 26
MOST_COUNTED = 10_000
"""However many requests ended in these weeks, no more of them are counted; the last ones are."""
MOST_PEOPLE = 200


@dataclass(frozen=True, slots=True)
class Report:
    weeks: Sequence[date]
    people: Sequence[PersonFigures]
    names: Mapping[str, str]
    is_whole: bool
    """Whether everything of these weeks was counted, and of everybody."""


async def weekly_figures(core: Core, principal: Principal, count: int) -> Report:
    if principal.is_agent:
        raise Forbidden("an agent's key may not look at what people decided")
    if not 1 <= count <= MOST_WEEKS:
        raise InvalidInput(f"weeks is 1 to {MOST_WEEKS}")
    weeks = weeks_until(core.clock.now(), count)
    everybody = principal.role is Role.ADMIN
    async with core.store.snapshot() as tx:
        person_id = None if everybody else principal.id
        rows = await tx.requests.settled_asks(start_of(weeks[0]), person_id, MOST_COUNTED)
        votes = await tx.routes.settled_votes(start_of(weeks[0]), person_id, MOST_COUNTED)
        answerers = {row.by_id for row in rows if row.by_id and row.origin is AnswerOrigin.PERSON}
        answerers |= {vote.person_id for vote in votes}
        ids = {principal.id, *({row.owner_id for row in rows} | answerers if everybody else ())}
        drills = await tx.drills.settled_since(start_of(weeks[0]), person_id)
        names = await tx.users.names_of(ids)
    # Oneself first, then by name; who is deleted by now has no name to be called by.
    people = sorted(ids, key=lambda one: (one != principal.id, names.get(one, one)))
    concerning: defaultdict[str, list[SettledAsk]] = defaultdict(list[SettledAsk])
    for row in rows:
        for one in {row.owner_id, row.by_id or row.owner_id}:
            concerning[one].append(row)
    by_person: list[PersonFigures] = []
    for one in people[:MOST_PEOPLE]:
        own = [(drill.settled_at, drill.is_caught) for drill in drills if drill.person_id == one and drill.settled_at]
        by_person.append(with_votes(with_drills(figures(one, weeks, concerning[one]), own), votes))
        # Others may want something meanwhile.
        await asyncio.sleep(0)
    is_whole = max(len(rows), len(votes)) < MOST_COUNTED and len(people) <= MOST_PEOPLE
    return Report(weeks, by_person, {principal.id: principal.name, **names}, is_whole)
