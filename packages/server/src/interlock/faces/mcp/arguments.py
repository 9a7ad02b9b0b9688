"""What each tool takes. The schemas that hosts see are made of these; unknown fields are refused."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from interlock.domain.errors import FieldError, InvalidInput
from interlock.domain.kinds import RequestKind
from interlock.services.teams.routing import MCP_TIMEOUT

Choice = str | dict[str, Any]
Name = Annotated[str, Field(min_length=1, max_length=200)]


LONGEST_SECONDS = 31_536_000


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class AskArguments(Arguments):
    """What every tool takes that asks."""

    timeout_seconds: Annotated[float, Field(gt=0, le=LONGEST_SECONDS)] | None = Field(
        default=MCP_TIMEOUT, description="The deadline. At it nobody has answered, which is never a yes. null: none."
    )
    wait_seconds: Annotated[float, Field(ge=0, le=LONGEST_SECONDS)] | None = Field(
        default=None, description="How long this call waits for the answer before it returns pending."
    )
    conversation: Name | None = Field(default=None, description="A name under which what belongs together is shown.")
    idempotency_key: Name | None = Field(
        default=None, description="The same key and arguments again mean the same request, not a second one."
    )

    def to_request(self) -> tuple[RequestKind, dict[str, Any]]:
        """What is asked, in the words of the core, which checks it."""
        raise NotImplementedError

    def content(self) -> dict[str, Any]:
        """By what the same ask is known again."""
        return self.model_dump(exclude={"wait_seconds"})


class AskPerson(AskArguments):
    question: str = Field(description="One question, with all that the person needs to answer it.")
    options: list[str] = Field(default_factory=list, description="Answers to choose from.")
    allow_custom: bool = Field(default=True, description="Whether an answer may be none of the options.")
    default: str | None = Field(default=None, description="What stands in when nobody answers.")

    def to_request(self) -> tuple[RequestKind, dict[str, Any]]:
        data = {"question": self.question, "options": self.options, "allow_custom": self.allow_custom}
        return RequestKind.CLARIFICATION, {**data, "default_answer": self.default}


class AskQuestions(AskArguments):
    questions: list[Choice] = Field(
        min_length=1,
        description=(
            "Texts, or objects {question, options}; options are texts, or objects {label, value, allow_custom}."
        ),
    )

    def to_request(self) -> tuple[RequestKind, dict[str, Any]]:
        return RequestKind.QUESTIONS, {"questions": self.questions}


class Decide(AskArguments):
    title: str
    options: list[Choice] = Field(
        min_length=1, description="Keys, or objects {key, label, style}; style `danger` for what cannot be undone."
    )
    description: str = ""
    risks: list[str] = Field(default_factory=list)
    default: str | None = Field(default=None, description="The key that stands in when nobody answers.")

    def to_request(self) -> tuple[RequestKind, dict[str, Any]]:
        names = ("title", "options", "description", "risks", "default")
        return RequestKind.DECISION, {name: getattr(self, name) for name in names}


class RequestApproval(AskArguments):
    action: str = Field(description="What you want to do: the name of a tool or command.")
    args: dict[str, Any] = Field(description="With which arguments. The person may change them.")
    description: str = Field(default="", description="Why, and what it does.")
    risk_level: Literal["low", "medium", "high", "critical"] | None = None

    def to_request(self) -> tuple[RequestKind, dict[str, Any]]:
        about = {"description": self.description, "risk_level": self.risk_level}
        return RequestKind.APPROVAL, {"tool_name": self.action, "args": self.args, **about}


class RequestSecret(AskArguments):
    names: list[Name] = Field(min_length=1, description="Of the variables whose values are wanted: GITHUB_TOKEN.")
    why: str = Field(default="", max_length=2000, description="What they are for. The person reads it.")

    def to_request(self) -> tuple[RequestKind, dict[str, Any]]:
        return RequestKind.ENV_VAR, {"fields": [{"name": name, "description": self.why} for name in self.names]}


class Wait(Arguments):
    request_id: str
    wait_seconds: Annotated[float, Field(ge=0, le=LONGEST_SECONDS)] | None = None


class Withdraw(Arguments):
    request_id: str
    reason: str | None = Field(default=None, max_length=1000, description="It is shown to whoever answers late.")


def wrong_arguments(errors: list[Mapping[str, Any]]) -> InvalidInput:
    """Never with the input itself."""
    found = [FieldError(".".join(map(str, one["loc"])) or "arguments", one["type"], one["msg"]) for one in errors]
    return InvalidInput("the arguments do not fit the tool's schema", found)
