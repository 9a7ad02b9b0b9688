"""A model for OpenCode that follows a script: the Chat Completions API on loopback."""

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, Self

ToolCall = Mapping[str, Any]
_numbers = count(1)


def use(name: str, call_id: str = "call_1", **args: Any) -> ToolCall:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}


class CompletionsModel:
    """Says one turn after another, and then that it is done."""

    def __init__(self, *turns: Sequence[ToolCall]) -> None:
        self.begin(*turns)
        handler = type("Handler", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def begin(self, *turns: Sequence[ToolCall]) -> None:
        """From here on, in a session that begins with the new `prompt`."""
        self._turns = turns
        self.prompt = f"go {next(_numbers)}"
        self.results: dict[str, str] = {}
        """What the model was told of each call."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def say(self, asked: Mapping[str, Any]) -> Sequence[ToolCall]:
        if not asked.get("tools") or self.prompt not in json.dumps(asked["messages"]):
            # What the client asks for itself, such as a title; or a session that was left.
            return ()
        for message in asked["messages"]:
            if message["role"] == "tool":
                self.results[message["tool_call_id"]] = json.dumps(message["content"])
        ended = sum(any(call["id"] in self.results for call in turn) for turn in self._turns)
        return self._turns[ended] if ended < len(self._turns) else ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: CompletionsModel

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        content = "".join(_frames(self.model.say(asked))).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _frames(calls: Sequence[ToolCall]) -> Sequence[str]:
    said: Mapping[str, Any] = {"role": "assistant", "content": None if calls else "done"}
    if calls:
        said = {**said, "tool_calls": [{"index": index, **call} for index, call in enumerate(calls)]}
    choices: list[Mapping[str, Any]] = [
        {"index": 0, "delta": said, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"},
    ]
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    chunks = [{**head, "choices": [choice], "usage": usage} for choice in choices]
    return [*(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks), "data: [DONE]\n\n"]
