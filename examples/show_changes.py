"""A tool says which file it will write: people see the difference, and a file that changed since is left alone.
.venv/bin/interlock serve --agent notes=examples/show_changes.py:agent
"""

from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool

from interlock import preview
from interlock.langchain import InterlockMiddleware

NOTES = Path(mkdtemp()) / "notes.txt"


class StandIn(BaseChatModel):
    _llm_type = "stand-in"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        last, number = messages[-1], len(messages)
        call = {"name": "take_note", "args": {"text": last.text}, "id": f"call_{number}"}
        said = AIMessage(last.text) if last.type == "tool" else AIMessage("I will.", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=said)])


def take_note(text: str) -> str:
    """Put a text in place of the notes."""
    return f"Noted {NOTES.write_text(text)} characters."


noting = preview.with_preview(StructuredTool.from_function(take_note), lambda args: preview.file(NOTES, args["text"]))
agent = create_agent(StandIn(), tools=[noting], middleware=[InterlockMiddleware(interrupt_on={"take_note": True})])
