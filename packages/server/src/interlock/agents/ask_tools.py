"""Tools by which a model itself may ask a person."""

import json
from collections.abc import Callable
from typing import Any, Literal

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, Field

from interlock.agents import asking
from interlock.agents.asking import NotAnswered


class Option(BaseModel):
    label: str = Field(description="what the person sees")
    value: str = Field(description="what is returned when it is chosen; __custom__ for an answer in their own words")
    allow_custom: bool = Field(default=False, description="whether this option takes an answer in their own words")


class Question(BaseModel):
    question: str
    options: list[Option] = Field(default_factory=list[Option], description="empty for a free answer")


class Choice(BaseModel):
    key: str = Field(description="what is returned when it is chosen")
    label: str
    style: Literal["default", "primary", "danger"] = "default"


class Variable(BaseModel):
    name: str = Field(description="the variable's name, such as OPENAI_API_KEY")
    label: str = ""
    required: bool = True
    sensitive: bool = True
    description: str = Field(default="", description="what it is needed for")


def _dump(items: list[Any]) -> list[dict[str, Any]]:
    return [item.model_dump(exclude_defaults=False) for item in items]


def _ask_user(questions: list[Question]) -> str:
    """Ask the person one or more questions at once, each with options to choose from or a free answer, and wait."""
    answers = _ask(lambda: asking.questions(_dump(questions)))
    pairs = zip(questions, answers, strict=True)
    return _json([{"question": question.question, "answer": answer} for question, answer in pairs])


def _request_clarification(question: str, options: list[str] | None = None, allow_custom: bool = True) -> str:
    """Ask the person what they meant, with suggested answers if there are some, and wait for the answer."""
    return _ask(lambda: asking.clarification(question, options or (), allow_custom))


def _request_decision(title: str, options: list[Choice], description: str = "", risks: list[str] | None = None) -> str:
    """Put a decision to the person, with what speaks against it, and wait for the key of the option they choose."""
    chosen = _ask(lambda: asking.decision(title, _dump(options), description, risks or ()))
    return _json({"decision": chosen.decision, "reason": chosen.reason})


def _request_env_vars(fields: list[Variable]) -> str:
    """Ask the person for keys or other settings. You are told only which were given; tools read the values by name."""
    return _json({"provided": sorted(_ask(lambda: asking.env_vars(_dump(fields))))})


def _ask(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except NotAnswered as error:
        raise ToolException(f"Not answered: {error.reason}") from error


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _tool(name: str, function: Callable[..., str]) -> BaseTool:
    # An ask does nothing to the world: entering it again after a crash is right.
    return StructuredTool.from_function(function, name=name, handle_tool_error=True, metadata={"idempotent": True})


ask_user = _tool("ask_user", _ask_user)
request_clarification = _tool("request_clarification", _request_clarification)
request_decision = _tool("request_decision", _request_decision)
request_env_vars = _tool("request_env_vars", _request_env_vars)

ask_tools = (ask_user, request_clarification, request_decision, request_env_vars)
