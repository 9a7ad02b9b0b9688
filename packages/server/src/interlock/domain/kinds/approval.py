"""Approval: may this tool run with these arguments?"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Self, cast

from interlock.domain.canonical import plain
from interlock.domain.errors import FieldError
from interlock.domain.json_value import JsonObject, JsonValue, with_numbers_of
from interlock.domain.kinds.fields import Faults, Fields
from interlock.domain.kinds.free_answers import check_carried
from interlock.domain.kinds.kind import AnswerValue, RequestBody, RequestKind, Texts, wrong
from interlock.domain.risk import NEEDS_CODE, RISK_LEVELS
from interlock.domain.summary import summary

ApprovalDecision = Literal["accept", "edit", "reject", "response"]
APPROVAL_DECISIONS: tuple[ApprovalDecision, ...] = ("accept", "edit", "reject", "response")


@dataclass(frozen=True, slots=True)
class ApprovalAnswer(AnswerValue):
    kind: ClassVar[RequestKind] = RequestKind.APPROVAL

    decision: ApprovalDecision
    args: JsonObject | None = None
    """With an edit: the arguments to run with."""
    message: str = ""
    """The reason of a refusal, or the text of a response."""

    @property
    def runs(self) -> bool:
        """Whether the call is run after it."""
        return self.decision in ("accept", "edit")

    def to_json(self) -> JsonObject:
        data: JsonObject = {"decision": self.decision}
        if self.message:
            data["message"] = self.message
        if self.args is not None:
            data["args"] = self.args
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, JsonValue]) -> Self:
        return cls(data["decision"], data.get("args"), data.get("message") or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalBody(RequestBody):
    kind: ClassVar[RequestKind] = RequestKind.APPROVAL
    id_prefix: ClassVar[str] = "perm"

    tool_name: str
    tool_display_name: str
    action: str
    """The call in one line."""
    args: JsonObject
    risk_level: str | None
    description: str
    allow_remember: bool
    allowed: tuple[ApprovalDecision, ...]
    tool_schema: JsonObject = field(default_factory=JsonObject)
    """What an agent that runs elsewhere says of the tool's arguments."""
    fixed: tuple[str, ...] = ()
    """The arguments that an edit must leave as they are."""
    preview: JsonObject | None = None
    """What the call would do; see `domain.preview`."""

    @classmethod
    def ask(
        cls,
        tool_name: str,
        args: Mapping[str, JsonValue],
        *,
        description: str = "",
        risk_level: str | None = None,
        display_name: Texts | None = None,
        allow_remember: bool = True,
        allowed: Iterable[str] = APPROVAL_DECISIONS,
    ) -> Self:
        faults = Faults()
        faults.text("tool_name", tool_name)
        if risk_level is not None and risk_level not in RISK_LEVELS:
            faults.add("risk_level", "unknown", f"risk_level must be one of {', '.join(RISK_LEVELS)}")
        decisions = tuple(dict.fromkeys(allowed))
        if not decisions or any(decision not in APPROVAL_DECISIONS for decision in decisions):
            faults.add("allowed", "unknown", f"allowed must name some of {', '.join(APPROVAL_DECISIONS)}")
        faults.raise_any("an approval")
        names: Mapping[str, str] = display_name if isinstance(display_name, Mapping) else {}
        return cls(
            tool_name=tool_name,
            tool_display_name=next(iter(names.values())) if names else cast("str", display_name or tool_name),
            action=f"{tool_name} {' '.join(str(value) for value in args.values())}".strip(),
            args=plain(dict(args)),
            risk_level=risk_level,
            description=description,
            allow_remember=allow_remember,
            allowed=cast("tuple[ApprovalDecision, ...]", decisions),
            translated={language: {"tool_display_name": name} for language, name in names.items()},
        )

    @classmethod
    def read(cls, fields: Fields) -> Self:
        body = cls.ask(
            fields.text("tool_name"),
            fields.mapping("args"),
            description=fields.text("description"),
            risk_level=fields.optional_text("risk_level"),
            display_name=fields.optional_text("tool_display_name"),
            allow_remember=fields.flag("allow_remember", default=True),
            allowed=fields.texts("allowed") or APPROVAL_DECISIONS,
        )
        return replace(
            body,
            action=fields.text("action") or body.action,
            tool_schema=fields.mapping("tool_schema"),
            fixed=tuple(fields.texts("fixed")),
        )

    @classmethod
    def own_from_json(cls, data: Mapping[str, JsonValue]) -> Self:
        return cls(
            tool_name=data["tool_name"],
            tool_display_name=data.get("tool_display_name") or data["tool_name"],
            action=data.get("action") or data["tool_name"],
            args=data["args"],
            risk_level=data.get("risk_level"),
            description=data.get("description") or "",
            allow_remember=bool(data.get("allow_remember")),
            allowed=tuple(data.get("allowed") or APPROVAL_DECISIONS),
            tool_schema=data.get("tool_schema") or {},
            fixed=tuple(data.get("fixed") or ()),
            preview=data.get("preview"),
        )

    def own_json(self) -> JsonObject:
        data: JsonObject = {
            "tool_name": self.tool_name,
            "tool_display_name": self.tool_display_name,
            "action": self.action,
            "args": self.args,
            "risk_level": self.risk_level,
            "description": self.description,
            "allow_remember": self.allow_remember,
            "allowed": list(self.allowed),
        }
        if self.tool_schema:
            data["tool_schema"] = self.tool_schema
        if self.fixed:
            data["fixed"] = list(self.fixed)
        if self.preview is not None:
            data["preview"] = self.preview
        return data

    @property
    def headline(self) -> str:
        return summary(self.tool_name, self.args)

    @property
    def takes_code(self) -> bool:
        return True

    def needs_code(self, given: Mapping[str, JsonValue]) -> bool:
        return given.get("decision") in ("accept", "edit") and self.risk_level in NEEDS_CODE

    def default(self) -> None:
        """A deadline is never a yes."""

    def takes(self, decision: str) -> bool:
        """Refusing is always possible: where the graph cannot be told, the run ends without an answer."""
        return decision == "reject" or decision in self.allowed

    def check(self, given: Mapping[str, JsonValue]) -> ApprovalAnswer:
        decision = given.get("decision")
        if decision not in APPROVAL_DECISIONS:
            raise wrong(FieldError("decision", "unknown", "decision must be accept, reject, edit or response"))
        if not self.takes(decision):
            message = f"{decision} is not allowed here; allowed: {', '.join(self.allowed)}"
            raise wrong(FieldError("decision", "not_allowed", message))
        message = given.get("message")
        if decision == "response" and not (isinstance(message, str) and message.strip()):
            raise wrong(FieldError("message", "empty", "a response needs a text"))
        args: JsonValue = given.get("args")
        if decision != "edit":
            if decision == "accept" and args is not None and args != self.args:
                message = "accept runs the call as it was shown: use edit to run it with other arguments"
                raise wrong(FieldError("args", "not_allowed", message))
            args = None
        else:
            if not isinstance(args, Mapping):
                raise wrong(FieldError("args", "not_an_object", "an edit needs the arguments as an object"))
            args = with_numbers_of(self.args, cast("Mapping[str, JsonValue]", args))
            check_carried(args, "args")
        return ApprovalAnswer(decision, args, message if isinstance(message, str) else "")
