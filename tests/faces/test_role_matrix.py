"""Who may do what: every operation of the server, tried by everybody.

The table says what each gets. A row that needs something to act on makes it anew for each cell, so that no cell finds
what another one left.
"""

import uuid
from collections.abc import Callable, Generator
from typing import Any

import httpx
import pytest

from tests.faces import langgraph_rows
from tests.faces.scene import Scene
from tests.support import adviser, puppet
from tests.support.agui import user
from tests.support.command import users
from tests.support.hitl import HITL, PERMISSION, QUESTION
from tests.support.people import People
from tests.support.puppet import calls, says, script
from tests.support.receiver import Receiver
from tests.support.server import ServerProcess
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P12")

PASSWORD = "wonderland"
ROLES = ("admin", "owner", "other", "reviewer", "elsewhere", "namesake", "key", "asker", "stranger", "nobody")
"""The admin; the owner of what is acted on; another owner; reviewers of the agents, of other agents, and of agents of
the same name that run elsewhere and are another's; a person's key of the owner; the agent's key that asked; another
agent's key of the same owner; and no credential at all."""

OPEN = "200 200 200 200 200 200 200 200 200 200"
NOBODY = "401 401 401 401 401 401 401 401 401 401"
ANYBODY = "200 200 200 200 200 200 200 200 200 401"
PEOPLE = "200 200 200 200 200 200 200 403 403 401"
SIGNED_IN = "200 200 200 200 200 200 403 403 403 401"
DRIVE = "200 200 403 403 403 403 200 403 403 401"
ANSWER = "200 200 403 200 403 403 200 403 403 401"
SEE = "200 200 403 200 403 403 200 200 403 401"
ASKED_IT = "403 403 403 403 403 403 403 200 403 401"
ADMIN = "200 403 403 403 403 403 403 403 403 401"
NO_SUCH = "404 403 403 403 403 403 403 403 403 401"
CLASHING = "409 403 403 403 403 403 403 403 403 401"
"""An admin's, who is behind the times."""
UNROUTED = "409 409 403 409 403 403 409 409 403 401"
"""Of who may see a request that is put to nobody by name."""
THEIRS = "200 200 404 404 404 404 200 404 404 401"
THEIR_KEY = "200 200 404 404 404 404 403 403 403 401"
THEIR_SESSION = "404 200 404 404 404 404 403 403 403 401"
WRONG_PASSWORD = "400 400 400 400 400 400 403 403 403 401"
"""Of who may change their password, and does not know it."""
NOT_SET_UP = "403 403 403 403 403 403 403 403 403 403"
"""Of single sign-on, on a server without it: what it does is shown by its own tests."""
NOT_SET_UP_FOR_ANYBODY = "403 403 403 403 403 403 403 403 403 401"
CHANNELS_OFF = "400 403 403 403 403 403 403 403 403 401"
"""On a server without them; what they do is shown by their own tests."""
NO_CHANNEL = "404 404 404 404 404 404 404 403 403 401"
WRONG_QUERY = "422 422 422 422 422 422 422 422 422 401"
"""Sent rightly it would end the session of everybody in the table."""

POLICY = "/api/v1/policy"
SUBSCRIPTION = {"endpoint": "https://push.example/1", "keys": {"p256dh": "x", "auth": "y"}}
AWAY = {"from": "2031-01-01T00:00:00Z", "until": "2031-01-02T00:00:00Z"}
RULE = '[[rule]]\nname = "matrix"\ntools = ["nothing"]\nthen = "ask"\n'

Call = dict[str, Any]


def to(path: str, **how: Any) -> Call:
    return {"url": path, **how}


def to_agui(thread_id: str, *messages: dict[str, str]) -> Call:
    return to("/api/v1/agui/puppet", json={"threadId": thread_id, "runId": "r1", "messages": list(messages)})


def account() -> dict[str, str]:
    return {"username": f"new-{uuid.uuid4()}", "password": PASSWORD}


def outside(scene: Scene) -> str:
    return scene.asked()["conversation_id"]


def resumed(scene: Scene, thread_id: str, **body: Any) -> Call:
    (asked,) = scene.owner.pending(thread_id)
    return to(f"/api/resume/{thread_id}", json={**body, "request_id": asked["request_id"]})


def replied(scene: Scene) -> Call:
    session = scene.session(script(calls(("guarded", {"name": "matrix"}))))
    body = {"user_id": "owner", "session_id": session["session_id"], "response_type": "reject"}
    return to("/agent/resume", json={**body, "args": {"request_id": session["interrupt_data"]["request_id"]}})


def ended(scene: Scene) -> str:
    scene.session(script(says("before")))
    return "/agent/session/owner"


def invoked(scene: Scene) -> Call:
    scene.session(script(says("before")))
    return to("/agent/invoke", json={"user_id": "owner", "query": script(says("hi"))})


def in_inbox(scene: Scene) -> str:
    return f"/api/v1/inbox/requests/{scene.asked()['request_id']}"


def keyed(path: str, body: dict[str, Any]) -> Call:
    return to(path, json=body, headers={"idempotency-key": str(uuid.uuid4())})


def answered(scene: Scene) -> Call:
    path = in_inbox(scene)
    digest = scene.owner.http.get(path).json()["digest"]
    return keyed(f"{path}/answer", {"value": {"answer": "A"}, "digest": digest})


Row = tuple[str, Callable[[Scene], Call], str]

TABLE: list[Row] = [
    ("post /api/auth/register", lambda scene: to("/api/auth/register", json=account()), OPEN),
    (
        "post /api/auth/login",
        lambda scene: to("/api/auth/login", json={"username": "owner", "password": PASSWORD}),
        OPEN,
    ),
    (
        "post /api/v1/account/password",
        lambda scene: to("/api/v1/account/password", json={"old_password": "not this", "new_password": "another one"}),
        WRONG_PASSWORD,
    ),
    ("get /api/v1/account/sessions", lambda scene: to("/api/v1/account/sessions"), SIGNED_IN),
    (
        "delete /api/v1/account/sessions/{session_id}",
        lambda scene: to(f"/api/v1/account/sessions/{scene.signed_in()}"),
        THEIR_SESSION,
    ),
    (
        "delete /api/v1/account/sessions",
        lambda scene: to("/api/v1/account/sessions", params={"others": "perhaps"}),
        WRONG_QUERY,
    ),
    ("get /api/v1/account/identities", lambda scene: to("/api/v1/account/identities"), SIGNED_IN),
    ("post /api/v1/account/identities", lambda scene: to("/api/v1/account/identities"), NOT_SET_UP_FOR_ANYBODY),
    (
        "delete /api/v1/account/identities/{identity_id}",
        lambda scene: to("/api/v1/account/identities/none"),
        "404 404 404 404 404 404 403 403 403 401",
    ),
    ("post /api/v1/session/sign-on", lambda scene: to("/api/v1/session/sign-on", json={}), NOT_SET_UP),
    (
        "post /api/v1/session/sign-on/finish",
        lambda scene: to("/api/v1/session/sign-on/finish", json={"state": "guessed", "code": "guessed"}),
        NOT_SET_UP,
    ),
    ("get /api/v1/people", lambda scene: to("/api/v1/people"), ADMIN),
    (
        "post /api/v1/people/{user_id}/identities",
        lambda scene: to(f"/api/v1/people/{scene.newcomer()}/identities", json={"subject": "one"}),
        NOT_SET_UP_FOR_ANYBODY,
    ),
    (
        "delete /api/v1/people/{user_id}/identities/{identity_id}",
        lambda scene: to(f"/api/v1/people/{scene.newcomer()}/identities/none"),
        NO_SUCH,
    ),
    (
        "post /api/v1/people/{user_id}/role",
        lambda scene: to(f"/api/v1/people/{scene.newcomer()}/role", json={"role": "reviewer", "reviews": ["puppet"]}),
        ADMIN,
    ),
    (
        "post /api/v1/people/{user_id}/access",
        lambda scene: to(f"/api/v1/people/{scene.newcomer()}/access", json={"allowed": False}),
        ADMIN,
    ),
    ("delete /api/v1/people/{user_id}", lambda scene: to(f"/api/v1/people/{scene.newcomer()}"), ADMIN),
    ("post /api/sessions", lambda scene: to("/api/sessions", json={}), PEOPLE),
    ("get /api/sessions", lambda scene: to("/api/sessions"), ANYBODY),
    ("delete /api/sessions/{thread_id}", lambda scene: to(f"/api/sessions/{scene.paused()}"), DRIVE),
    ("delete /api/sessions/{thread_id}", lambda scene: to(f"/api/sessions/{outside(scene)}"), DRIVE),
    ("get /api/status/{thread_id}", lambda scene: to(f"/api/status/{scene.paused()}"), ANSWER),
    ("get /api/status/{thread_id}", lambda scene: to(f"/api/status/{outside(scene)}"), SEE),
    ("get /api/history/{thread_id}", lambda scene: to(f"/api/history/{scene.hosted()}"), ANSWER),
    ("get /api/history/{thread_id}", lambda scene: to(f"/api/history/{outside(scene)}"), SEE),
    (
        "post /api/chat/{thread_id}",
        lambda scene: to(f"/api/chat/{scene.hosted()}", json={"message": script(says("hi"))}),
        DRIVE,
    ),
    ("post /api/chat", lambda scene: to("/api/chat", json={"message": script(says("hi"))}), PEOPLE),
    (
        "post /api/resume/{thread_id}",
        lambda scene: resumed(scene, scene.paused(), action="cancel"),
        ANSWER,
    ),
    (
        "post /api/resume/{thread_id}",
        lambda scene: resumed(scene, outside(scene), action="answer", answers=["A"]),
        ANSWER,
    ),
    ("get /api/stream/{thread_id}", lambda scene: to(f"/api/stream/{scene.paused()}"), ANSWER),
    ("get /api/stream/{thread_id}", lambda scene: to(f"/api/stream/{outside(scene)}"), SEE),
    (
        "get /api/v1/agent/hitl/conversations/{conversation_id}/pending",
        lambda scene: to(f"{HITL}/conversations/{outside(scene)}/pending"),
        SEE,
    ),
    (
        "get /api/v1/agent/hitl/conversations/{conversation_id}/pending",
        lambda scene: to(f"{HITL}/conversations/{scene.paused()}/pending"),
        ANSWER,
    ),
    ("get /api/v1/agent/hitl/pending", lambda scene: to(f"{HITL}/pending"), ANYBODY),
    (
        "post /api/v1/agent/hitl/respond",
        lambda scene: to(
            f"{HITL}/respond", json={"request_id": scene.asked()["request_id"], "response": {"answer": "A"}}
        ),
        ANSWER,
    ),
    (
        "post /api/v1/agent/hitl/cancel",
        lambda scene: to(f"{HITL}/cancel", json={"request_id": scene.asked()["request_id"]}),
        SEE,
    ),
    (
        "post /api/v1/agent/hitl/requests",
        lambda scene: to(f"{HITL}/requests", json={"type": "clarification", "request_data": QUESTION}),
        ANYBODY,
    ),
    (
        "post /api/v1/agent/hitl/requests",
        lambda scene: to(
            f"{HITL}/requests",
            json={"type": "clarification", "request_data": QUESTION, "conversation_id": outside(scene)},
        ),
        ASKED_IT,
    ),
    (
        "get /api/v1/agent/hitl/requests/{request_id}",
        lambda scene: to(f"{HITL}/requests/{scene.asked()['request_id']}"),
        SEE,
    ),
    (
        "post /api/v1/agent/hitl/requests/{request_id}/extend",
        lambda scene: to(f"{HITL}/requests/{scene.asked()['request_id']}/extend", json={"seconds": 60}),
        ANSWER,
    ),
    (
        "post /api/v1/agent/hitl/requests/{request_id}/collect",
        lambda scene: to(f"{HITL}/requests/{scene.given()}/collect"),
        ASKED_IT,
    ),
    (
        "get /api/v1/agent/stream",
        lambda scene: to("/api/v1/agent/stream", params={"conversation_id": outside(scene)}),
        SEE,
    ),
    (
        "post /api/v1/hooks/claude-code",
        lambda scene: to("/api/v1/hooks/claude-code", json={"hook_event_name": "SessionEnd", "session_id": "one"}),
        ANYBODY,
    ),
    ("get /api/v1/agui/{agent}", lambda _: to("/api/v1/agui/puppet"), ANYBODY),
    ("post /api/v1/agui/{agent}", lambda scene: to_agui(scene.paused()), ANSWER),
    ("post /api/v1/agui/{agent}", lambda scene: to_agui(scene.hosted(), user(script(says("hi")))), DRIVE),
    ("post /api/v1/agui/{agent}", lambda _: to_agui(str(uuid.uuid4()), user(script(says("hi")))), PEOPLE),
    ("post /api/v1/keys", lambda scene: to("/api/v1/keys", json={"name": "another"}), SIGNED_IN),
    ("get /api/v1/keys", lambda scene: to("/api/v1/keys"), PEOPLE),
    ("get /api/v1/keys", lambda scene: to("/api/v1/keys", params={"all": True}), ADMIN),
    ("delete /api/v1/keys/{key_id}", lambda scene: to(f"/api/v1/keys/{scene.key()}"), THEIR_KEY),
    ("post /api/v1/tickets", lambda scene: to("/api/v1/tickets"), ANYBODY),
    ("get /api/v1/grants", lambda scene: to("/api/v1/grants"), PEOPLE),
    ("get /api/v1/grants", lambda scene: to("/api/v1/grants", params={"all": True}), ADMIN),
    ("delete /api/v1/grants/{grant_id}", lambda scene: to(f"/api/v1/grants/{scene.granted()}"), THEIRS),
    ("get /api/v1/secrets", lambda scene: to("/api/v1/secrets"), PEOPLE),
    ("get /api/v1/secrets", lambda scene: to("/api/v1/secrets", params={"all": True}), ADMIN),
    ("delete /api/v1/secrets/{secret_id}", lambda scene: to(f"/api/v1/secrets/{scene.saved()}"), THEIRS),
    ("get /api/v1/audit", lambda scene: to("/api/v1/audit"), PEOPLE),
    ("get /api/v1/audit", lambda scene: to("/api/v1/audit", params={"conversation_id": outside(scene)}), ANSWER),
    ("get /api/v1/audit", lambda scene: to("/api/v1/audit", params={"conversation_id": "server"}), ADMIN),
    ("get /api/v1/policy", lambda _: to(POLICY), ADMIN),
    ("get /api/v1/policy/versions/{number}", lambda _: to(f"{POLICY}/versions/777"), NO_SUCH),
    ("post /api/v1/policy/check", lambda _: to(f"{POLICY}/check", json={"text": "a = 1"}), ADMIN),
    ("post /api/v1/policy/versions", lambda _: to(f"{POLICY}/versions", json={"text": RULE}), ADMIN),
    (
        "post /api/v1/policy/versions/{number}/activate",
        lambda _: to(f"{POLICY}/versions/777/activate", json={}),
        NO_SUCH,
    ),
    ("post /api/v1/policy/deactivate", lambda _: to(f"{POLICY}/deactivate", json={"expected": 777}), CLASHING),
    ("post /api/v1/policy/try", lambda _: to(f"{POLICY}/try", json={"text": RULE, "facts": {}}), ADMIN),
    ("post /api/v1/policy/replay", lambda _: to(f"{POLICY}/replay", json={"text": RULE, "limit": 1}), ADMIN),
    (
        "post /api/v1/policy/versions/{number}/shadow",
        lambda _: to(f"{POLICY}/versions/777/shadow", json={}),
        NO_SUCH,
    ),
    ("get /api/v1/policy/versions/{number}/shadow", lambda _: to(f"{POLICY}/versions/777/shadow"), NO_SUCH),
    ("post /api/v1/policy/shadow/off", lambda _: to(f"{POLICY}/shadow/off", json={"expected": 777}), CLASHING),
    ("get /api/v1/groups", lambda _: to("/api/v1/groups"), PEOPLE),
    ("post /api/v1/groups", lambda _: to("/api/v1/groups", json={"name": f"g-{uuid.uuid4()}", "members": []}), ADMIN),
    ("put /api/v1/groups/{name}", lambda _: to("/api/v1/groups/none", json={"members": []}), NO_SUCH),
    ("delete /api/v1/groups/{name}", lambda _: to("/api/v1/groups/none"), NO_SUCH),
    ("get /api/v1/people/names", lambda _: to("/api/v1/people/names", params={"q": "o"}), PEOPLE),
    ("get /api/v1/away", lambda _: to("/api/v1/away"), PEOPLE),
    ("put /api/v1/away", lambda _: to("/api/v1/away", json=AWAY), PEOPLE),
    (
        "put /api/v1/away",
        lambda _: to("/api/v1/away", json={**AWAY, "person": "other"}),
        "200 403 200 403 403 403 403 403 403 401",
    ),
    ("delete /api/v1/away", lambda _: to("/api/v1/away"), PEOPLE),
    ("get /api/v1/webhooks", lambda scene: to("/api/v1/webhooks"), ADMIN),
    ("post /api/v1/webhooks", lambda scene: to("/api/v1/webhooks", json=scene.new_hook()), ADMIN),
    ("delete /api/v1/webhooks/{webhook_id}", lambda scene: to(f"/api/v1/webhooks/{scene.hook()}"), ADMIN),
    (
        "get /api/v1/webhooks/{webhook_id}/deliveries",
        lambda scene: to(f"/api/v1/webhooks/{scene.hook()}/deliveries"),
        ADMIN,
    ),
    (
        "post /api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay",
        lambda scene: to(scene.delivered()),
        ADMIN,
    ),
    ("get /api/v1/channels", lambda _: to("/api/v1/channels"), ADMIN),
    (
        "post /api/v1/channels",
        lambda _: to("/api/v1/channels", json={"kind": "mail", "settings": {}}),
        CHANNELS_OFF,
    ),
    ("get /api/v1/channels/kinds", lambda _: to("/api/v1/channels/kinds"), ADMIN),
    ("delete /api/v1/channels/{channel_id}", lambda _: to("/api/v1/channels/none"), NO_SUCH),
    ("get /api/v1/channels/{channel_id}/failed", lambda _: to("/api/v1/channels/none/failed"), NO_SUCH),
    (
        "post /api/v1/channels/{channel_id}/test",
        lambda _: to("/api/v1/channels/none/test", json={"address": "a@x.example"}),
        NO_SUCH,
    ),
    ("post /channels/{channel_id}/callback", lambda _: to("/channels/none/callback", content=b"{}"), NOBODY),
    ("post /api/v1/answer-link", lambda _: to("/api/v1/answer-link", json={"link": "x"}), OPEN),
    ("post /api/v1/answer-link/tap", lambda _: to("/api/v1/answer-link/tap", json={"link": "x", "button": "y"}), OPEN),
    ("get /api/v1/me/addresses", lambda _: to("/api/v1/me/addresses"), PEOPLE),
    (
        "post /api/v1/me/addresses",
        lambda _: to("/api/v1/me/addresses", json={"channel_id": "none", "address": "a@x.example"}),
        NO_CHANNEL,
    ),
    (
        "post /api/v1/me/addresses/confirm",
        lambda _: to("/api/v1/me/addresses/confirm", json={"channel_id": "none", "code": "A"}),
        NO_CHANNEL,
    ),
    (
        "post /api/v1/me/addresses/browser",
        lambda _: to("/api/v1/me/addresses/browser", json={"channel_id": "none", **SUBSCRIPTION}),
        NO_CHANNEL,
    ),
    ("post /api/v1/me/addresses/{address_id}/test", lambda _: to("/api/v1/me/addresses/none/test"), NO_CHANNEL),
    ("delete /api/v1/me/addresses/{address_id}", lambda _: to("/api/v1/me/addresses/none"), NO_CHANNEL),
    ("get /api/v1/me/notifications", lambda _: to("/api/v1/me/notifications"), PEOPLE),
    ("put /api/v1/me/notifications", lambda _: to("/api/v1/me/notifications", json={}), PEOPLE),
    ("post /agent/invoke", invoked, DRIVE),
    ("post /agent/resume", replied, DRIVE),
    ("get /agent/status/{user_id}", lambda scene: to("/agent/status/owner"), DRIVE),
    ("delete /agent/session/{user_id}", lambda scene: to(ended(scene)), DRIVE),
    ("get /system/info", lambda scene: to("/system/info"), ANYBODY),
    ("get /api/v1/welcome", lambda scene: to("/api/v1/welcome"), OPEN),
    ("get /api/v1/session", lambda scene: to("/api/v1/session"), ANYBODY),
    (
        "post /api/v1/session",
        lambda scene: to("/api/v1/session", json={"username": "owner", "password": PASSWORD}),
        OPEN,
    ),
    ("post /api/v1/session/once", lambda scene: to("/api/v1/session/once", json={"token": "guessed"}), NOBODY),
    ("delete /api/v1/session", lambda scene: to("/api/v1/session"), OPEN),
    ("get /api/v1/inbox", lambda scene: to("/api/v1/inbox"), ANYBODY),
    ("get /api/v1/inbox/stream", lambda scene: to("/api/v1/inbox/stream"), ANYBODY),
    ("get /api/v1/inbox/requests/{request_id}", lambda scene: to(in_inbox(scene)), SEE),
    (
        "get /api/v1/inbox/requests/{request_id}/similar",
        lambda scene: to(f"{in_inbox(scene)}/similar"),
        ANSWER,
    ),
    (
        "post /api/v1/inbox/requests/{request_id}/opinion",
        lambda scene: to(f"/api/v1/inbox/requests/{scene.asked('permission', PERMISSION)['request_id']}/opinion"),
        ANSWER,
    ),
    ("get /api/v1/inbox/requests/{request_id}/rule", lambda scene: to(f"{in_inbox(scene)}/rule"), CLASHING),
    ("get /api/v1/figures", lambda _: to("/api/v1/figures"), PEOPLE),
    ("post /api/v1/inbox/requests/{request_id}/answer", answered, ANSWER),
    ("get /api/v1/inbox/requests/{request_id}/explain", lambda scene: to(f"{in_inbox(scene)}/explain"), ANSWER),
    ("post /api/v1/inbox/requests/{request_id}/cancel", lambda scene: keyed(f"{in_inbox(scene)}/cancel", {}), SEE),
    (
        "post /api/v1/inbox/requests/{request_id}/{operation}/recall",
        lambda scene: keyed(f"{in_inbox(scene)}/answer/recall", {}),
        ANYBODY,
    ),
    (
        "post /api/v1/inbox/requests/{request_id}/extend",
        lambda scene: to(f"{in_inbox(scene)}/extend", json={"seconds": 60}),
        ANSWER,
    ),
    ("post /api/v1/inbox/requests/{request_id}/claim", lambda scene: to(f"{in_inbox(scene)}/claim"), UNROUTED),
    ("post /api/v1/inbox/requests/{request_id}/release", lambda scene: to(f"{in_inbox(scene)}/release"), UNROUTED),
    (
        "post /api/v1/inbox/requests/{request_id}/delegate",
        lambda scene: to(f"{in_inbox(scene)}/delegate", json={"to": "other"}),
        UNROUTED,
    ),
    (
        "post /api/v1/inbox/requests/{request_id}/route",
        lambda scene: to(f"{in_inbox(scene)}/route", json={"from": ["other"]}),
        CLASHING,
    ),
    ("delete /api/v1/inbox/requests/{request_id}/vote", lambda scene: to(f"{in_inbox(scene)}/vote"), UNROUTED),
    ("get /api/v1/inbox/requests/{request_id}/comments", lambda scene: to(f"{in_inbox(scene)}/comments"), ANSWER),
    (
        "post /api/v1/inbox/requests/{request_id}/comments",
        lambda scene: to(f"{in_inbox(scene)}/comments", json={"text": "look at the amount"}),
        ANSWER,
    ),
    (
        "post /api/v1/inbox/looking",
        lambda scene: to("/api/v1/inbox/looking", json={"request_id": scene.asked()["request_id"]}),
        ANSWER,
    ),
    ("get /api/v1/inbox/conversations", lambda scene: to("/api/v1/inbox/conversations"), ANYBODY),
    (
        "post /api/v1/inbox/conversations/{conversation_id}/stop",
        lambda scene: to(f"/api/v1/inbox/conversations/{scene.asked()['conversation_id']}/stop", json={}),
        DRIVE,
    ),
    ("get /api/v1/history", lambda scene: to("/api/v1/history"), PEOPLE),
    ("get /api/v1/agents", lambda scene: to("/api/v1/agents"), ANYBODY),
    ("get /healthz", lambda scene: to("/healthz"), OPEN),
    ("get /readyz", lambda scene: to("/readyz"), OPEN),
    ("get /metrics", lambda scene: to("/metrics"), ADMIN),
]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, witness: Witness) -> Generator[Scene]:
    environment = {
        **witness.environment,
        puppet.WORKSPACE: str(tmp_path_factory.mktemp("workspace")),
        "INTERLOCK_WEBHOOK_HOSTS": "127.0.0.1",
        "INTERLOCK_WEBHOOK_PRIVATE": "on",
        "INTERLOCK_SECOND_OPINION": adviser.SPEC,
    }
    server = ServerProcess(
        tmp_path_factory.mktemp("matrix"), agents=[puppet.SPEC, puppet.DEMO_SPEC], environment=environment
    )
    try:
        server.start()
        with People(server.url) as people, Receiver() as receiver:
            people.named("root")
            people.named("owner")
            people.named("other")
            reviewing(server, "reviewer", "puppet", "owner/worker")
            reviewing(server, "elsewhere", "demo", "owner/idler")
            reviewing(server, "namesake", "worker", "other/worker", "owner/puppet")
            built = Scene(server, people, receiver)
            yield built
            built.close()
    finally:
        server.close()


def reviewing(server: ServerProcess, name: str, *agents: str) -> None:
    reviewed = (word for agent in agents for word in ("--agent", agent))
    users(server, "create", name, "--password", PASSWORD, "--role", "reviewer", *reviewed)


def test_every_operation_has_a_row(scene: Scene) -> None:
    described = scene.callers["nobody"].get("/openapi.json").json()["paths"]
    served = {f"{method} {path}" for path, operations in described.items() for method in operations}
    assert {operation for operation, _, _ in TABLE} == served
    assert {operation for operation, _, _ in langgraph_rows.ROWS} == langgraph_rows.served()
    assert all(len(row[2].split()) == len(ROLES) for row in (*TABLE, *langgraph_rows.ROWS))


# Who signs out is out for the rows after it: `tests/faces/account` tries that with people of its own.
CALLED = [*(row for row in TABLE if row[0] != "delete /api/v1/session"), *langgraph_rows.ROWS]


@pytest.mark.parametrize(
    "row", CALLED, ids=[f"{number}-{row[0].replace(' ', '-')}" for number, row in enumerate(CALLED)]
)
def test_each_gets_what_the_table_says(scene: Scene, row: Row) -> None:
    operation, prepare, wanted = row
    statuses = {role: status_of(scene.callers[role], operation, prepare(scene)) for role in ROLES}
    assert statuses == dict(zip(ROLES, map(int, wanted.split()), strict=True))


def status_of(http: httpx.Client, operation: str, call: Call) -> int:
    """Of a stream only its beginning is read."""
    with http.stream(operation.partition(" ")[0].upper(), **call) as response:
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.read()
        elif operation.startswith("post") and operation != langgraph_rows.EVENTS:
            # A run that was started is read to its end, so that none is under way when the next cell begins.
            for _ in response.iter_lines():
                pass
        # Each comes with the credential of its role, and with nothing that an earlier row gave it.
        http.cookies.clear()
        return response.status_code


def test_what_waits_is_listed_for_those_who_may_see_it(scene: Scene) -> None:
    asked = scene.asked()
    (hosted,) = scene.owner.pending(scene.paused())

    def listed(role: str) -> set[str]:
        seen: set[str] = set()
        cursor: str | None = ""
        while cursor is not None:
            query: dict[str, Any] = {"limit": 200, **({"cursor": cursor} if cursor else {})}
            found = scene.callers[role].get(f"{HITL}/pending", params=query).raise_for_status().json()["data"]
            seen |= {one["request_id"] for one in found["pending_requests"]}
            cursor = found["next_cursor"]
        return seen & both

    both = {asked["request_id"], hosted["request_id"]}
    assert {role: listed(role) for role in ROLES[:-1]} == {
        **dict.fromkeys(("admin", "owner", "reviewer", "key"), both),
        **{role: set[str]() for role in ("other", "elsewhere", "namesake", "stranger")},
        "asker": {asked["request_id"]},
    }


def test_commands_are_obeyed_of_those_who_may_answer(scene: Scene) -> None:
    def obeyed(role: str) -> str:
        thread_id, interrupt_id = langgraph_rows.asked(scene)
        given = {"interrupt_id": interrupt_id, "response": {"decisions": [{"type": "reject"}]}}
        body = langgraph_rows.command("input.respond", given)
        reply = scene.callers[role].post(f"/threads/{thread_id}/commands", json=body).raise_for_status().json()
        return reply.get("error", reply["type"])

    assert {role: obeyed(role) for role in ROLES[:-1]} == {
        **dict.fromkeys(("admin", "owner", "reviewer", "key"), "success"),
        **dict.fromkeys(("other", "elsewhere", "namesake", "asker", "stranger"), "no_such_run"),
    }


def test_threads_are_pruned_by_those_who_may_drive_them(scene: Scene) -> None:
    def pruned(role: str) -> int:
        body = {"thread_ids": [scene.hosted(), str(uuid.uuid4())]}
        return scene.callers[role].post("/threads/prune", json=body).raise_for_status().json()["pruned_count"]

    assert {role for role in ROLES[:-1] if pruned(role)} == {"admin", "owner", "key"}
