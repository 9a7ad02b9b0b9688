"""A model for Codex that follows a script: the Responses API on loopback."""

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Item = Mapping[str, Any]


def use(name: str, call_id: str = "call_1", **args: Any) -> Item:
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": json.dumps(args),
    }


def _done() -> Item:
    text: Item = {"type": "output_text", "text": "done", "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}


class ResponsesModel:
    """Says one turn after another, and then that it is done."""

    def __init__(self, *turns: Sequence[Item]) -> None:
        self._turns = turns
        self.results: dict[str, str] = {}
        """What the model was told of each call."""
        handler = type("Handler", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def say(self, asked: Mapping[str, Any]) -> Sequence[Item]:
        if not any(tool.get("name") == "exec_command" for tool in asked.get("tools") or ()):
            # What the client asks for itself.
            return [_done()]
        for item in asked.get("input", ()):
            if str(item.get("type")).endswith("_call_output"):
                self.results[item["call_id"]] = json.dumps(item["output"])
        said = sum(any(one["call_id"] in self.results for one in turn) for turn in self._turns)
        return self._turns[said] if said < len(self._turns) else [_done()]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ResponsesModel

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        frames = _frames(self.model.say(asked))
        self._send("text/event-stream", "".join(frames).encode())

    def do_GET(self) -> None:
        self._send("application/json", b'{"data": [], "models": []}')

    def _send(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _frames(items: Sequence[Item]) -> Sequence[str]:
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    events: list[tuple[str, dict[str, Any]]] = [("response.created", {"response": {"id": "resp_1"}})]
    for index, item in enumerate(items):
        events.append(("response.output_item.done", {"output_index": index, "item": item}))
    events.append(("response.completed", {"response": {"id": "resp_1", "output": [], "usage": usage}}))
    return [f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in events]
