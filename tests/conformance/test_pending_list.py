"""The list of what is pending, held against a plain filter over the same rows."""

import uuid
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.domain.kinds import RequestKind
from interlock.domain.principal import review_key
from interlock.domain.request import Request, RequestStatus
from interlock.domain.team import Candidate
from interlock.domain.terms import EVERYBODY, Routing, Step, Terms
from interlock.ports.filters import PendingFilter
from interlock.ports.store import Store
from tests.conformance.examples import AT, a_body, a_pause, a_request, a_thread, after

OWNERS, AGENTS, RISKS = ["u-ann", "u-bob"], ["demo", "other", "third"], ["low", "high"]
WHO = ["group:a", "group:b", "person:u-ann"]
KINDS = [RequestKind.APPROVAL, RequestKind.CLARIFICATION, RequestKind.ENV_VAR]
Claim = tuple[str, datetime]
"""By whom, and until when."""
moments = st.integers(0, 4).map(lambda seconds: after(seconds))
rows = st.fixed_dictionaries(
    {
        "owner": st.sampled_from(OWNERS),
        "agent": st.sampled_from(AGENTS),
        "asker": st.sampled_from([None, "key_1"]),
        "kind": st.sampled_from(KINDS),
        "risk": st.sampled_from(RISKS),
        "at": moments,
        "deadline": st.one_of(st.none(), moments),
        "settled": st.sampled_from([False, False, False, True]),
        "put": st.sets(st.sampled_from([*WHO, EVERYBODY])),
        "claim": st.one_of(st.none(), st.tuples(st.sampled_from(OWNERS), moments)),
    }
)
maybe = st.one_of
filters = st.builds(
    PendingFilter,
    asker_id=st.sampled_from([None, None, "key_1"]),
    kinds=maybe(st.none(), st.lists(st.sampled_from(KINDS), min_size=1).map(tuple)),
    agent=maybe(st.none(), st.sampled_from(AGENTS)),
    risk=maybe(st.none(), st.sampled_from(RISKS)),
    created_after=maybe(st.none(), moments),
    created_before=maybe(st.none(), moments),
    closing_before=maybe(st.none(), moments),
    claimed_by=st.sampled_from([None, None, "u-ann"]),
    claimed_at=moments,
)
reviews = st.builds(review_key, st.sampled_from(OWNERS), st.sampled_from(AGENTS), st.sampled_from([None, "key_1"]))
sights = maybe(
    st.just(dict[str, Any]()),
    st.fixed_dictionaries(
        {
            "owner_id": st.sampled_from(OWNERS),
            "reviews": st.lists(reviews).map(tuple),
            "candidacies": st.lists(st.sampled_from(WHO), unique=True).map(tuple),
            "is_for_anybody": st.booleans(),
        }
    ),
    st.fixed_dictionaries(
        {"candidacies": st.sampled_from(WHO).map(lambda one: (one,)), "only_candidacies": st.just(True)}
    ),
)


def is_wanted(request: Request, asker: str | None, claim: Claim | None, wanted: PendingFilter) -> bool:
    """The filter's words, one after the other."""
    put = request.routing.terms.candidates if request.routing else (EVERYBODY,)
    is_put = not set(put).isdisjoint(wanted.candidacies)
    is_own = wanted.owner_id in (None, request.owner_id) or _is_reviewed(request, asker, wanted)
    is_own = is_own and not wanted.only_candidacies and (wanted.is_for_anybody or EVERYBODY in put)
    return (
        request.status is RequestStatus.PENDING
        and (is_own or is_put)
        and (wanted.asker_id is None or asker == wanted.asker_id)
        and (wanted.kinds is None or request.kind in wanted.kinds)
        and (wanted.agent is None or request.agent == wanted.agent)
        and (wanted.risk is None or request.risk == wanted.risk)
        and (wanted.created_after is None or request.created_at >= wanted.created_after)
        and (wanted.created_before is None or request.created_at <= wanted.created_before)
        and (wanted.closing_before is None or _closes(request, wanted.closing_before))
        and (wanted.claimed_by is None or _has_claimed(claim, wanted))
    )


def _is_reviewed(request: Request, asker: str | None, wanted: PendingFilter) -> bool:
    return review_key(request.owner_id, request.agent, asker) in wanted.reviews


def _has_claimed(claim: Claim | None, wanted: PendingFilter) -> bool:
    return claim is not None and claim[0] == wanted.claimed_by and claim[1] > (wanted.claimed_at or AT)


def _closes(request: Request, until: datetime) -> bool:
    return request.deadline is not None and request.deadline <= until


async def _add(store: Store, given_rows: list[dict[str, Any]]) -> list[tuple[Request, str | None, Claim | None]]:
    added: list[tuple[Request, str | None, Claim | None]] = []
    async with store.transaction() as tx:
        for row in given_rows:
            name = uuid.uuid4().hex
            await tx.threads.add(a_thread(name, owner_id=row["owner"], agent=row["agent"], asker_id=row["asker"]))
            request = a_request(
                f"r_{name}",
                f"p_{name}",
                thread_id=name,
                owner_id=row["owner"],
                agent=row["agent"],
                body=a_body(row["kind"], row["risk"]),
                created_at=row["at"],
                deadline=row["deadline"],
                routing=Routing(Terms((Step(tuple(sorted(row["put"]))),))) if row["put"] else None,
            )
            await tx.pauses.add(a_pause(f"p_{name}", name), [request])
            await tx.routes.add([Candidate(request.id, one, 0, request.created_at) for one in row["put"]])
            if row["claim"]:
                assert await tx.routes.claim(request.id, row["claim"][0], AT, row["claim"][1])
            if row["settled"]:
                await tx.requests.settle(request.id, RequestStatus.ANSWERED, after(9))
                request = replace(request, status=RequestStatus.ANSWERED)
            added.append((request, row["asker"], row["claim"]))
    return added


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(rows, max_size=12), filters, sights, st.integers(1, 5))
async def test_what_is_pending_is_paged_as_a_plain_filter_would(
    store: Store, given_rows: list[dict[str, Any]], wanted: PendingFilter, sight: dict[str, Any], limit: int
) -> None:
    # The database is the same for every example: this one's rows have moments of their own.
    shift = timedelta(days=uuid.uuid4().int % 10**6)
    moved = [
        row | {"at": row["at"] + shift, "deadline": row["deadline"] and row["deadline"] + shift} for row in given_rows
    ]
    added = await _add(store, moved)
    wanted = replace(
        wanted,
        **sight,
        created_after=(wanted.created_after or AT) + shift,
        created_before=(wanted.created_before or after(4)) + shift,
        closing_before=wanted.closing_before and wanted.closing_before + shift,
    )
    expected = sorted(
        (request for request, asker, claim in added if is_wanted(request, asker, claim, wanted)),
        key=lambda request: (request.created_at, request.id),
    )
    seen: list[Request] = []
    async with store.snapshot() as tx:
        assert await tx.requests.count_pending(wanted, 1000) == len(expected)
        assert await tx.requests.count_pending(wanted, 2) == min(2, len(expected))
        while page := await tx.requests.page_pending(wanted, limit):
            assert len(page) <= limit
            seen += page
            wanted = replace(wanted, after=(page[-1].created_at, page[-1].id))
    assert [request.id for request in seen] == [request.id for request in expected]
