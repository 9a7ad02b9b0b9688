"""Grants and saved values: what an answer leaves behind for later asks, and how it is listed and taken back."""

from collections.abc import Mapping
from dataclasses import dataclass

from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.errors import FieldError, Forbidden, InvalidAnswer, NotFound
from interlock.domain.grant import Grant, GrantDuration, GrantScope, Remember, ceiling_of
from interlock.domain.ids import new_id
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody, EnvVarBody, Value
from interlock.domain.principal import Principal, Role
from interlock.domain.request import Request
from interlock.domain.saved_secret import SavedSecret
from interlock.services.core import Core, Unit, unit


@dataclass(frozen=True, slots=True)
class ListedGrant:
    grant: Grant
    owner: str
    """The name of whom it stands for."""


async def list_grants(core: Core, principal: Principal, *, everybody: bool = False) -> list[ListedGrant]:
    """What stands for the caller's threads and what they gave for others', the newest first; for an admin all of it."""
    async with core.store.snapshot() as tx:
        found = await tx.grants.of_person(_owner_filter(principal, everybody=everybody))
        owners = await tx.users.names_of({grant.owner_id for grant in found})
    return [ListedGrant(grant, owners.get(grant.owner_id, "")) for grant in found]


async def revoke_grant(core: Core, principal: Principal, grant_id: str) -> Grant:
    """End a grant: what is asked from then on is put to a person. Its owner, its giver and admins may."""
    async with unit(core) as work:
        grant = await work.tx.grants.get(grant_id)
        if grant is None or not _may_manage(principal, grant.owner_id, grant.by_id):
            raise NotFound("there is no such grant")
        if await work.tx.grants.revoke(grant_id, principal.name, work.now):
            revoked = {"grant_id": grant_id, "request_id": grant.request_id, "owner_id": grant.owner_id}
            revoked |= {"granted_by": grant.by_name}
            await work.tx.audit.append(SERVER_CHAIN, principal, "grant.revoked", revoked, work.now)
    return grant


async def list_saved_values(core: Core, principal: Principal, *, everybody: bool = False) -> list[SavedSecret]:
    """What is saved for the caller: names, never values."""
    async with core.store.snapshot() as tx:
        return await tx.saved_secrets.of_owner(_owner_filter(principal, everybody=everybody))


async def delete_saved_value(core: Core, principal: Principal, secret_id: str) -> SavedSecret:
    async with unit(core) as work:
        saved = await work.tx.saved_secrets.get(secret_id)
        if saved is None or not _may_manage(principal, saved.owner_id):
            raise NotFound("there is no such saved value")
        await work.tx.saved_secrets.delete(secret_id)
        deleted = {"secret_id": secret_id, "agent": saved.agent, "name": saved.name}
        await work.tx.audit.append(SERVER_CHAIN, principal, "secret.deleted", deleted, work.now)
    return saved


def _owner_filter(principal: Principal, *, everybody: bool) -> str | None:
    if principal.is_agent:
        raise Forbidden("an agent's key may not look at grants and saved values")
    if everybody and principal.role is not Role.ADMIN:
        raise Forbidden("only an admin sees what is others'")
    return None if everybody else principal.id


def _may_manage(principal: Principal, *owner_ids: str) -> bool:
    return not principal.is_agent and (principal.role is Role.ADMIN or principal.id in owner_ids)


def check_remember(request: Request, value: Value, how: Remember) -> None:
    """Raise `InvalidAnswer` for an answer that cannot be remembered."""
    if not isinstance(request.body, ApprovalBody) or not request.body.allow_remember:
        raise _error("remember", "not_allowed", "this request may not be remembered")
    if not isinstance(value, ApprovalAnswer) or value.decision not in ("accept", "reject"):
        raise _error("remember", "not_allowed", "only a plain yes or no can be remembered")
    bound = request.toolset if how.scope is GrantScope.ALL_TOOLS else request.definition
    if bound is None or (how.scope is GrantScope.THIS_ACTION and request.digest is None):
        raise _error("scope", "not_allowed", f"nothing is known by which {how.scope} could be told again")
    _check_high_risk(value, how)


def _check_high_risk(value: ApprovalAnswer, how: Remember) -> None:
    if not how.also_high_risk:
        return
    if value.decision != "accept" or how.scope is GrantScope.THIS_ACTION:
        message = "also_high_risk goes with a yes for this_tool or all_tools"
        raise _error("also_high_risk", "not_allowed", message)
    if not how.confirm_high_risk:
        message = "calls of high risk would run and nobody be asked: confirm that with confirm_high_risk: true"
        raise _error("confirm_high_risk", "missing", message)


def _error(field: str, code: str, message: str) -> InvalidAnswer:
    return InvalidAnswer(message, [FieldError(field, code, message)])


async def remember(work: Unit, request: Request, by: Principal, value: Value, how: Remember) -> Grant | None:
    """Keep the answer as a grant, in the transaction that gives it. `once` keeps nothing."""
    if how.duration is GrantDuration.ONCE:
        return None
    is_all = how.scope is GrantScope.ALL_TOOLS
    definition = request.toolset if is_all else request.definition
    assert definition is not None
    grant = Grant(
        new_id("grant"),
        request.owner_id,
        request.agent,
        how.scope,
        definition,
        isinstance(value, ApprovalAnswer) and value.decision == "accept",
        by.id,
        by.name,
        request.id,
        work.now,
        thread_id=request.thread_id if how.duration is GrantDuration.SESSION else None,
        tool=None if is_all else request.tool,
        action=request.digest if how.scope is GrantScope.THIS_ACTION else None,
        ceiling=ceiling_of(request, how),
    )
    same = await _same(work, grant)
    if same is not None:
        return same
    await work.tx.grants.add(grant)
    return grant


async def _same(work: Unit, grant: Grant) -> Grant | None:
    """A grant that says just this already; said again by somebody else it is another one."""
    meant = ("thread_id", "scope", "tool", "action", "definition", "allow", "by_id", "ceiling")
    for live in await work.tx.grants.live(grant.owner_id, grant.agent):
        if all(getattr(live, name) == getattr(grant, name) for name in meant):
            return live
    return None


async def save_values(work: Unit, request: Request, body: EnvVarBody, by: Principal, values: Mapping[str, str]) -> None:
    """Keep the values for the next ask of the same owner and agent; of one that runs elsewhere, with the same key."""
    thread = await work.tx.threads.get(request.thread_id)
    assert thread is not None
    # In one order, so that two answers that save the same names do not wait for each other.
    for name, value in sorted(values.items()):
        saved = SavedSecret(
            new_id("saved"),
            request.owner_id,
            request.agent,
            name,
            name in body.sensitive,
            request.id,
            by.name,
            work.now,
            work.now,
            asker_id=thread.asker_id,
        )
        await work.tx.saved_secrets.put(saved, value)
