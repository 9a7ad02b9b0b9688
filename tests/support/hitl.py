"""A client of the hitl face: a person who answers, or an agent that runs elsewhere and asks."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, Self

import httpx

from tests.support.http import client as http_client
from tests.support.puppet import Call, Turn, calls, script
from tests.support.threads import Frame, Reply, ThreadsClient, bounded, parse
from tests.support.waiting import WAIT_SECONDS, wait_for

AGENT = "/api/v1/agent"
HITL = f"{AGENT}/hitl"

QUESTION: dict[str, Any] = {"question": "Which one?", "options": ["A", "B"], "allow_custom": False}
CHOICE: dict[str, Any] = {
    "title": "Delete it?",
    "description": "It cannot be undone",
    "options": [{"key": "proceed", "label": "Go on", "style": "danger"}, {"key": "cancel", "label": "Leave it"}],
    "risks": ["data loss"],
}
VARIABLES: dict[str, Any] = {"fields": [{"name": "API_KEY", "label": "Key"}, {"name": "REGION", "sensitive": False}]}
PERMISSION: dict[str, Any] = {
    "tool_name": "file_delete",
    "tool_display_name": "删除文件",
    "action": "delete /tmp/a.txt",
    "args": {"path": "/tmp/a.txt"},
    "risk_level": "high",
}
SEVERAL: dict[str, Any] = {"questions": ["What?", {"question": "Which?", "options": ["a", "b"]}]}

ASKED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "clarification": ("clarification", QUESTION, {"answer": "A"}),
    "decision": ("decision", CHOICE, {"decision": "cancel"}),
    "env_var": ("env_var", VARIABLES, {"values": {"API_KEY": "k", "REGION": "eu"}}),
    "permission": ("permission", PERMISSION, {"granted": True}),
    "questions": ("clarification", SEVERAL, {"answers": ["this", "a"]}),
}
"""Of each kind: its type, something to ask, and a right response."""


class HitlClient:
    def __init__(self, url: str, credential: str) -> None:
        self.http = http_client(url, headers={"authorization": f"Bearer {credential}"})

    def pending(self, conversation_id: str) -> list[dict[str, Any]]:
        return data_of(self.http.get(f"{HITL}/conversations/{conversation_id}/pending"))["pending_requests"]

    def one_pending(self, conversation_id: str) -> dict[str, Any]:
        """The one request that the conversation comes to wait for."""
        return wait_for(lambda: self.pending(conversation_id), lambda found: len(found) == 1)[0]

    def everything(self, **query: Any) -> dict[str, Any]:
        return data_of(self.http.get(f"{HITL}/pending", params=query))

    def look(self, request_id: str, **query: Any) -> dict[str, Any]:
        return data_of(self.http.get(f"{HITL}/requests/{request_id}", params=query))

    def try_respond(self, request_id: str, response: Any, *, key: str | None = None, **fields: Any) -> httpx.Response:
        return self.post("respond", {"request_id": request_id, "response": response, **fields}, key=key)

    def respond(self, request_id: str, response: Any, **fields: Any) -> dict[str, Any]:
        return data_of(self.try_respond(request_id, response, **fields))

    def try_cancel(self, request_id: str, **fields: Any) -> httpx.Response:
        return self.post("cancel", {"request_id": request_id, **fields})

    def try_ask(self, kind: str, asked: dict[str, Any], *, key: str | None = None, **fields: Any) -> httpx.Response:
        return self.post("requests", {"type": kind, "request_data": asked, **fields}, key=key)

    def ask(self, kind: str, asked: dict[str, Any], **fields: Any) -> dict[str, Any]:
        return data_of(self.try_ask(kind, asked, **fields))

    def collect(self, request_id: str) -> httpx.Response:
        return self.post(f"requests/{request_id}/collect", None)

    def post(self, path: str, body: Any, *, key: str | None = None, **headers: str) -> httpx.Response:
        if key is not None:
            headers["idempotency-key"] = key
        return self.http.post(f"{HITL}/{path}", json=body, headers=headers)

    def new_key(self, name: str, role: str = "person", **fields: Any) -> dict[str, Any]:
        return self.http.post("/api/v1/keys", json={"name": name, "role": role, **fields}).raise_for_status().json()

    def grants(self) -> list[dict[str, Any]]:
        return self.http.get("/api/v1/grants").raise_for_status().json()["grants"]

    def saved(self) -> list[dict[str, Any]]:
        return self.http.get("/api/v1/secrets").raise_for_status().json()["secrets"]

    def audit(self, conversation_id: str, action: str) -> list[dict[str, Any]]:
        """Entries of that action in the trail of a conversation, or of the server itself."""
        query = {"conversation_id": conversation_id, "action": action}
        return self.http.get("/api/v1/audit", params=query).raise_for_status().json()["entries"]

    @contextmanager
    def events(self, conversation_id: str, last: str | None = None) -> Generator[Iterator[Frame]]:
        headers = {} if last is None else {"last-event-id": last}
        query = {"conversation_id": conversation_id}
        with (
            http_client(self.http.base_url, headers=self.http.headers, timeout=WAIT_SECONDS) as http,
            http.stream("GET", f"{AGENT}/stream", params=query, headers=headers) as response,
        ):
            response.raise_for_status()
            yield parse(bounded(response.iter_lines()))

    def told(self, conversation_id: str, name: str) -> dict[str, Any]:
        """The first event of that name in the whole log of the conversation."""
        with self.events(conversation_id, last="0") as frames:
            return next(frame.data for frame in frames if frame.event == name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()


def data_of(reply: httpx.Response) -> dict[str, Any]:
    """What a success holds; its envelope has to be right."""
    body = reply.json()
    assert reply.status_code == 200, body
    assert body.keys() == {"success", "data", "message"}
    assert body["success"] is True
    assert isinstance(body["message"], str)
    return body["data"]


def error_of(reply: httpx.Response, status: int, code: str, alias: str | None = None) -> dict[str, Any]:
    """The details of a refusal, which has to be this one, in its envelope."""
    body = reply.json()
    assert (reply.status_code, body.keys()) == (status, {"success", "error"}), reply.text
    assert body["success"] is False
    assert body["error"].keys() == {"code", "message", "details"}
    assert (body["error"]["code"], body["error"]["details"].get("alias")) == (code, alias)
    assert body["error"]["message"]
    return body["error"]["details"]


def wrong_fields(reply: httpx.Response) -> list[str]:
    """The fields that a reply to a malformed body names."""
    errors = error_of(reply, 400, "HITL_INVALID_RESPONSE", "INVALID_REQUEST")["errors"]
    assert all(error["code"] and error["message"] for error in errors)
    return sorted(error["field"] for error in errors)


def of(person: ThreadsClient) -> HitlClient:
    """The same person, with the same token, on this face."""
    return HitlClient(str(person.http.base_url), person.http.headers["authorization"].removeprefix("Bearer "))


def chatted(person: ThreadsClient, thread_id: str, message: str) -> Reply:
    """A message, as soon as the run before it has ended: that is a moment after its last words are in the history."""
    reply = wait_for(
        lambda: person.chat(thread_id, message),
        lambda reply: reply.status != 409 or reply.body["status"] != "running",
    )
    assert reply.status == 200, reply.body
    return reply


def asked_by_agent(person: ThreadsClient, thread_id: str, *named: Call, then: tuple[Turn, ...] = ()) -> None:
    """Let the puppet make these calls; its run waits for a person then, or has ended."""
    chatted(person, thread_id, script(calls(*named), *then))


def finished(person: ThreadsClient, thread_id: str) -> str:
    """What the agent said at the end of its turn, once that has come: the puppet repeats what its tools told it."""
    history = wait_for(lambda: person.history(thread_id), lambda found: found[-1]["role"] == "assistant")
    return history[-1]["content"]
