"""The demo agent: LangChain's `create_agent` on Interlock's middleware, with the workspace and the ask tools."""

from pathlib import Path
from typing import Any

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel

from interlock.agents.ask_tools import ask_tools
from interlock.agents.demo.scripted_model import ScriptedChatModel
from interlock.agents.demo.workspace import workspace_tools
from interlock.agents.middleware import Gate, InterlockMiddleware
from interlock.texts import LOCALES, Locale, demo_text

_SYSTEM_PROMPT = """\
You are a helpful assistant with a workspace folder. You can read and list its files freely. Writing, editing and \
deleting files and running commands is put to a person first, who may allow it, change it or refuse it.

- Just call the tool; do not ask for permission in words, since the person is asked anyway.
- When a call was refused or nobody answered, accept that: do not try the same by another way. Say what was not done.
- When a call was changed by the person, go by what was really run.
- When you lack what only the person knows, use ask_user, request_clarification or request_decision. For keys and \
passwords use request_env_vars; you learn the names only, never ask for a value in the conversation.
- Be short and friendly, and answer in the language of the person.
"""

_GUARDED = {"write_file": "medium", "edit_file": "medium", "delete_file": "high", "execute": "high"}
"""The tools that ask first, and how risky each is."""


def build(workspace: Path, model: str | None = None, locale: Locale = "zh") -> Any:
    """The compiled graph. `model` is any name that `init_chat_model` knows; without one, a script speaks."""
    chat: BaseChatModel = init_chat_model(model) if model else ScriptedChatModel()
    return create_agent(
        chat,
        tools=[*workspace_tools(workspace), *ask_tools],
        middleware=[InterlockMiddleware(interrupt_on=interrupt_on(locale), idempotent={"read_file", "list_files"})],
        system_prompt=_SYSTEM_PROMPT,
    )


def interrupt_on(locale: Locale) -> dict[str, Gate]:
    # The server's own language is first: it is the one of whoever names none.
    languages = sorted(LOCALES, key=lambda language: language != locale)
    return {
        tool: Gate(
            allowed_decisions=["approve", "edit", "reject", "respond"],
            risk_level=risk,
            display_name={language: demo_text(f"tool.{tool}", language) for language in languages},
        )
        for tool, risk in _GUARDED.items()
    }
