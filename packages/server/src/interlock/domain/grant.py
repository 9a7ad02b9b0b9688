"""A grant: a remembered permission. It holds exactly what the person who gave it meant, and nothing beyond.

It is bound to an owner and an agent, to one thread or all of them, to one action, one tool or all tools, and to the
definition that those tools had when it was given: a changed tool is asked about again. A permission has a ceiling: the
risk of the call that it was given on, unless its giver said, and confirmed, that it is for high risk too.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from interlock.domain.kinds import ApprovalBody
from interlock.domain.request import Request
from interlock.domain.risk import HIGH, LOWEST, is_within


class GrantScope(StrEnum):
    THIS_ACTION = "this_action"
    """The same tool with the same arguments."""
    THIS_TOOL = "this_tool"
    ALL_TOOLS = "all_tools"


class GrantDuration(StrEnum):
    ONCE = "once"
    SESSION = "session"
    """This thread."""
    FOREVER = "forever"


@dataclass(frozen=True, slots=True)
class Remember:
    """How much of an answer to an approval is to be remembered."""

    duration: GrantDuration
    scope: GrantScope
    also_high_risk: bool = False
    """A permission that also covers calls of high risk, though it is given on one of a lower."""
    confirm_high_risk: bool = False
    """That was asked about once more, and meant."""


@dataclass(frozen=True, slots=True)
class Grant:
    id: str
    owner_id: str
    agent: str
    scope: GrantScope
    definition: str
    """Of the tool, or of all tools together for a grant of all of them."""
    allow: bool
    by_id: str
    by_name: str
    request_id: str
    """The request whose answer was remembered."""
    created_at: datetime
    thread_id: str | None = None
    """None: on every thread of the owner with this agent."""
    tool: str | None = None
    action: str | None = None
    """The digest of the tool and arguments, for a grant of one action."""
    ceiling: str = LOWEST
    """The highest risk that a permission covers; a refusal holds whatever the risk."""
    revoked_at: datetime | None = None
    revoked_by: str | None = None
    uses: int = 0
    last_used_at: datetime | None = None

    @property
    def duration(self) -> GrantDuration:
        return GrantDuration.FOREVER if self.thread_id is None else GrantDuration.SESSION


def ceiling_of(request: Request, how: Remember) -> str:
    """How risky a call may be that the answer to this request stands for."""
    return HIGH if how.also_high_risk and is_within(request.risk, HIGH) else request.risk


def covers(grant: Grant, request: Request) -> bool:
    """Whether the grant speaks about what is asked: an approval that may be remembered at all, and is within it."""
    if not isinstance(request.body, ApprovalBody) or not request.body.allow_remember:
        return False
    if grant.revoked_at is not None or (grant.owner_id, grant.agent) != (request.owner_id, request.agent):
        return False
    is_elsewhere = grant.thread_id is not None and grant.thread_id != request.thread_id
    is_too_risky = grant.allow and not is_within(request.risk, grant.ceiling)
    if is_elsewhere or is_too_risky:
        return False
    match grant.scope:
        case GrantScope.THIS_ACTION:
            same = grant.action is not None and grant.action == request.digest
            return same and _is_tool(grant, request)
        case GrantScope.THIS_TOOL:
            return _is_tool(grant, request)
        case GrantScope.ALL_TOOLS:
            return request.toolset is not None and grant.definition == request.toolset


def _is_tool(grant: Grant, request: Request) -> bool:
    same_definition = request.definition is not None and grant.definition == request.definition
    return same_definition and grant.tool == request.tool


def deciding_grant(grants: Iterable[Grant], request: Request) -> Grant | None:
    """The grant that answers the request: a refusal before any permission, the oldest first."""
    found = [grant for grant in grants if covers(grant, request)]
    refusals = [grant for grant in found if not grant.allow]
    if refusals:
        return refusals[0]
    # A graph that takes no plain yes here is left to a person.
    takes_yes = isinstance(request.body, ApprovalBody) and request.body.takes("accept")
    return found[0] if found and takes_yes else None
