"""What agents ask, how the server shows it, and a hand that waits until its page takes what it does."""

import time
import uuid
from collections.abc import Callable
from typing import Any

import httpx
from playwright.sync_api import Error, Locator

from tests.support.puppet import Call, calls, script
from tests.support.threads import ThreadsClient

INBOX = "/api/v1/inbox"
WAIT_SECONDS = 20.0
GUARD_MS = 700
"""A little longer than answers are refused to somebody who cannot have read what just came."""


def asked(owner: ThreadsClient, *named: Call, agent: str = "puppet") -> list[dict[str, Any]]:
    """Entries of what an agent came to wait for on a new conversation, in the order of the calls."""
    thread_id = owner.new_thread(agent)
    owner.chat(thread_id, script(calls(*named)))
    listed = owner.http.get(INBOX, params={"limit": 200}).raise_for_status().json()["requests"]
    return sorted(
        (entry for entry in listed if entry["conversation_id"] == thread_id), key=lambda entry: entry["position"]
    )


def view(owner: ThreadsClient, request_id: str) -> dict[str, Any]:
    return owner.http.get(f"{INBOX}/requests/{request_id}").raise_for_status().json()


def answer(owner: ThreadsClient, request_id: str, value: dict[str, Any]) -> httpx.Response:
    """Over the API, as somebody would at another screen."""
    body = {"value": value, "digest": view(owner, request_id)["digest"]}
    path = f"{INBOX}/requests/{request_id}/answer"
    return owner.http.post(path, json=body, headers={"idempotency-key": str(uuid.uuid4())})


def forget(owner: ThreadsClient) -> None:
    """Nothing waits for them any more, and no conversation of theirs is left."""
    listed = owner.http.get(f"{INBOX}/conversations", params={"page_size": 200}).raise_for_status().json()
    for conversation in listed["conversations"]:
        owner.http.delete(f"/api/sessions/{conversation['conversation_id']}").raise_for_status()


def until(act: Callable[[], None], sign: Locator) -> None:
    """Do it until the page shows that it was taken: what comes too early is left out, and may be done again."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        act()
        try:
            return sign.wait_for(timeout=GUARD_MS)
        except Error:
            if time.monotonic() > deadline:
                raise
