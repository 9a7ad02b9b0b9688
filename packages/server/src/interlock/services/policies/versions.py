"""Policies: checked, saved, activated, and tried. For admins."""

from collections.abc import Sequence
from dataclasses import dataclass

from interlock import failpoints
from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.errors import Conflict, FieldError, Forbidden, InvalidInput, NotFound
from interlock.domain.policy import Activation, ConditionError, PolicyVersion
from interlock.domain.policy_document import PolicyDocument, Problem, is_usable, read
from interlock.domain.principal import Principal, Role
from interlock.ports.policies import ConditionEngine
from interlock.ports.store import Transaction
from interlock.services.core import Core, unit
from interlock.services.policies.deciding import engine_of, judge
from interlock.services.teams.routing import lack_of_people, lack_where_one_asks, unknown_candidates

LONGEST_NOTE = 1000
NO_ENGINE = "policies need the extra: install interlock-server[policies]"


@dataclass(frozen=True, slots=True)
class History:
    activation: Activation | None
    """The last one."""
    shadow: Activation | None
    versions: Sequence[PolicyVersion]


def check(core: Core, text: str) -> tuple[PolicyDocument, list[Problem]]:
    """The policy, and everything that is wrong with it: its form, its conditions, and its own tests."""
    engine = engine_in(core)
    document = read(text)
    problems = [*document.problems, *_conditions(engine, document)]
    if is_usable(problems):
        problems += _failed_tests(engine, document)
    return document, problems


async def check_with_people(core: Core, text: str) -> tuple[PolicyDocument, list[Problem]]:
    """As `check`, with the groups and the people whom the rules name: they may be nobody."""
    document, problems = check(core, text)
    async with core.store.snapshot() as tx:
        return document, [*problems, *await _people(core, tx, document)]


async def _people(core: Core, tx: Transaction, document: PolicyDocument) -> list[Problem]:
    problems: list[Problem] = []
    for rule in document.rules:
        if rule.terms is None:
            continue
        named = [*rule.terms.candidates, *(one for level in rule.terms.levels for one in level.candidates)]
        wrong = await unknown_candidates(tx, named)
        if not wrong and (lack := await lack_of_people(tx, rule.terms)):
            wrong = [lack]
        problems += [Problem(one, rule.line, rule.name) for one in wrong]
        if rule.terms.takes_another and not core.settings.with_accounts:
            message = "this server runs without accounts: two people cannot be told from one"
            problems.append(Problem(message, rule.line, rule.name))
        if not wrong and await lack_where_one_asks(tx, rule.terms):
            warning = "where one of those who are named asks, too few are left: name more people, or a level"
            problems.append(Problem(warning, rule.line, rule.name, is_warning=True))
        if rule.terms.levels and rule.terms.deadline is None:
            warning = "levels that come after the time that an ask names itself never open"
            problems.append(Problem(warning, rule.line, rule.name, is_warning=True))
    return problems


def _conditions(engine: ConditionEngine, document: PolicyDocument) -> list[Problem]:
    problems: list[Problem] = []
    for rule in document.rules:
        try:
            if rule.when.strip():
                engine.check(rule.when)
        except ConditionError as error:
            problems.append(Problem(f"when: {error}", rule.line, rule.name))
    return problems


def _failed_tests(engine: ConditionEngine, document: PolicyDocument) -> list[Problem]:
    problems: list[Problem] = []
    for number, test in enumerate(document.tests, 1):
        found = judge(engine, engine.name, document, test.facts)
        by = found.rule.name if found.rule else None
        people = found.rule.terms.people if found.rule and found.rule.terms else 1
        is_other = test.rule not in (None, by) or test.people not in (None, people)
        if found.ruling is not test.then or is_other:
            expected = test.then if test.rule is None else f"{test.then} by {test.rule}"
            got = found.ruling if by is None else f"{found.ruling} by {by}"
            if test.people is not None:
                expected, got = f"{expected} of {test.people}", f"{got} of {people}"
            failed = "".join(f"; {name} could not be evaluated: {reason}" for name, reason in found.errors)
            why = f"test {number} expects {expected}, and gets {got}{failed}"
            problems.append(Problem(why, test.line, test=number))
    return problems


async def save(core: Core, principal: Principal, text: str, note: str = "") -> tuple[PolicyVersion, list[Problem]]:
    """Keep a policy as the next version, with what its author is warned of; it counts only once it is activated."""
    admin_only(principal)
    if len(note) > LONGEST_NOTE:
        message = f"a note has {LONGEST_NOTE} characters at most"
        raise InvalidInput(message, [FieldError("note", "too_long", message)])
    warnings = _right((await check_with_people(core, text))[1])
    engine = engine_in(core)
    async with unit(core) as work:
        number = await work.tx.policies.last_number() + 1
        kind = f"{engine.name} {engine.version}"
        version = PolicyVersion(number, text, principal.id, principal.name, note, kind, work.now)
        if not await work.tx.policies.add(version):
            raise Conflict("somebody else saved a version at the same moment; try again")
        saved = {"version": number, "digest": version.digest, "note": note}
        await work.tx.audit.append(SERVER_CHAIN, principal, "policy.saved", saved, work.now)
    return version, warnings


async def activate(core: Core, principal: Principal, number: int | None, expected: int | None) -> Activation:
    """Have a version count from now on, or none. `Conflict` where another one than `expected` counts by now."""
    admin_only(principal)
    if number is not None:
        await check_again(core, number)
    async with unit(core) as work:
        before = await work.tx.policies.activation()
        active = before.number if before else None
        if active != expected:
            raise Conflict(
                f"{name_of_version(active)} counts by now, not {name_of_version(expected)}: look at it, then try again"
            )
        activation = Activation(before.step + 1 if before else 1, number, principal.name, work.now)
        if not await work.tx.policies.activate(activation):
            raise Conflict("somebody else activated a version at the same moment: look at it, then try again")
        changed = {"version": number, "before": active}
        await work.tx.audit.append(SERVER_CHAIN, principal, "policy.activated", changed, work.now)
        failpoints.hit("policy.activating")
    return activation


async def check_again(core: Core, number: int) -> None:
    """The engine may have changed since the version was saved. Before anything is locked: it compiles every rule."""
    async with core.store.snapshot() as tx:
        version = await tx.policies.get(number)
    if version is None:
        raise NotFound(f"there is no version {number}")
    if engine_of(version) != engine_in(core).name:
        raise Conflict(f"version {number} was written for {version.engine}: save its text again, and look at its tests")
    document = check_right(core, version.text)
    async with core.store.snapshot() as tx:
        _right(await _people(core, tx, document))


async def history(core: Core, principal: Principal, *, limit: int = 50, before: int | None = None) -> History:
    admin_only(principal)
    async with core.store.snapshot() as tx:
        activation, shadow = await tx.policies.activation(), await tx.policies.shadow()
        versions = await tx.policies.versions(limit, before)
    return History(activation, shadow, versions)


async def version_of(core: Core, principal: Principal, number: int) -> PolicyVersion:
    admin_only(principal)
    async with core.store.snapshot() as tx:
        version = await tx.policies.get(number)
    if version is None:
        raise NotFound(f"there is no version {number}")
    return version


def check_right(core: Core, text: str) -> PolicyDocument:
    """The policy; `InvalidInput` names everything that is wrong with it."""
    document, problems = check(core, text)
    _right(problems)
    return document


def _right(problems: Sequence[Problem]) -> list[Problem]:
    """The warnings, where nothing else is among them."""
    if wrong := [problem for problem in problems if not problem.is_warning]:
        raise InvalidInput("the policy cannot be used", [_field(problem) for problem in wrong])
    return list(problems)


def engine_in(core: Core) -> ConditionEngine:
    if core.conditions is None:
        raise InvalidInput(NO_ENGINE)
    return core.conditions


def admin_only(principal: Principal) -> None:
    if principal.role is not Role.ADMIN:
        raise Forbidden("policies are for admins")


def name_of_version(number: int | None) -> str:
    return "no version" if number is None else f"version {number}"


def _field(problem: Problem) -> FieldError:
    place = "text" if problem.line is None else f"text, line {problem.line}"
    message = problem.message if problem.rule is None else f"{problem.rule}: {problem.message}"
    return FieldError(place, "invalid_policy", message)
