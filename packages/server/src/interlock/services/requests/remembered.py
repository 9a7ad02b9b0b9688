"""What an answer leaves behind for later asks: a remembered permission, a saved value."""

from collections.abc import Mapping

from interlock.domain.errors import FieldError, InvalidAnswer
from interlock.domain.grant import Grant, GrantDuration, GrantScope, Remember, ceiling_of
from interlock.domain.ids import new_id
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody, EnvVarBody, Value
from interlock.domain.principal import Principal
from interlock.domain.request import Request
from interlock.domain.saved_secret import SavedSecret
from interlock.services.core import Unit


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
