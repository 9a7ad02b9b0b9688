"""Policies: rules that say which asks need no person. For admins."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from interlock.domain.policy import Activation, Facts, PolicyVersion
from interlock.domain.policy_document import Problem, is_usable
from interlock.faces.http.credentials import Caller
from interlock.faces.http.documented import problems
from interlock.faces.http.server_state import state_of
from interlock.faces.shared.policies import decision_view
from interlock.services.policies import explaining, versions
from interlock.services.policies import replay as replays
from interlock.services.policies import shadow as shadows
from interlock_client import policy as wire

router = APIRouter(prefix="/api/v1/policy", tags=["policy"])

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
Before = Annotated[int | None, Query(ge=1, le=2**31 - 1, description="Only versions older than this one.")]


@router.get("", responses=problems(401))
async def history(
    request: Request, caller: Caller, before: Before = None, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> wire.PolicyHistory:
    """Which version counts, and all that were saved, the newest first."""
    core = state_of(request).core
    found = await versions.history(core, caller, limit=limit, before=before)
    return wire.PolicyHistory(
        engine=core.conditions.name if core.conditions else None,
        active=found.activation.number if found.activation else None,
        shadow=found.shadow.number if found.shadow else None,
        activated=_to_change(found.activation),
        shadowed=_to_change(found.shadow),
        versions=[_entry(version) for version in found.versions],
    )


@router.get("/versions/{number}", responses=problems(401, 404))
async def version(request: Request, caller: Caller, number: Number) -> wire.PolicyVersion:
    """A version with its text."""
    found = await versions.version_of(state_of(request).core, caller, number)
    return wire.PolicyVersion(**_entry(found).model_dump(), text=found.text)


@router.post("/check", responses=problems(401))
async def check(request: Request, caller: Caller, body: wire.PolicyText) -> wire.PolicyCheck:
    """Everything that is wrong with a policy: its form, its conditions, its own tests. Nothing is saved."""
    versions.admin_only(caller)
    document, found = await versions.check_with_people(state_of(request).core, body.text)
    return wire.PolicyCheck(
        rules=len(document.rules),
        tests=len(document.tests),
        usable=is_usable(found),
        problems=[_problem(problem) for problem in found],
    )


@router.post("/versions", responses=problems(401, 409))
async def save(request: Request, caller: Caller, body: wire.NewPolicyVersion) -> wire.SavedPolicyVersion:
    """Save a policy as the next version. It counts only once it is activated."""
    saved, warnings = await versions.save(state_of(request).core, caller, body.text, body.note)
    return wire.SavedPolicyVersion(**_entry(saved).model_dump(), problems=[_problem(one) for one in warnings])


@router.post("/versions/{number}/activate", responses=problems(401, 404, 409))
async def activate(request: Request, caller: Caller, number: Number, body: wire.PolicyChange) -> wire.ActivePolicy:
    """Have a version count for everything that is asked from now on; an older one again, too."""
    return _active(await versions.activate(state_of(request).core, caller, number, body.expected))


@router.post("/deactivate", responses=problems(401, 409))
async def deactivate(request: Request, caller: Caller, body: wire.PolicyChange) -> wire.ActivePolicy:
    """Have no version count: every ask is put to people again, or to their grants."""
    return _active(await versions.activate(state_of(request).core, caller, None, body.expected))


@router.post("/try", responses=problems(401))
async def try_facts(request: Request, caller: Caller, body: wire.PolicyTrial) -> wire.PolicyDecision:
    """What a policy says of facts that are given here. Nothing is written."""
    facts = Facts(**body.facts.model_dump())
    return wire.PolicyDecision(**decision_view(explaining.try_facts(state_of(request).core, caller, body.text, facts)))


@router.post("/versions/{number}/shadow", responses=problems(401, 404, 409))
async def shadow(request: Request, caller: Caller, number: Number, body: wire.PolicyShadowChange) -> wire.PolicyShadow:
    """Put a version in shadow: its word on every ask is recorded beside what counts, and changes nothing."""
    return _shadow(await shadows.change_shadow(state_of(request).core, caller, number, body.expected))


@router.post("/shadow/off", responses=problems(401, 409))
async def shadow_off(request: Request, caller: Caller, body: wire.PolicyShadowChange) -> wire.PolicyShadow:
    """Have no version in shadow. What was recorded stays."""
    return _shadow(await shadows.change_shadow(state_of(request).core, caller, None, body.expected))


@router.get("/versions/{number}/shadow", responses=problems(401, 404))
async def shadow_report(request: Request, caller: Caller, number: Number) -> wire.ShadowReport:
    """Where a version in shadow, and what counted, differ."""
    found = await shadows.report(state_of(request).core, caller, number)
    cells = [cell for cell, _ in found.cells]
    return wire.ShadowReport(
        version=found.version,
        on=found.is_on,
        since=min((cell.since for cell in cells), default=None),
        looked_at=sum(cell.count for cell in cells),
        differ=sum(cell.count for cell in cells if cell.differs),
        rows=[
            wire.ShadowRow(
                active=cell.active.value,
                shadow=cell.shadow.value,
                count=cell.count,
                failed=cell.failed,
                samples=[wire.ShadowSample.model_validate(one, from_attributes=True) for one in samples],
            )
            for cell, samples in found.cells
        ],
    )


@router.post("/replay", responses=problems(401))
async def replay(request: Request, caller: Caller, body: wire.PolicyReplay) -> wire.ReplayReport:
    """What a policy would have said of the requests on record. Nothing is written."""
    core = state_of(request).core
    report = await replays.replay(core, caller, body.text, since=body.since, limit=body.limit)
    return wire.ReplayReport(
        looked_at=report.looked_at,
        whole=report.is_whole,
        asks_saved=report.asks_saved,
        asks_added=report.asks_added,
        rows=[
            wire.ReplayRow(
                happened=happened,
                then=ruling.value,
                count=count,
                samples=[wire.ReplaySample.model_validate(one, from_attributes=True) for one in report.samples[cell]],
            )
            for cell, count in report.ordered()
            for happened, ruling in [cell]
        ],
        not_replayed=dict(report.not_replayed),
        errors=dict(report.errors),
    )


def _entry(version: PolicyVersion) -> wire.PolicyVersionEntry:
    return wire.PolicyVersionEntry(
        version=version.number,
        by=version.by_name,
        note=version.note,
        engine=version.engine,
        digest=version.digest,
        created_at=version.created_at,
    )


def _active(activation: Activation) -> wire.ActivePolicy:
    return wire.ActivePolicy(active=activation.number, by=activation.by_name, at=activation.at)


def _shadow(change: Activation) -> wire.PolicyShadow:
    return wire.PolicyShadow(shadow=change.number, by=change.by_name, at=change.at)


def _to_change(change: Activation | None) -> wire.PolicyChanged | None:
    return wire.PolicyChanged(by=change.by_name, at=change.at) if change else None


def _problem(problem: Problem) -> wire.PolicyProblem:
    return wire.PolicyProblem(
        message=problem.message,
        line=problem.line,
        rule=problem.rule,
        warning=problem.is_warning,
        test=problem.test,
    )
