"""What a notice may show, and what may be answered from where it is read.

Stopping is possible wherever a channel takes an answer; starting something only where the whole of it was in view. What
is not offered here is done on the request's own page, to which every notice leads. The link decides nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from interlock.domain.channel import Abilities, Channel, Shows
from interlock.domain.json_value import ABSENT, JsonObject, JsonValue
from interlock.domain.kinds import ApprovalBody, ClarificationBody, DecisionBody
from interlock.domain.request import Request
from interlock.domain.risk import is_within
from interlock.domain.showing import render
from interlock.domain.visible import visible

MOST_OPTIONS = 5
LONGEST_OPTION = 40
CEILINGS = ("low", "medium")
"""Of what an operator may allow; nothing riskier is ever approved from a chat."""


class Act(StrEnum):
    OPEN = "open"
    REFUSE = "refuse"
    APPROVE = "approve"
    CHOOSE = "choose"


@dataclass(frozen=True, slots=True)
class Offer:
    act: Act
    option: str = ""
    """With `choose`: the option's key, or the answer itself."""
    label: str = ""

    @property
    def value(self) -> JsonObject:
        """The answer that it stands for. There is none with edits, variables, or anything that is remembered."""
        match self.act:
            case Act.APPROVE:
                return {"decision": "accept"}
            case Act.REFUSE:
                return {"decision": "reject"}
            case Act.CHOOSE:
                return {"decision": self.option} if self.label else {"answer": self.option}
            case Act.OPEN:
                raise ValueError("opening a request answers nothing")


def whole_text(request: Request) -> str:
    """What would run, or what is asked, to the end."""
    body = request.body
    if isinstance(body, ApprovalBody):
        view = render(request)
        return "\n".join([body.tool_name, *view.lines, *view.rest, *view.details])
    return body.with_details(body.headline)


def shown_text(request: Request, channel: Channel, abilities: Abilities) -> str | None:
    """The whole of it with what is hidden written out, or nothing: a part would look like the whole."""
    if channel.shows is not Shows.FULL:
        return None
    text = visible(whole_text(request))
    return text if len(text) <= abilities.longest_text else None


def offers(request: Request, channel: Channel, abilities: Abilities) -> tuple[Offer, ...]:
    """What may be done from a notice of it, opening first."""
    if not abilities.taps:
        return (Offer(Act.OPEN),)
    if isinstance(request.body, ApprovalBody):
        yes = (Offer(Act.APPROVE),) if may_be_approved(request, channel, abilities) else ()
        return (Offer(Act.OPEN), *yes, Offer(Act.REFUSE))
    if shown_text(request, channel, abilities) is None or request.routing is not None:
        return (Offer(Act.OPEN),)
    return (Offer(Act.OPEN), *_options(request))


def may_be_approved(request: Request, channel: Channel, abilities: Abilities) -> bool:
    body, terms = request.body, request.routing.terms if request.routing else None
    if not isinstance(body, ApprovalBody) or request.is_in_doubt or not body.takes("accept"):
        return False
    if terms is not None and (terms.code or terms.is_vote):
        return False
    return (
        is_within(request.risk, _ceiling(channel))
        and shown_text(request, channel, abilities) is not None
        and not has_hidden([body.tool_name, dict(body.args)])
        and request.file is None
        and body.preview is None
        and body.details is ABSENT
    )


def has_hidden(value: JsonValue) -> bool:
    """Whether anything in it would have to be written out to be seen; JSON does that for some of it."""
    if isinstance(value, str):
        return visible(value, keep="\n\t") != value
    if isinstance(value, Mapping):
        return any(has_hidden(one) for pair in cast("JsonObject", value).items() for one in pair)
    return isinstance(value, list) and any(has_hidden(one) for one in cast("list[JsonValue]", value))


def _ceiling(channel: Channel) -> str:
    """Whatever is in the database: nothing above `medium`."""
    return channel.ceiling if channel.ceiling in CEILINGS else CEILINGS[0]


def _options(request: Request) -> tuple[Offer, ...]:
    """All of them or none: a list that was cut would look like all there is. A dangerous one is never among them."""
    body = request.body
    if isinstance(body, DecisionBody):
        found = [(one.key, one.label, one.is_dangerous) for one in body.options]
    elif isinstance(body, ClarificationBody) and not body.free:
        found = [(one, "", False) for one in body.options]
    else:
        return ()
    seen = [label or option for option, label, _ in found]
    fits = all(len(one) <= LONGEST_OPTION and visible(one, keep="") == one for one in seen)
    if len(found) > MOST_OPTIONS or not fits or len(set(seen)) != len(seen):
        return ()
    return tuple(Offer(Act.CHOOSE, option, label) for option, label, is_dangerous in found if not is_dangerous)
