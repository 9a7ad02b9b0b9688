"""A version in shadow: its word is recorded beside the one that counts, and nothing else comes of it."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.errors import Conflict, NotFound
from interlock.domain.policy import Activation, Decision, Facts, Ruling, ShadowCell, ShadowSample, ShadowWord, Word
from interlock.domain.principal import Principal
from interlock.domain.request import Request
from interlock.domain.thread import Thread
from interlock.services.core import Core, Unit, unit
from interlock.services.policies.deciding import decision_of, facts_of
from interlock.services.policies.versions import admin_only, check_again, name_of_version

MOST_SAMPLES = 20

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ShadowReport:
    version: int
    is_on: bool
    cells: Sequence[tuple[ShadowCell, Sequence[ShadowSample]]]
    """Where the two differ first, and among those what would be allowed; samples of those alone."""


async def change_shadow(core: Core, principal: Principal, number: int | None, expected: int | None) -> Activation:
    """Put a version in shadow in place of `expected`, or none. `Conflict` where another one is by now."""
    admin_only(principal)
    if number is not None:
        await check_again(core, number)
    async with unit(core) as work:
        before = await work.tx.policies.shadow()
        present = before.number if before else None
        if present != expected:
            message = f"{name_of_version(present)} is in shadow by now, not {name_of_version(expected)}"
            raise Conflict(f"{message}: look at it, then try again")
        change = Activation(before.step + 1 if before else 1, number, principal.name, work.now)
        if not await work.tx.policies.change_shadow(change):
            raise Conflict("somebody else put a version in shadow at the same moment: look at it, then try again")
        changed = {"version": number, "before": present}
        await work.tx.audit.append(SERVER_CHAIN, principal, "policy.shadowed", changed, work.now)
    return change


async def record_word(work: Unit, thread: Thread, request: Request) -> None:
    """What the version in shadow would say of an ask, if there is one. Whatever goes wrong in it is its own affair."""
    shadow = await work.tx.policies.shadow()
    if shadow is None or shadow.number is None or not request.is_judged:
        return
    activation = await work.tx.policies.activation()
    active = activation.number if activation else None
    facts = await facts_of(work.tx, thread, request)
    found = await _decision(work, shadow.number, request, facts)
    counting = await _decision(work, active, request, facts)
    word = ShadowWord(
        shadow.number,
        request.id,
        request.thread_id,
        _word(found),
        bool(found.errors),
        active,
        _word(counting),
        work.now,
    )
    await work.tx.policies.add_word(word)


async def _decision(work: Unit, number: int | None, request: Request, facts: Facts) -> Decision:
    core = work.core
    try:
        return await decision_of(core.conditions, core.policy_cache, work.tx, number, request, facts)
    except Exception:
        # Such as a text that a newer server saved. It asks, as everything does that cannot be evaluated.
        log.exception("version %s of the policy cannot be evaluated", number)
        return Decision(Ruling.ASK, errors=(("", "it cannot be evaluated"),))


def _word(decision: Decision) -> Word:
    return Word(decision.ruling, decision.rule.name if decision.rule else None)


async def report(core: Core, principal: Principal, number: int) -> ShadowReport:
    admin_only(principal)
    async with core.store.snapshot() as tx:
        if await tx.policies.get(number) is None:
            raise NotFound(f"there is no version {number}")
        shadow = await tx.policies.shadow()
        cells = sorted(await tx.policies.shadow_cells(number), key=_place)
        samples = [
            await tx.policies.shadow_samples(number, cell, MOST_SAMPLES) if cell.differs else () for cell in cells
        ]
    is_on = shadow is not None and shadow.number == number
    return ShadowReport(number, is_on, list(zip(cells, samples, strict=True)))


def _place(cell: ShadowCell) -> tuple[bool, bool, int]:
    return not cell.differs, cell.shadow is not Ruling.ALLOW, -cell.count
