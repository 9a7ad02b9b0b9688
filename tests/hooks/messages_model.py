"""A model for Claude Code that follows a script: the Messages API on loopback."""

import json
import re
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Block = Mapping[str, Any]
PLAN_FILE = "the file of the plan"
"""Stands for the file that Claude Code names when it plans."""


def use(name: str, call_id: str = "toolu_1", **args: Any) -> Block:
    return {"type": "tool_use", "id": call_id, "name": name, "input": args}


class MessagesModel:
    """Says one turn after another, and then that it is done."""

    def __init__(self, *turns: Sequence[Block]) -> None:
        self._turns = turns
        self.results: dict[str, str] = {}
        """What the model was told of each call."""
        self.offered: set[str] = set()
        """The tools that it could use."""
        handler = type("Handler", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def say(self, asked: Mapping[str, Any]) -> Sequence[Block]:
        if not asked.get("tools"):
            # What the client asks for itself: a title, a summary.
            return [{"type": "text", "text": "ok"}]
        self.offered.update(str(tool["name"]) for tool in asked["tools"])
        for message in asked["messages"]:
            for block in message["content"] if isinstance(message["content"], list) else ():
                if block.get("type") == "tool_result":
                    self.results[block["tool_use_id"]] = json.dumps(block["content"])
        # Not by the messages: what is said in several turns may come back as one.
        ended = sum(any(block["id"] in self.results for block in turn) for turn in self._turns)
        if ended == len(self._turns):
            return [{"type": "text", "text": "done"}]
        named = re.findall(r"[^\s\"\\]+/plans/[^\s\"\\]+\.md", json.dumps(asked["messages"]))
        return [_placed(block, named[0]) if named else block for block in self._turns[ended]]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _placed(block: Block, plan_file: str) -> Block:
    given = {name: plan_file if value == PLAN_FILE else value for name, value in block["input"].items()}
    return {**block, "input": given}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: MessagesModel

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if "count_tokens" in self.path:
            self._send("application/json", b'{"input_tokens": 1}')
            return
        self._send("text/event-stream", "".join(_frames(self.model.say(asked))).encode())

    def do_HEAD(self) -> None:
        self._send("text/plain", b"")

    def do_GET(self) -> None:
        self.do_HEAD()

    def _send(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _frames(blocks: Sequence[Block]) -> Sequence[str]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    begun: Block = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [],
        "usage": usage,
    }
    events: list[tuple[str, dict[str, Any]]] = [("message_start", {"message": {**begun, "model": "scripted"}})]
    for index, block in enumerate(blocks):
        start: Block = {"type": "text", "text": ""} if block["type"] == "text" else {**block, "input": {}}
        delta: Block = {"type": "text_delta", "text": block.get("text")}
        if block["type"] == "tool_use":
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events.append(("content_block_start", {"index": index, "content_block": start}))
        events.append(("content_block_delta", {"index": index, "delta": delta}))
        events.append(("content_block_stop", {"index": index}))
    reason = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
    events.append(("message_delta", {"delta": {"stop_reason": reason}, "usage": usage}))
    events.append(("message_stop", {}))
    return [f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in events]
