"""Steps: the names that requests have on this face. They are computed from the session's log, and never stored."""

import re
from dataclasses import dataclass

from interlock.domain.kinds import ApprovalBody, Body, RequestKind
from interlock.domain.request import PublicRequest, Request

_SPELLING = re.compile(r"step_([0-9]{1,18})_(?:[0-9]+_)?confirm_", re.ASCII)


@dataclass(frozen=True, slots=True)
class Step:
    id: str
    request: PublicRequest

    @property
    def kind(self) -> RequestKind:
        return self.request.body.kind

    @property
    def body(self) -> Body:
        return self.request.body

    @property
    def tool(self) -> str:
        return tool_of(self.body)

    @property
    def seconds(self) -> float | int | None:
        """Its time, whole seconds as a whole number."""
        timeout = self.request.timeout_seconds
        return int(timeout) if timeout is not None and float(timeout).is_integer() else timeout


def tool_of(body: Body) -> str:
    """What is to be confirmed: a tool, or, where something is asked, what kind of thing."""
    return body.tool_name if isinstance(body, ApprovalBody) else body.kind


def public_step(opened_seq: int, position: int, request: PublicRequest) -> Step:
    """Of a request as the event of its pause tells of it, at that place among the others."""
    among = f"_{position}" if position else ""
    return Step(f"step_{opened_seq}{among}_confirm_{tool_of(request.body)}", request)


def step_of(opened_seq: int, request: Request) -> Step:
    return public_step(opened_seq, request.position, PublicRequest.of(request))


def opened_seq_of(step_id: str) -> int | None:
    """The number of the event behind it, where it could be a step at all; its whole spelling says whether it is one."""
    found = _SPELLING.match(step_id)
    return int(found[1]) if found else None
