"""Steps: the names that requests have on this face. They are computed from the session's log, and never stored."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interlock.domain.request import Request, RequestKind, described

_SPELLING = re.compile(r"step_([0-9]{1,18})_(?:[0-9]+_)?confirm_", re.ASCII)


@dataclass(frozen=True, slots=True)
class Step:
    id: str
    asked: Mapping[str, Any]
    """The request as events tell of it."""

    @property
    def kind(self) -> RequestKind:
        return RequestKind(self.asked["kind"])

    @property
    def body(self) -> Mapping[str, Any]:
        return self.asked["body"]

    @property
    def tool(self) -> str:
        return tool_of(self.kind, self.body)

    @property
    def seconds(self) -> float | int | None:
        """Its time, whole seconds as a whole number."""
        timeout: float | None = self.asked["timeout_seconds"]
        return int(timeout) if timeout is not None and float(timeout).is_integer() else timeout


def tool_of(kind: RequestKind, body: Mapping[str, Any]) -> str:
    """What is to be confirmed: a tool, or, where something is asked, what kind of thing."""
    return body["tool_name"] if kind is RequestKind.APPROVAL else kind


def told_step(opened_seq: int, position: int, asked: Mapping[str, Any]) -> Step:
    """Of a request as the event of its pause tells of it, at that place among the others."""
    among = f"_{position}" if position else ""
    tool = tool_of(RequestKind(asked["kind"]), asked["body"])
    return Step(f"step_{opened_seq}{among}_confirm_{tool}", asked)


def step_of(opened_seq: int, request: Request) -> Step:
    return told_step(opened_seq, request.position, described(request))


def opened_seq_of(step_id: str) -> int | None:
    """The number of the event behind it, where it could be a step at all; its whole spelling says whether it is one."""
    found = _SPELLING.match(step_id)
    return int(found[1]) if found else None
