"""A model for Gemini CLI that follows a script: the Gemini API on loopback."""

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Part = Mapping[str, Any]


def use(name: str, **args: Any) -> Part:
    """A name that begins with a star is of the tool that ends with the rest of it."""
    return {"functionCall": {"name": name, "args": args}}


class GeminiModel:
    """Says one turn after another, and then that it is done."""

    def __init__(self, *turns: Sequence[Part]) -> None:
        self._turns = turns
        self.results: list[str] = []
        """What the model was told of its calls, in their order."""
        handler = type("Handler", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def say(self, asked: Mapping[str, Any]) -> Sequence[Part]:
        if not asked.get("tools"):
            # What the client asks for itself.
            return [{"text": "{}"}]
        parts = [part for content in asked.get("contents", ()) for part in content.get("parts", ())]
        self.results = [json.dumps(part["functionResponse"]) for part in parts if "functionResponse" in part]
        said = sum("functionCall" in part for part in parts)
        if said >= len(self._turns):
            return [{"text": "done"}]
        tools = [one["name"] for tool in asked["tools"] for one in tool.get("functionDeclarations", ())]
        return [_named(part, tools) for part in self._turns[said]]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _named(part: Part, tools: Sequence[str]) -> Part:
    call = part["functionCall"]
    if not call["name"].startswith("*"):
        return part
    [name] = [one for one in tools if one.endswith(call["name"][1:])]
    return {"functionCall": {**call, "name": name}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: GeminiModel

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if "countTokens" in self.path:
            self._send("application/json", b'{"totalTokens": 1}')
            return
        content = {"role": "model", "parts": list(self.model.say(asked))}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        reply = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}
        if "stream" in self.path:
            self._send("text/event-stream", f"data: {json.dumps(reply)}\n\n".encode())
        else:
            self._send("application/json", json.dumps(reply).encode())

    def _send(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass
