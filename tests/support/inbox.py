"""The inbox's routes, as a page calls them."""

import uuid
from typing import Any

import httpx

from tests.support.puppet import Call, calls, script
from tests.support.threads import ThreadsClient

INBOX = "/api/v1/inbox"


def asked(person: ThreadsClient, *named: Call, agent: str = "puppet") -> list[dict[str, Any]]:
    """Entries of what an agent came to wait for on a new conversation, in the order of the calls."""
    return told(person, script(calls(*named)), agent)


def told(person: ThreadsClient, message: str, agent: str | None = None) -> list[dict[str, Any]]:
    """The same, of whatever a message makes the agent do."""
    thread_id = person.new_thread(agent)
    person.chat(thread_id, message)
    listed = person.http.get(INBOX, params={"limit": 200}).raise_for_status().json()["requests"]
    own = (entry for entry in listed if entry["conversation_id"] == thread_id)
    return sorted(own, key=lambda entry: entry["position"])


def view(person: ThreadsClient, request: dict[str, Any] | str) -> dict[str, Any]:
    """By its entry, or by its id."""
    request_id = request if isinstance(request, str) else request["request_id"]
    return person.http.get(f"{INBOX}/requests/{request_id}").raise_for_status().json()


def answer(person: ThreadsClient, shown: dict[str, Any] | str, value: dict[str, Any], **more: Any) -> httpx.Response:
    """To what is shown; by its id, to whatever the server shows now."""
    shown = view(person, shown) if isinstance(shown, str) else shown
    key = more.pop("key", str(uuid.uuid4()))
    body = {"value": value, "digest": shown["digest"], **more}
    path = f"{INBOX}/requests/{shown['request_id']}/answer"
    return person.http.post(path, json=body, headers={"idempotency-key": key})


def forget(person: ThreadsClient) -> None:
    """Nothing waits for them any more, and no conversation of theirs is left."""
    listed = person.http.get(f"{INBOX}/conversations", params={"page_size": 200}).raise_for_status().json()
    for conversation in listed["conversations"]:
        person.http.delete(f"/api/sessions/{conversation['conversation_id']}").raise_for_status()
