"""What asks give back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ApprovalDecision = Literal["accept", "reject", "edit", "response"]


@dataclass(frozen=True, slots=True)
class Decision:
    decision: str
    """The key of the option that was chosen."""
    reason: str = ""

    def __bool__(self) -> bool:
        # Every choice, a refusal too, would read as a yes.
        raise TypeError("a decision is neither true nor false: compare its .decision with the key of an option")


@dataclass(frozen=True, slots=True)
class Approval:
    decision: ApprovalDecision
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The arguments to run with: those that were shown, or the person's edit."""
    message: str = ""
    """Why it was refused, or what the person answered in the tool's place."""

    @property
    def granted(self) -> bool:
        return self.decision in ("accept", "edit")

    def __bool__(self) -> bool:
        return self.granted


def approval_of(response: Mapping[str, Any], args: Mapping[str, Any]) -> Approval:
    """The response of the hitl face, to a tool call that was shown with these arguments."""
    # Anything but a clear yes is a no.
    if response.get("granted") is True:
        edited = response.get("args")
        return Approval("accept", dict(args)) if edited is None else Approval("edit", dict(edited))
    if "reply" in response:
        return Approval("response", dict(args), str(response["reply"]))
    return Approval("reject", dict(args), str(response.get("reason") or ""))
