"""People for admins: roles, who may sign in, and who is deleted, with whatever was theirs."""

import pytest

from tests.faces.account.acting import (
    PEOPLE,
    OpenStreams,
    delete,
    entries,
    is_in,
    new_key,
    one_of,
    set_access,
    set_role,
    sign_in_status,
    user_id,
)
from tests.faces.account.conftest import PASSWORD, Join, Servers
from tests.support.command import command, users
from tests.support.hitl import QUESTION, HitlClient, of
from tests.support.inbox import asked
from tests.support.puppet import calls, gate, says, script
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.wire import at_once, opened, until
from tests.support.witness import Witness

REMEMBERED = {"granted": True, "remember": True, "duration": "forever", "scope": "this_tool"}


def test_a_role_is_changed_at_once_and_recorded_with_who_did_it(root: ThreadsClient, join: Join) -> None:
    person, owner = join(), join()
    (waiting,) = asked(owner, ("guarded", {"name": "of somebody else"}))
    path = f"/api/v1/inbox/requests/{waiting['request_id']}"
    assert person.http.get(path).status_code == 403
    changed = set_role(root, user_id(root, person.username), "reviewer", "puppet", f"{owner.username}/mailer")
    assert (changed.json()["role"], changed.json()["reviews"]) == ("reviewer", ["puppet", f"{owner.username}/mailer"])
    assert person.http.get(path).status_code == 200
    assert set_role(root, user_id(root, person.username), "owner").json()["reviews"] == []
    assert person.http.get(path).status_code == 403
    (last, first) = entries(root, "user.role_changed", person.username)
    assert (first["actor"], first["data"]["before"]["role"], first["data"]["role"]) == ("root", "owner", "reviewer")
    assert last["data"]["before"]["role"] == "reviewer"


@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        ({"role": "reviewer", "reviews": ["nobody-at-all/mailer"]}, 400, "nobody-at-all"),
        ({"role": "reviewer", "reviews": ["an agent"]}, 400, "an agent"),
        ({"role": "owner", "reviews": ["puppet"]}, 400, "reviewer"),
        ({"role": "agent"}, 422, "role"),
        ({"role": "reviewer", "reviews": ["x" * 200]}, 422, "reviews"),
    ],
)
def test_a_role_that_cannot_be_is_refused_and_said_why(
    root: ThreadsClient, join: Join, body: dict[str, object], status: int, named: str
) -> None:
    person = join()
    reply = root.http.post(f"{PEOPLE}/{user_id(root, person.username)}/role", json=body)
    assert (reply.status_code, named in reply.text) == (status, True)
    assert one_of(root, person.username)["role"] == "owner"


def test_who_is_kept_out_has_no_credential_that_holds_until_they_are_let_in_again(
    servers: Servers, root: ThreadsClient, join: Join
) -> None:
    person = join()
    key = join.holding(new_key(person), person, servers.there.url)
    bot = join.holding(new_key(person, "agent"), person, servers.there.url)
    streams = OpenStreams(person, servers.there.url, person.new_thread())
    out = set_access(root, user_id(root, person.username), False)
    assert out.json()["allowed"] is False
    assert [is_in(one, servers.there.url) for one in (person, key, bot)] == [False, False, False]
    assert streams.all_end(), streams.ended
    assert sign_in_status(servers.there.url, person.username, PASSWORD) == 403
    assert sign_in_status(servers.there.url, person.username, "not this one") == 401
    assert set_access(root, user_id(root, person.username), True).json()["allowed"] is True
    assert [is_in(one, servers.there.url) for one in (person, key, bot)] == [False, True, True]
    assert is_in(join.again(person, servers.there.url))
    assert [one["actor"] for one in entries(root, "user.disallowed", person.username)] == ["root"]
    assert [one["actor"] for one in entries(root, "user.allowed", person.username)] == ["root"]


def test_what_a_person_granted_answers_nothing_while_they_are_kept_out(root: ThreadsClient, join: Join) -> None:
    owner, reviewer = join(), join("reviewer", "--role", "reviewer", "--agent", "puppet")
    (first,) = asked(owner, ("guarded", {"name": "first"}))
    of_reviewer = of(reviewer)
    with of_reviewer:
        of_reviewer.respond(first["request_id"], REMEMBERED)
    assert asked(owner, ("guarded", {"name": "granted"})) == []
    set_access(root, user_id(root, reviewer.username), False).raise_for_status()
    assert len(asked(owner, ("guarded", {"name": "asked"}))) == 1
    set_access(root, user_id(root, reviewer.username), True).raise_for_status()
    assert asked(owner, ("guarded", {"name": "granted again"})) == []


def test_a_deleted_person_is_signed_out_and_their_keys_grants_and_values_end(
    servers: Servers, root: ThreadsClient, join: Join
) -> None:
    person, other = join(), join()
    key = join.holding(new_key(person), person, servers.there.url)
    bot = HitlClient(servers.there.url, new_key(person, "agent"))
    with bot, of(person) as answering:
        allowed = bot.ask("permission", {"tool_name": "deploy"})
        answering.respond(allowed["request_id"], REMEMBERED)
        given = bot.ask("env_var", {"fields": [{"name": "KEY"}]})
        answering.respond(given["request_id"], {"values": {"KEY": "v"}, "save": True})
        streams = OpenStreams(person, servers.there.url, person.new_thread())
        gone = delete(root, person.username).json()
        assert {name: gone[name] for name in ("keys", "grants", "saved_values", "sessions")} == {
            "keys": 2,
            "grants": 1,
            "saved_values": 1,
            "sessions": 1,
        }
        assert bot.try_ask("permission", {"tool_name": "deploy"}).status_code == 401
    assert [is_in(one, servers.there.url) for one in (person, key)] == [False, False]
    assert streams.all_end(), streams.ended
    assert sign_in_status(servers.there.url, person.username, PASSWORD) == 401
    everybodys = {"all": True}
    for path in ("/api/v1/grants", "/api/v1/secrets"):
        assert gone["user_id"] not in root.http.get(path, params=everybodys).text
    listed = root.http.get("/api/v1/keys", params=everybodys).json()["keys"]
    assert all(one["revoked_at"] for one in listed if one["owner_id"] == gone["user_id"])
    assert is_in(other)
    assert delete(root, person.username).status_code == 404


def test_what_a_deleted_person_left_is_ended_and_their_conversations_stay(
    servers: Servers, root: ThreadsClient, join: Join, witness: Witness
) -> None:
    person = join()
    (waiting,) = asked(person, ("guarded", {"name": f"left-{person.username}"}))
    with HitlClient(servers.here.url, new_key(person, "agent")) as bot:
        outside = bot.ask("clarification", QUESTION)
    name = f"run-of-{person.username}"
    running = person.new_thread()
    with opened(
        person, f"/api/chat/{running}", {"message": script(says("one", gate(name)), calls(("note", {"name": name})))}
    ) as frames:
        until(frames, "messages/partial")
        delete(root, person.username).raise_for_status()
        witness.release(name)
        root.wait_for(lambda: root.history(running), lambda found: len(found) > 0)
    with of(root) as admin:
        for request_id in (waiting["request_id"], outside["request_id"]):
            ended = wait_for(lambda: admin.look(request_id), lambda one: one["status"] != "pending")  # noqa: B023
            assert ended["status"] == "cancelled"
        assert admin.try_respond(waiting["request_id"], {"granted": True}).status_code == 400
    conversation = waiting["conversation_id"]
    root.wait_for(lambda: root.status(conversation)["status"], lambda status: status == "idle")
    trail = root.http.get("/api/v1/audit", params={"conversation_id": conversation}).json()["entries"]
    assert person.username in next(one for one in trail if one["action"] == "request.cancelled")["data"]["reason"]
    assert root.history(conversation)[0]["role"] == "user"
    assert root.resume(conversation, "continue").status == 409
    wait_for(lambda: busy(root, person.username), lambda busy: busy == [])
    assert witness.count(name) == 0
    assert witness.count(f"left-{person.username}") == 0


def busy(root: ThreadsClient, username: str) -> list[str]:
    """Requests of that person's that still wait, as an admin sees them."""
    listed = root.http.get("/api/v1/inbox", params={"limit": 200}).raise_for_status().json()["requests"]
    return [one["request_id"] for one in listed if one["owner"] == username]


def test_the_name_of_a_deleted_person_stays_theirs_in_the_trail_and_is_nobody_elses(
    servers: Servers, root: ThreadsClient, join: Join
) -> None:
    person = join()
    delete(root, person.username).raise_for_status()
    for name in (person.username, person.username.upper()):
        taken = root.http.post("/api/auth/register", json={"username": name, "password": PASSWORD})
        assert (taken.status_code, taken.json()["errors"][0]["code"]) == (400, "taken")
    (entry,) = entries(root, "user.deleted", person.username)
    assert entry["actor"] == "root"
    assert one_of(root, person.username)["deleted_at"] is not None
    refused = command("users", "reset", person.username, "--password", PASSWORD, *servers.here.where)
    assert (refused.returncode, "was deleted" in refused.stderr) == (2, True)
    assert command("audit", "verify", *servers.here.where).returncode == 0


def test_the_only_admin_is_neither_demoted_nor_kept_out_nor_deleted(servers: Servers, root: ThreadsClient) -> None:
    own = user_id(root, "root")
    for reply in (set_role(root, own, "owner"), set_access(root, own, False), delete(root, "root")):
        assert (reply.status_code, reply.json()["code"]) == (409, "last_admin")
    for words in (["role", "root", "owner"], ["disallow", "root"], ["delete", "root", "--yes"]):
        refused = command("users", *words, *servers.here.where)
        assert (refused.returncode, "only admin" in refused.stderr) == (2, True), refused
    assert is_in(root)
    assert one_of(root, "root")["role"] == "admin"


ACTS = ["role", "access", "delete"]


@pytest.mark.parametrize("act", ACTS)
def test_two_admins_who_remove_each_other_at_the_same_time_leave_one(
    servers: Servers, root: ThreadsClient, join: Join, act: str
) -> None:
    pair = [join("chief", "--role", "admin") for _ in range(2)]
    second = join.copy(pair[1], servers.there.url)
    ids = [user_id(root, one.username) for one in pair]
    # The two are alone, so that each is the last one without the other.
    set_access(pair[0], user_id(root, "root"), False).raise_for_status()
    try:

        def remove(number: int) -> int:
            actor, other = (pair[0], ids[1]) if number == 0 else (second, ids[0])
            if act == "role":
                return set_role(actor, other, "owner").status_code
            if act == "access":
                return set_access(actor, other, False).status_code
            return actor.http.delete(f"{PEOPLE}/{other}").status_code

        statuses = at_once(2, remove)
        # Who comes second is no admin any more, or would be the last one.
        assert sorted(statuses)[0] == 200
        assert sorted(statuses)[1] in (401, 403, 409)
        listed = users(servers.here, "list").splitlines()
        admins = [
            line for line in listed if "\tadmin\t" in line and "not allowed" not in line and "deleted" not in line
        ]
        assert len(admins) == 1
    finally:
        users(servers.here, "allow", "root")
        root.sign_in(register=False)
        for one in pair:
            command("users", "delete", one.username, "--yes", *servers.here.where)


def test_people_are_changed_by_admins_who_signed_in_and_by_nobody_else(
    servers: Servers, root: ThreadsClient, join: Join
) -> None:
    person, reviewer = join(), join("reviewer", "--role", "reviewer", "--agent", "puppet")
    key = join.holding(new_key(root), root, servers.there.url)
    target = user_id(root, person.username)
    for somebody in (person, reviewer, key):
        for reply in (
            set_role(somebody, target, "admin"),
            set_access(somebody, target, False),
            somebody.http.delete(f"{PEOPLE}/{target}"),
        ):
            assert reply.status_code == 403
    assert person.http.get(PEOPLE).status_code == 403
    assert key.http.get(PEOPLE).status_code == 200
    assert one_of(root, person.username)["role"] == "owner"
    assert root.http.delete(f"{PEOPLE}/user_unknown").status_code == 404


def test_the_operator_does_the_same_from_the_command_line(servers: Servers, root: ThreadsClient, join: Join) -> None:
    person = join()
    key = join.holding(new_key(person), person, servers.there.url)
    assert "ended: 1" in users(servers.here, "sign-out", person.username)
    assert (is_in(person), is_in(key)) == (False, True)
    users(servers.here, "disallow", person.username)
    assert not is_in(key)
    assert sign_in_status(servers.there.url, person.username, PASSWORD) == 403
    users(servers.here, "allow", person.username)
    back = join.again(person)
    (waiting,) = asked(back, ("guarded", {"name": "never"}))
    assert "keys: 1" in users(servers.here, "delete", person.username, "--yes")
    assert "deleted" in next(line for line in users(servers.here, "list").splitlines() if person.username in line)
    assert (is_in(back), is_in(key)) == (False, False)
    with of(root) as admin:
        assert admin.look(waiting["request_id"])["status"] == "cancelled"
    actors = [one["actor"] for one in entries(root, "user.deleted", person.username)]
    assert actors == ["system"]
