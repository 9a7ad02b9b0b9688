"""A request that waits, as a terminal needs to know it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from interlock_client.cli.terminal.revealing import json_text
from interlock_client.hitl import PendingRequest
from interlock_client.teams import People

Kind = Literal["approval", "clarification", "decision", "env_var", "questions"]

SHORTEST_WORD = 3
YES = "YES"


@dataclass(frozen=True, slots=True)
class OpenRequest:
    id: str
    kind: Kind
    agent: str
    conversation_id: str
    created_at: datetime
    expires_at: datetime | None
    data: Mapping[str, Any]
    owner: str = ""
    """Whose agent it is, or whose conversation with it."""
    people: People | None = None
    """Where it stands with its people; None: whoever may answer on the conversation may."""
    code: str | None = None
    """What a yes has to repeat, where its terms say so."""

    @property
    def asker(self) -> str:
        """Anybody may give their agent any name: whose it is belongs to it."""
        return f"{self.agent} · of {self.owner}" if self.owner else self.agent

    @property
    def tool(self) -> str:
        return str(self.data.get("tool_name", ""))

    @property
    def args(self) -> Mapping[str, Any]:
        return self.data.get("args") or {}

    @property
    def risk(self) -> str:
        """Of an approval; a word that is not known is none of the low ones."""
        return str(self.data.get("risk_level") or "medium") if self.kind == "approval" else ""

    @property
    def is_risky(self) -> bool:
        return self.kind == "approval" and self.risk not in ("low", "medium")

    def allows(self, decision: str) -> bool:
        """Whether the agent takes it, and of this person; what several people decide is approved as it is."""
        is_taken = self.kind == "approval" and decision in self.data.get("allowed", ())
        if self.people is None or decision == "reject":
            return is_taken
        return is_taken and self.people.may_answer and (self.people.votes is None or decision == "accept")

    @property
    def may_answer(self) -> bool:
        return self.people is None or self.people.may_answer

    @property
    def may_refuse(self) -> bool:
        return self.people is None or self.people.may_refuse

    @property
    def words(self) -> tuple[str, ...]:
        """What has to be typed in full before a risky call is allowed."""
        return words_to_type(self.tool)

    @property
    def words_of_yes(self) -> tuple[str, ...]:
        """What a yes takes; nothing: a second key is enough."""
        if self.code is not None:
            return (self.code,)
        return self.words if self.is_risky else ()

    @property
    def options(self) -> Sequence[Any]:
        return self.data.get("options") or ()

    @property
    def is_free(self) -> bool:
        """Asked by an interrupt that does not say what it takes: any JSON answers it."""
        return self.kind == "clarification" and self.data.get("free") is True

    @property
    def summary(self) -> str:
        """What it is about; an agent's words, but for the name of its kind."""
        if self.kind == "approval":
            return f"{self.tool} {json_text(dict(self.args), indent=None)}"
        if self.kind == "env_var":
            return ", ".join(str(field["name"]) for field in self.data["fields"])
        if self.kind == "questions":
            return " / ".join(str(one["question"]) for one in self.data["questions"])
        return str(self.data.get("title") or self.data.get("question") or "")


def words_to_type(name: str) -> tuple[str, ...]:
    """YES, or the name, unless it is one that a hand types by itself, or cannot."""
    typable = name.isascii() and name.isprintable() and " " not in name and len(name) >= SHORTEST_WORD
    return (YES, name) if typable else (YES,)


def is_dangerous(option: Mapping[str, Any]) -> bool:
    return option.get("style") in ("danger", "destructive", "critical")


def from_pending(request: PendingRequest, people: People | None = None, code: str | None = None) -> OpenRequest:
    return OpenRequest(
        request.request_id,
        _kind(request.type, request.request_data),
        request.agent,
        request.conversation_id,
        datetime.fromisoformat(request.created_at),
        datetime.fromisoformat(request.expires_at) if request.expires_at else None,
        request.request_data,
        request.owner,
        people,
        code if people is not None and people.needs.code else None,
    )


def _kind(type: str, data: Mapping[str, Any]) -> Kind:
    if type == "permission":
        return "approval"
    if type == "decision":
        return "decision"
    if type == "env_var":
        return "env_var"
    return "questions" if "questions" in data else "clarification"
