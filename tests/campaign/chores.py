"""What people do beside talking, so that servers are killed in it too: delete a conversation, activate a policy."""

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx

from tests.support.puppet import says, script
from tests.support.threads import ThreadsClient

POLICY = "/api/v1/policy"
RULE = '[[rule]]\nname = "nothing"\ntools = ["no_such_tool"]\nthen = "ask"\n'

Patient = Callable[[Callable[[ThreadsClient], Any]], Any]


def do(patient: Patient, admin: ThreadsClient, chance: random.Random) -> None:
    """One of them; what is broken off stays undone."""
    with suppress(httpx.HTTPError):
        if chance.random() < 0.5:
            activate_a_policy(admin)
        else:
            delete_a_conversation(patient)


def activate_a_policy(admin: ThreadsClient) -> None:
    saved = admin.http.post(f"{POLICY}/versions", json={"text": RULE}).raise_for_status().json()
    expected = admin.http.get(POLICY).raise_for_status().json()["active"]
    path = f"{POLICY}/versions/{saved['version']}/activate"
    admin.http.post(path, json={"expected": expected}).raise_for_status()


def delete_a_conversation(patient: Patient) -> None:
    """Whose deletion was told is gone."""

    def delete(client: ThreadsClient) -> None:
        thread = client.new_thread()
        client.chat(thread, script(says("gone")))
        client.http.delete(f"/api/sessions/{thread}").raise_for_status()
        assert client.http.get(f"/api/status/{thread}").status_code == 403

    patient(delete)
