"""The Agent Client Protocol: what an agent asks its editor, read and answered from between the two.

Everything is passed on as it is. Of an agent's `session/request_permission` a person is asked too, and the first answer
is the one that the agent gets.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interlock_client.hook.call import Arguments, Call, Outcome, list_of, object_of, optional_text

ASKS = "session/request_permission"
UPDATE = "session/update"
CANCEL_TURN = "session/cancel"
CANCEL_REQUEST = "$/cancel_request"
BEGINS = ("session/new", "session/load", "session/resume", "session/fork")
MOST_CALLS = 1000
ALLOW, REJECT = "allow_once", "reject_once"
NOT_GIVEN = ". The agent did not give the arguments, only what it says of the call"

Message = dict[str, Any]


def read(line: bytes) -> Message | None:
    """None: not a message that is of interest here."""
    try:
        return object_of(json.loads(line))
    except (ValueError, RecursionError):
        return None


def encode(message: Mapping[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def id_of(message: Mapping[str, Any], name: str = "id") -> str:
    """Of a request or its reply: 1 and "1" are two."""
    return json.dumps(message.get(name))


@dataclass
class Agent:
    """The agent behind the proxy, as far as it has told of itself."""

    AGENT: str
    NAME: str


@dataclass(frozen=True)
class Permission:
    """What an agent asks its editor."""

    id: Any
    session: str
    tool_call: Message
    options: tuple[tuple[str, str], ...]
    """Their kinds and ids."""

    @classmethod
    def of(cls, message: Message, tool_call: Message) -> "Permission":
        params = object_of(message.get("params")) or {}
        objects = (one for one in map(object_of, list_of(params.get("options"))) if one is not None)
        options = tuple((optional_text(one, "kind"), optional_text(one, "optionId")) for one in objects)
        return cls(message["id"], optional_text(params, "sessionId"), tool_call, options)

    def option(self, kind: str) -> str | None:
        """The one of that kind; with several, or one id for two, nobody knows here what each of them means."""
        found = [option_id for each, option_id in self.options if each == kind and option_id]
        is_clear = len(found) == 1 and [option_id for _, option_id in self.options].count(found[0]) == 1
        return found[0] if is_clear else None

    @property
    def allowed(self) -> tuple[str, ...]:
        # Those that hold for good are left to the editor: what is remembered here can be listed and taken back.
        kinds = {"accept": ALLOW, "reject": REJECT}
        return tuple(name for name, kind in kinds.items() if self.option(kind) is not None)

    def call(self, folder: str) -> Call:
        tool_call = self.tool_call
        given = object_of(tool_call.get("rawInput"))
        shown: Arguments = {name: tool_call[name] for name in ("title", "content", "locations") if tool_call.get(name)}
        return Call(
            ASKS,
            self.session,
            optional_text(tool_call, "kind") or "tool",
            given or shown,
            folder,
            allowed=self.allowed,
            note="" if given else NOT_GIVEN,
        )

    def answer(self, outcome: Outcome, message_id: Any) -> bytes | None:
        """To what the agent asked under that id; None where there is no such option."""
        option = self.option(ALLOW if outcome.verdict == "allow" else REJECT)
        if option is None:
            return None
        return encode({"id": message_id, "result": {"outcome": {"outcome": "selected", "optionId": option}}})

    def cancel(self) -> bytes:
        return encode({"method": CANCEL_REQUEST, "params": {"requestId": self.id}})


@dataclass
class Conversation:
    """What both sides have told so far, as far as people need it: folders of sessions, and what each call is."""

    agent: Agent
    _begun: dict[str, str] = field(default_factory=dict[str, str])
    _folders: dict[str, str] = field(default_factory=dict[str, str])
    _calls: dict[tuple[str, str], Message] = field(default_factory=dict[tuple[str, str], Message])

    def hear_editor(self, message: Message) -> None:
        params = object_of(message.get("params")) or {}
        if message.get("method") in BEGINS:
            folder = optional_text(params, "cwd")
            self._begun[id_of(message)] = folder
            if session := optional_text(params, "sessionId"):
                self._folders[session] = folder

    def hear_agent(self, message: Message) -> None:
        result = object_of(message.get("result")) or {}
        if "method" not in message and (session := optional_text(result, "sessionId")):
            self._folders[session] = self._begun.pop(id_of(message), "")
        if "method" not in message and (info := object_of(result.get("agentInfo"))):
            self.agent.NAME = optional_text(info, "title") or optional_text(info, "name") or self.agent.NAME
        if message.get("method") == UPDATE:
            params = object_of(message.get("params")) or {}
            update = object_of(params.get("update")) or {}
            session, update_type = optional_text(params, "sessionId"), update.get("sessionUpdate")
            if update_type == "tool_call":
                # A new one: what was told of another under this id, in a turn that was stopped, is not of it.
                self._calls.pop((session, optional_text(update, "toolCallId")), None)
            if str(update_type).startswith("tool_call"):
                self._merge(session, update)

    def permission(self, message: Message) -> Permission:
        params = object_of(message.get("params")) or {}
        tool_call = object_of(params.get("toolCall")) or {}
        return Permission.of(message, self._merge(optional_text(params, "sessionId"), tool_call))

    def folder(self, session: str) -> str:
        return self._folders.get(session, "")

    def _merge(self, session: str, update: Message) -> Message:
        """What was told of a call before, with what is told now; one without an id is no other's."""
        name = (session, optional_text(update, "toolCallId"))
        if not name[1]:
            return update
        merged = {**self._calls.pop(name, {}), **{key: value for key, value in update.items() if value is not None}}
        if merged.get("status") not in ("completed", "failed"):
            self._calls[name] = merged
            if len(self._calls) > MOST_CALLS:
                del self._calls[next(iter(self._calls))]
        return merged
