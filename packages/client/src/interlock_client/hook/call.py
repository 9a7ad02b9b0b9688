"""What every coding agent's hook has in common: a call that a person is asked about, and what comes of it."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Protocol, cast

Arguments = dict[str, Any]
AGENTS = ("claude-code", "codex", "gemini", "cursor")


class Malformed(Exception):
    """What came on standard input is not what the agent sends."""


class Call(NamedTuple):
    event: str
    session: str
    tool: str
    args: Arguments
    folder: str
    call_id: str | None = None
    """Where the agent gives one; the same call asked again has the same."""
    subagent: str = ""
    prompt: str = ""
    """The turn that it belongs to, where the agent tells."""
    allowed: tuple[str, ...] = ("accept", "reject")
    """What the agent can take: accept, edit, reject, response."""
    questions: tuple[Mapping[str, Any], ...] = ()
    """Where the call is itself a question to the person."""
    risk: str = "medium"
    note: str = ""
    """What a person should know beside the call."""
    terminal_asks: bool = False
    """Whether the agent asks at its terminal where it is told nothing; else it goes ahead."""
    args_at_end: Arguments | None = None
    """What the agent tells of the call when it has run, where that is not its arguments."""


class Outcome(NamedTuple):
    verdict: Literal["allow", "deny", "silence", "defer"]
    message: str = ""
    args: Arguments | None = None
    """With allow: what to run in place of what was asked."""
    answers: tuple[str, ...] = ()
    """To questions, one for each."""


class Reply(NamedTuple):
    """What the agent is given."""

    stdout: str = ""
    stderr: str = ""
    code: int = 0


class Agent(Protocol):
    """Under which name people are asked."""

    AGENT: str
    NAME: str


class Host(Agent, Protocol):
    """One coding agent; its module has these names."""

    def read(self, event: Mapping[str, Any]) -> Call:
        """The call that the agent asks about; `Malformed` where there is none."""
        ...

    def reply(self, call: Call, outcome: Outcome) -> Reply:
        """The outcome in the agent's words."""
        ...


class End(NamedTuple):
    """What came to its end at the agent: a call, or all that was asked in a turn."""

    session: str
    call: str = ""
    """The digest of the tool and its arguments; none: all of them."""
    prompt: str = ""
    """The turn that ends, or that begins and ends all others. Hooks may be slow: the next turn may be on already."""
    is_beginning: bool = False
    is_last: bool = False
    """Whether the session ends, with everything that goes on beside its turns."""

    def is_of(self, prompt: str, *, by_subagent: bool) -> bool:
        """Whether what was asked in that turn has ended with it; a subagent goes on after its turn."""
        if self.is_last or by_subagent or not self.prompt:
            return self.is_last or not by_subagent
        return (prompt != self.prompt) if self.is_beginning else (prompt == self.prompt)


class SettlingHost(Protocol):
    """A coding agent whose terminal asks beside us, and that tells of the ends of calls."""

    AGENT: str

    def read_end(self, event: Mapping[str, Any]) -> End: ...


def refusal(message: str) -> Reply:
    """A refusal that every agent understands, also where nothing is known of the call."""
    return Reply(stderr=f"{message}\n", code=2)


def object_of(value: Any) -> dict[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def list_of(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def text_of(event: Mapping[str, Any], name: str) -> str:
    value = event.get(name)
    if not isinstance(value, str) or not value:
        raise Malformed(f"{name} is missing")
    return value


def arguments_of(event: Mapping[str, Any], name: str = "tool_input") -> Arguments:
    if (value := object_of(event.get(name))) is None:
        raise Malformed(f"{name} is not an object")
    return value


def optional_text(event: Mapping[str, Any], name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""


def digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
