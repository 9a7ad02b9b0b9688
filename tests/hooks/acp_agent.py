"""A small agent of the Agent Client Protocol, for the tests: it asks its editor what it is told to.

A prompt is a list of calls, as JSON. Each is asked as a request of its own, all at once; the turn ends when all are
answered, and its end tells the outcomes.
"""

import json
import sys
from typing import Any

OPTIONS = [
    {"optionId": "yes-for-good", "name": "Always", "kind": "allow_always"},
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


class Turn:
    def __init__(self, prompt_id: Any, session: str, calls: list[dict[str, Any]]) -> None:
        self._prompt_id = prompt_id
        self.session = session
        self._outcomes: dict[str, Any] = {}
        self._left = {call["id"]: call for call in calls}
        for call in calls:
            if "told" in call:
                update = {"sessionUpdate": "tool_call", "toolCallId": call["id"], **call["told"]}
                send(method="session/update", params={"sessionId": session, "update": update})
            asked = {"toolCallId": call["id"], **call.get("asked", {})}
            params = {"sessionId": session, "toolCall": asked, "options": call.get("options", OPTIONS)}
            send(id=call["id"], method="session/request_permission", params=params)

    def heed(self, message: dict[str, Any]) -> None:
        """A reply: a second one to the same request would be an error of the proxy, and is told."""
        name = message["id"]
        outcome = message.get("result", {}).get("outcome", message.get("error"))
        self._outcomes[name] = [outcome] if self._left.pop(name, None) else [*self._outcomes[name], outcome]
        if not self._left:
            self.end("end_turn")

    def withdraw(self, name: str) -> None:
        send(method="$/cancel_request", params={"requestId": name})

    def end(self, reason: str) -> None:
        send(id=self._prompt_id, result={"stopReason": reason, "_meta": {"outcomes": self._outcomes}})


def main() -> int:
    turn: Turn | None = None
    for line in sys.stdin:
        message: dict[str, Any] = json.loads(line)
        params: dict[str, Any] = message.get("params") or {}
        match message.get("method"):
            case "initialize":
                send(id=message["id"], result={"protocolVersion": 1, "agentInfo": {"name": "small", "title": "Small"}})
            case "session/new":
                send(id=message["id"], result={"sessionId": "s1"})
            case "session/prompt":
                turn = Turn(message["id"], params["sessionId"], json.loads(params["prompt"][0]["text"]))
            case "small/withdraw":
                assert turn is not None
                turn.withdraw(params["id"])
            case "small/echo":
                send(id=message["id"], result=params)
            case "small/exit":
                return int(params["code"])
            case None:
                assert turn is not None
                turn.heed(message)
            case _:
                pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
