"""The inbox's routes, as a page calls them."""

import uuid
from typing import Any

import httpx

from tests.support.puppet import calls, script
from tests.support.threads import ThreadsClient

INBOX = "/api/v1/inbox"


def asked(person: ThreadsClient, *named: tuple[str, dict[str, Any]], agent: str = "puppet") -> list[dict[str, Any]]:
    """Entries of what an agent came to wait for on a new conversation."""
    thread_id = person.new_thread(agent)
    person.chat(thread_id, script(calls(*named)))
    listed = person.http.get(INBOX, params={"limit": 200}).raise_for_status().json()["requests"]
    return [entry for entry in listed if entry["conversation_id"] == thread_id]


def view(person: ThreadsClient, entry: dict[str, Any]) -> dict[str, Any]:
    return person.http.get(f"{INBOX}/requests/{entry['request_id']}").raise_for_status().json()


def answer(person: ThreadsClient, shown: dict[str, Any], value: dict[str, Any], **more: Any) -> httpx.Response:
    key = more.pop("key", str(uuid.uuid4()))
    body = {"value": value, "digest": shown["digest"], **more}
    path = f"{INBOX}/requests/{shown['request_id']}/answer"
    return person.http.post(path, json=body, headers={"idempotency-key": key})
