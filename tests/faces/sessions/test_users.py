"""Whose session it is: `user_id` without accounts and with them, and `GET /system/info`."""

from typing import Any

import httpx
import pytest

from tests.faces.sessions.conftest import Place, Users
from tests.support.puppet import calls, says, script
from tests.support.server import ServerProcess
from tests.support.sessions import SessionsClient, of
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness


def test_info_counts_the_sessions_and_names_their_users(place: Place, users: Users) -> None:
    one, other = users(), users()
    if place.with_accounts:
        assert one.info() == {"sessions_count": 0, "active_users": []}
    one.invoke(says("hi"))
    one.invoke(says("hi"))
    other.invoke(calls(("guarded", {"name": "waits"})))
    everybody = place.named("root") if place.with_accounts else one
    seen = everybody.info()
    assert {one.user_id, other.user_id} <= set(seen["active_users"])
    assert seen["sessions_count"] == len(seen["active_users"]) == len(set(seen["active_users"]))
    if place.with_accounts:
        assert one.info() == {"sessions_count": 1, "active_users": [one.user_id]}
    one.delete()
    assert everybody.info()["sessions_count"] == seen["sessions_count"] - 1
    assert one.user_id not in everybody.info()["active_users"]
    everybody.close()


def everything(http: httpx.Client, user_id: str) -> list[httpx.Response]:
    """Every call that names a user."""
    reply: dict[str, Any] = {"user_id": user_id, "session_id": "x", "response_type": "accept"}
    return [
        http.post("/agent/invoke", json={"user_id": user_id, "query": script(says("hi"))}),
        http.post("/agent/resume", json=reply),
        http.get(f"/agent/status/{user_id}"),
        http.delete(f"/agent/session/{user_id}"),
    ]


def test_a_session_of_another_user_is_forbidden(alice: ThreadsClient, bob: ThreadsClient, witness: Witness) -> None:
    theirs, stranger = of(alice), of(bob)
    theirs.invoke(calls(("guarded", {"name": "not-bobs"})))
    for user_id in ("alice", "nobody-at-all"):
        for refused in everything(stranger.http, user_id):
            assert (refused.status_code, refused.json()["detail"]) == (403, "只能访问自己的会话")
    assert theirs.status()["status"] == "interrupted"
    assert witness.count("not-bobs") == 0
    theirs.delete()
    for client in (theirs, stranger):
        client.close()


def test_an_admin_acts_for_every_user_there_is(alice: ThreadsClient, root: ThreadsClient, witness: Witness) -> None:
    theirs, admin = of(alice), of(root)
    admin.user_id = "alice"
    asked = admin.invoke(calls(("guarded", {"name": "admins"})))
    assert theirs.status()["session_id"] == asked["session_id"]
    theirs.session_id = asked["session_id"]
    assert admin.status()["last_response"] == asked
    assert theirs.resume("accept")["status"] == "completed"
    assert admin.delete().status_code == 200
    assert witness.count("admins") == 1
    admin.user_id = "nobody-at-all"
    invoked, resumed, looked, deleted = everything(admin.http, "nobody-at-all")
    assert [invoked.status_code, resumed.status_code, deleted.status_code] == [404, 404, 404]
    assert (looked.status_code, looked.json()["status"]) == (200, "not_found")
    for client in (theirs, admin):
        client.close()


def test_an_agents_key_has_no_part_in_sessions(alice: ThreadsClient) -> None:
    made = alice.http.post("/api/v1/keys", json={"name": "asks", "role": "agent"}).raise_for_status().json()
    with httpx.Client(
        base_url=alice.http.base_url, headers={"authorization": f"Bearer {made['key']}"}, timeout=30
    ) as agent:
        for user_id in ("alice", "asks"):
            assert {reply.status_code for reply in everything(agent, user_id)} == {403}
        assert agent.get("/system/info").json() == {"sessions_count": 0, "active_users": []}


def test_who_has_no_credential_is_not_let_in(server: ServerProcess) -> None:
    with server.client() as http:
        for refused in (*everything(http, "alice"), http.get("/system/info")):
            assert (refused.status_code, refused.json()["detail"]) == (401, "Could not validate credentials")


def test_an_api_key_of_a_person_stands_for_them(alice: ThreadsClient) -> None:
    made = alice.http.post("/api/v1/keys", json={"name": "program", "role": "person"}).raise_for_status().json()
    headers = httpx.Headers({"authorization": f"Bearer {made['key']}"})
    client = SessionsClient(str(alice.http.base_url), "alice", headers)
    assert client.invoke(says("hi"))["status"] == "completed"
    assert client.info()["active_users"] == ["alice"]
    client.delete()
    client.close()


@pytest.mark.parametrize("place", ["sqlite-none"], indirect=True)
@pytest.mark.parametrize("user_id", ["张三", "a.b@c-d_e", "u" * 64])
def test_without_accounts_the_user_is_whom_the_call_names(place: Place, user_id: str) -> None:
    client = place.named(user_id)
    client.http.headers["authorization"] = "Bearer nonsense"
    client.invoke(says("hi"))
    assert client.status()["user_id"] == user_id
    assert user_id in client.info()["active_users"]
    assert client.delete().json()["message"] == f"用户 {user_id} 的会话已删除"
    client.close()


@pytest.mark.parametrize("place", ["sqlite-none"], indirect=True)
def test_a_user_id_that_cannot_be_is_a_bad_request(place: Place) -> None:
    client = place.named("a b")
    assert client.try_invoke("hi").status_code == 400
    assert client.http.get("/agent/status/a b").status_code == 400
    client.user_id = "u" * 65
    assert client.try_invoke("hi").status_code in (400, 422)
    client.close()


def test_other_threads_are_no_sessions(alice: ThreadsClient, thread: str) -> None:
    client = of(alice)
    alice.chat(thread, script(says("hi")))
    assert client.status()["status"] == "not_found"
    assert client.info()["sessions_count"] == 0
    client.close()
