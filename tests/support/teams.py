"""Requests that several people decide: how they are asked for and voted on, and policies that ask for them."""

import uuid
from typing import Any

import httpx

from tests.support.puppet import calls, says, script
from tests.support.threads import ThreadsClient

INBOX, POLICY, GROUPS = "/api/v1/inbox", "/api/v1/policy", "/api/v1/groups"


def hitl_yes(http: httpx.Client, request_id: str, **more: Any) -> httpx.Response:
    body = {"request_id": request_id, "response": {"granted": True, **more}}
    return http.post("/api/v1/agent/hitl/respond", json=body)


def view(http: httpx.Client, request_id: str) -> dict[str, Any]:
    return http.get(f"{INBOX}/requests/{request_id}").raise_for_status().json()


def page_yes(http: httpx.Client, request_id: str, **more: Any) -> httpx.Response:
    shown = view(http, request_id)
    body = {"value": {"decision": "accept"}, "digest": shown["digest"], "code": shown["code"], **more}
    key = {"idempotency-key": str(uuid.uuid4())}
    return http.post(f"{INBOX}/requests/{request_id}/answer", json=body, headers=key)


class active:  # noqa: N801
    """A policy that counts for a moment."""

    def __init__(self, root: httpx.Client, text: str) -> None:
        self._root, self._text = root, text

    def __enter__(self) -> None:
        saved = self._root.post(f"{POLICY}/versions", json={"text": self._text})
        assert saved.status_code == 200, saved.text
        number = saved.json()["version"]
        now = self._root.get(POLICY).json()["active"]
        self._root.post(f"{POLICY}/versions/{number}/activate", json={"expected": now}).raise_for_status()

    def __exit__(self, *_: object) -> None:
        now = self._root.get(POLICY).json()["active"]
        self._root.post(f"{POLICY}/deactivate", json={"expected": now}).raise_for_status()


def guarded(ann: ThreadsClient, name: str) -> tuple[str, str]:
    thread = ann.new_thread()
    ann.chat(thread, script(calls(("guarded", {"name": name})), says("done")))
    return pending(ann, thread)["request_id"], thread


def pending(ann: ThreadsClient, thread: str) -> dict[str, Any]:
    found = ann.http.get(f"/api/v1/agent/hitl/conversations/{thread}/pending").json()["data"]["pending_requests"]
    (asked,) = found
    return asked
