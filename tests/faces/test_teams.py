"""Several people: whose yes counts, on every face, and what each face says of a yes that is not the last one."""

import os
import uuid
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.either_database import DATABASES, server_on
from tests.support.hitl import PERMISSION
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.teams import GROUPS, INBOX, POLICY, active, guarded, hitl_yes, page_yes, pending, view
from tests.support.waiting import wait_for
from tests.support.witness import Witness

MEMBERS = ["bob", "cyd", "dan", "eve"]
ROUNDS = int(os.environ.get("INTERLOCK_TEST_VOTE_ROUNDS", "3"))
"""More of them for a long run."""


@pytest.fixture(scope="module", params=DATABASES)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, witness: Witness
) -> Generator[ServerProcess]:
    folder: Path = tmp_path_factory.mktemp("teams")
    with server_on(request.param, request, folder, witness.environment) as process:
        yield process


@pytest.fixture(scope="module")
def people(server: ServerProcess) -> Generator[People]:
    with People(server.url) as registered:
        admin = registered.named("root").http
        for name in ["ann", *MEMBERS, "zoe"]:
            registered.named(name)
        admin.post(GROUPS, json={"name": "payments", "members": [*MEMBERS, "ann"]}).raise_for_status()
        yield registered


Ask = Callable[..., str]


@pytest.fixture
def ask(people: People) -> Ask:
    """Ann asks, from a program: the id of the request."""

    def ask(**needs: Any) -> str:
        needs = {"people": 2, "from": ["group:payments"], **needs}
        body = {"type": "permission", "request_data": PERMISSION, "needs": needs}
        asked = people.named("ann").http.post("/api/v1/agent/hitl/requests", json=body).raise_for_status()
        return asked.json()["data"]["request_id"]

    return ask


@pytest.mark.promise("P18")
def test_two_people_say_yes_and_it_settles_once(people: People, ask: Ask) -> None:
    request_id = ask()
    bob, cyd = people.named("bob").http, people.named("cyd").http
    first = hitl_yes(bob, request_id).raise_for_status().json()
    assert (first["success"], first["data"]["status"], first["data"]["votes"]) == (
        True,
        "pending",
        {"yes": 1, "needed": 2},
    )
    assert hitl_yes(bob, request_id).json()["data"]["votes"] == {"yes": 1, "needed": 2}
    settled = page_yes(cyd, request_id).raise_for_status().json()
    assert (settled["status"], settled.get("votes")) == ("answered", None)
    end = people.named("ann").http.get(f"/api/v1/agent/hitl/requests/{request_id}").json()["data"]
    assert (end["status"], end["answered_by"], end["response"]) == ("answered", "bob, cyd", {"granted": True})


@pytest.mark.promise("P18")
def test_of_many_at_once_just_so_many_people_are_counted(people: People, ask: Ask) -> None:
    for _ in range(ROUNDS):
        request_id = ask(people=3)
        clients = [people.named(name).http for name in MEMBERS * 3]
        with ThreadPoolExecutor(len(clients)) as voters:
            replies = list(voters.map(hitl_yes, clients, [request_id] * len(clients)))
        assert {reply.status_code for reply in replies} <= {200, 400}
        assert sum(reply.json().get("data", {}).get("status") == "answered" for reply in replies) == 1
        end = view(people.named("ann").http, request_id)
        assert len(set(end["answered_by"].split(", "))) == 3
        assert len(end["people"]["voters"]) == 3


@pytest.mark.promise("P19")
def test_who_asked_does_not_count_with_a_key_either(people: People, ask: Ask, server: ServerProcess) -> None:
    """Ann is in the group that is asked, and asks it herself."""
    request_id = ask()
    ann = people.named("ann").http
    key = ann.post("/api/v1/keys", json={"name": "hers"}).raise_for_status().json()["key"]
    with httpx.Client(base_url=server.url, headers={"x-api-key": key}) as keyed:
        for caller in (ann, keyed):
            refused = hitl_yes(caller, request_id)
            assert (refused.status_code, refused.json()["error"]["details"]["needs"]["separate"]) == (403, True)
            assert page_yes(caller, request_id).status_code == 403
            shown = view(caller, request_id)
            assert (shown["status"], shown["people"]["votes"]["yes"]) == ("pending", 0)
            assert (shown["people"]["may_answer"], shown["people"]["may_refuse"]) == (False, True)
            assert shown["people"]["excluded"] is True
    assert hitl_yes(people.named("bob").http, request_id).json()["data"]["votes"] == {"yes": 1, "needed": 2}


@pytest.mark.parametrize("name", ["ann", "root", "bob"])
def test_stopping_is_wide(people: People, ask: Ask, name: str) -> None:
    request_id = ask()
    body = {"request_id": request_id, "response": {"granted": False, "reason": "no"}}
    people.named(name).http.post("/api/v1/agent/hitl/respond", json=body).raise_for_status()
    assert view(people.named("ann").http, request_id)["status"] == "answered"


@pytest.mark.promise("P18")
def test_starting_is_narrow(people: People, ask: Ask) -> None:
    request_id = ask()
    assert hitl_yes(people.named("root").http, request_id).status_code == 403
    assert hitl_yes(people.named("zoe").http, request_id).status_code == 403
    assert people.named("zoe").http.get(f"{INBOX}/requests/{request_id}").status_code in (403, 404)
    assert view(people.named("bob").http, request_id)["people"]["votes"]["yes"] == 0


def test_no_admin_breaks_the_glass_unless_the_operator_lets_them(people: People, ask: Ask) -> None:
    request_id = ask()
    root = people.named("root").http
    assert view(root, request_id)["people"]["may_override"] is False
    refused = page_yes(root, request_id, override={"reason": "I am in a hurry"})
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert view(root, request_id)["status"] == "pending"


@pytest.mark.promise("P18")
def test_who_lost_their_right_before_the_last_vote_does_not_count(people: People, ask: Ask) -> None:
    root = people.named("root").http
    name = f"g{uuid.uuid4().hex[:8]}"
    root.post(GROUPS, json={"name": name, "members": ["bob", "cyd", "dan"]}).raise_for_status()
    request_id = ask(**{"from": [f"group:{name}"]})
    hitl_yes(people.named("bob").http, request_id).raise_for_status()
    root.put(f"{GROUPS}/{name}", json={"members": ["cyd", "dan"]}).raise_for_status()
    reply = hitl_yes(people.named("cyd").http, request_id).json()["data"]
    assert (reply["status"], reply["votes"]["yes"]) == ("pending", 1)
    assert hitl_yes(people.named("dan").http, request_id).json()["data"]["status"] == "answered"
    assert view(root, request_id)["answered_by"] == "cyd, dan"


@pytest.mark.parametrize("more", [{"args": {"command": "ls"}}, {"remember": True}])
def test_several_people_approve_it_as_it_is(people: People, ask: Ask, more: dict[str, Any]) -> None:
    reply = hitl_yes(people.named("bob").http, ask(), **more)
    assert reply.status_code == 400
    assert reply.json()["error"]["details"]["errors"][0]["field"] in ("response.decision", "response.remember")


def test_before_a_vote_nobody_is_named(people: People, ask: Ask) -> None:
    request_id = ask()
    hitl_yes(people.named("bob").http, request_id)
    assert view(people.named("cyd").http, request_id)["people"]["voters"] == []
    assert [one["by"] for one in view(people.named("bob").http, request_id)["people"]["voters"]] == ["bob"]


def test_the_trail_names_no_voter_to_who_has_not_voted(people: People) -> None:
    ann, root = people.named("ann"), people.named("root")
    with active(root.http, TWO):
        request_id, thread = guarded(ann, f"two-{uuid.uuid4()}")

    def voters(http: httpx.Client) -> list[str]:
        entries: list[dict[str, Any]] = []
        for more in ({}, {"conversation_id": thread}):
            page = http.get("/api/v1/audit", params={"action": "request.voted", "limit": 200} | more)
            entries = [one for one in page.raise_for_status().json()["entries"] if one["conversation_id"] == thread]
        return [one["actor"] for one in entries]

    hitl_yes(root.http, request_id).raise_for_status()
    assert (voters(ann.http), voters(root.http)) == ([], ["root"])
    assert hitl_yes(ann.http, request_id).json()["data"]["status"] == "answered"
    assert voters(ann.http) == ["ann", "root"]


def test_a_yes_is_taken_back(people: People, ask: Ask) -> None:
    request_id = ask()
    bob = people.named("bob").http
    hitl_yes(bob, request_id)
    assert bob.delete(f"{INBOX}/requests/{request_id}/vote").json()["votes"]["yes"] == 0
    assert bob.delete(f"{INBOX}/requests/{request_id}/vote").status_code == 409


def test_a_no_among_several_is_taken_back(people: People, ask: Ask) -> None:
    root = people.named("root").http
    rule = TWO.replace("separate = false", 'refusals = 2\nfrom = ["group:payments"]')
    with active(root, rule):
        request_id, _ = guarded(people.named("ann"), f"two-{uuid.uuid4()}")
    bob, cyd = people.named("bob").http, people.named("cyd").http
    refusal = {"value": {"decision": "reject"}}
    assert page_yes(bob, request_id, **refusal).json()["votes"]["refusals"] == 1
    assert bob.delete(f"{INBOX}/requests/{request_id}/vote").json()["votes"]["refusals"] == 0
    assert page_yes(cyd, request_id, **refusal).json()["status"] == "pending"
    assert page_yes(bob, request_id, **refusal).json()["status"] == "answered"


@pytest.mark.promise("P20")
def test_a_claim_is_said_and_blocks_no_answer(people: People, ask: Ask) -> None:
    request_id = ask(people=1, separate=True)
    bob, cyd = people.named("bob").http, people.named("cyd").http
    bob.post(f"{INBOX}/requests/{request_id}/claim").raise_for_status()
    assert cyd.post(f"{INBOX}/requests/{request_id}/claim").json()["claimed_by"] == "bob"
    assert page_yes(cyd, request_id).json()["code"] == "claimed"
    assert view(cyd, request_id)["people"]["claim"]["by"] == "bob"
    assert page_yes(cyd, request_id, over_claim=True).json()["status"] == "answered"


@pytest.mark.promise("P20")
@pytest.mark.parametrize("way", ["left", "blocked"])
def test_the_claim_of_who_may_not_answer_any_more_holds_nobody_off(people: People, way: str) -> None:
    root, ann, bob, cyd = (people.named(name).http for name in ("root", "ann", "bob", "cyd"))
    name = f"crew-{uuid.uuid4().hex[:8]}"
    gone = people.named(name).http
    (gone_id,) = (one["user_id"] for one in root.get("/api/v1/people").json()["people"] if one["username"] == name)
    root.post(GROUPS, json={"name": name, "members": [name, "bob", "cyd"]}).raise_for_status()
    needs = {"from": [f"group:{name}"], "separate": True}
    body = {"type": "permission", "request_data": PERMISSION, "needs": needs}
    asked = [ann.post("/api/v1/agent/hitl/requests", json=body).raise_for_status().json() for _ in range(3)]
    by_page, by_hitl, claimed = (one["data"]["request_id"] for one in asked)
    for request_id in (by_page, by_hitl, claimed):
        gone.post(f"{INBOX}/requests/{request_id}/claim").raise_for_status()
    response = {"granted": True}
    held_off = {"request_id": by_hitl, "response": response, "over_claim": False}
    assert cyd.post("/api/v1/agent/hitl/respond", json=held_off).json()["error"]["details"]["claimed_by"] == name
    if way == "left":
        root.put(f"{GROUPS}/{name}", json={"members": ["bob", "cyd"]}).raise_for_status()
    else:
        root.post(f"/api/v1/people/{gone_id}/access", json={"allowed": False}).raise_for_status()
    listed = cyd.get(INBOX, params={"for": f"group:{name}"}).raise_for_status().json()["requests"]
    assert [one["people"]["claim"] for one in listed] == [None] * 3
    assert view(cyd, claimed)["people"]["claim"] is None
    cyd.post(f"{INBOX}/requests/{claimed}/claim").raise_for_status()
    assert bob.post(f"{INBOX}/requests/{claimed}/claim").json()["claimed_by"] == "cyd"
    assert page_yes(cyd, by_page).json()["status"] == "answered"
    assert cyd.post("/api/v1/agent/hitl/respond", json=held_off).json()["data"]["status"] == "answered"


def test_lists_have_what_is_put_to_one(people: People, ask: Ask) -> None:
    request_id = ask()
    wanted = {
        ("bob", "all"): True,
        ("bob", "me"): True,
        ("bob", "group:payments"): True,
        ("bob", "claimed"): False,
        ("ann", "all"): True,
        ("zoe", "all"): False,
        ("zoe", "me"): False,
        ("root", "all"): True,
        ("root", "me"): False,
    }
    for (name, whom), is_there in wanted.items():
        found = people.named(name).http.get(INBOX, params={"for": whom, "limit": 200}).raise_for_status().json()
        ids = [one["request_id"] for one in found["requests"]]
        assert ids.count(request_id) == is_there, (name, whom)
    assert people.named("zoe").http.get(INBOX, params={"for": "group:payments"}).status_code == 403
    assert people.named("bob").http.get(INBOX, params={"for": "nobody"}).status_code == 400


@pytest.mark.promise("P19")
def test_a_request_is_passed_on_to_who_may_be_asked_anyway(people: People, ask: Ask) -> None:
    request_id = ask()
    bob = people.named("bob").http
    for name in ("ann", "zoe", "nobody"):
        assert bob.post(f"{INBOX}/requests/{request_id}/delegate", json={"to": name}).status_code in (400, 403), name
    bob.post(f"{INBOX}/requests/{request_id}/claim").raise_for_status()
    bob.post(f"{INBOX}/requests/{request_id}/delegate", json={"to": "cyd", "note": "yours"}).raise_for_status()
    assert view(people.named("cyd").http, request_id)["people"]["claim"] is None
    assert hitl_yes(bob, request_id).status_code == 403
    later, untouched = ask(), ask()
    bob.post(f"{INBOX}/requests/{later}/delegate", json={"to": "dan"}).raise_for_status()
    passed = view(people.named("cyd").http, request_id)["passed_on"]
    assert (passed["by"], passed["to"], passed["note"]) == ("bob", ["person:cyd"], "yours")
    assert view(people.named("cyd").http, untouched)["passed_on"] is None


def test_an_admin_does_not_become_a_candidate_by_routing(people: People, ask: Ask) -> None:
    request_id = ask()
    root = people.named("root").http
    root.post(GROUPS, json={"name": "roots", "members": ["root", "zoe"]})
    assert (
        people.named("bob")
        .http.post(f"{INBOX}/requests/{request_id}/route", json={"from": ["group:roots"]})
        .status_code
        == 403
    )
    root.post(f"{INBOX}/requests/{request_id}/route", json={"from": ["group:roots"]}).raise_for_status()
    assert hitl_yes(root, request_id).status_code == 403
    assert hitl_yes(people.named("zoe").http, request_id).json()["data"]["votes"]["yes"] == 1


def test_comments_are_for_people(people: People, ask: Ask) -> None:
    request_id = ask()
    bob, cyd = people.named("bob").http, people.named("cyd").http
    bob.post(f"{INBOX}/requests/{request_id}/comments", json={"text": "is this right?"}).raise_for_status()
    assert cyd.get(f"{INBOX}/requests/{request_id}/comments").json()["comments"] == []
    hitl_yes(cyd, request_id)
    (comment,) = cyd.get(f"{INBOX}/requests/{request_id}/comments").json()["comments"]
    assert (comment["by"], comment["text"]) == ("bob", "is this right?")
    assert people.named("zoe").http.get(f"{INBOX}/requests/{request_id}/comments").status_code == 403


def test_a_code_is_wanted_where_a_rule_says_so(people: People) -> None:
    root, ann = people.named("root").http, people.named("ann")
    rule = TWO.replace("separate = false", 'code = true\nfrom = ["group:payments"]').replace('"two"', '"coded"')
    with active(root, rule):
        request_id, thread = guarded(ann, f"two-{uuid.uuid4()}")
    bob = people.named("bob").http
    shown = view(bob, request_id)
    assert shown["people"]["policy"]["rule"] == "coded"
    assert shown["people"]["conversation"] is False
    assert shown["conversation_title"] == ""
    assert hitl_yes(bob, request_id).json()["error"]["details"]["errors"][0]["field"] == "response.code"
    assert hitl_yes(bob, request_id, code=shown["code"]).json()["data"]["status"] == "pending"
    assert page_yes(people.named("cyd").http, request_id).json()["status"] == "answered"
    ann.wait_for_rest(thread)


TWO = '[[rule]]\nname = "two"\nwhen = \'args.name.startsWith("two-")\'\nthen = "ask"\npeople = 2\nseparate = false\n'


def test_the_threads_face_shows_the_interrupt_again(people: People) -> None:
    ann = people.named("ann")
    with active(people.named("root").http, TWO):
        request_id, thread = guarded(ann, f"two-{uuid.uuid4()}")
    counted = ann.resume(thread, "continue")
    assert counted.events[-2:] == ["interrupt", "end"]
    assert counted.frames[-2].data["request_id"] == request_id
    assert "1/2" in counted.frames[-2].data["info"] or "1 of 2" in counted.frames[-2].data["info"]
    assert counted.frames[-1].data["action"] == "continue"
    assert page_yes(people.named("root").http, request_id).json()["status"] == "answered"


def test_the_threads_face_says_who_is_needed(people: People) -> None:
    ann = people.named("ann")
    rule = TWO.replace("separate = false\n", 'from = ["group:payments"]\n')
    with active(people.named("root").http, rule):
        _, thread = guarded(ann, f"two-{uuid.uuid4()}")
    refused = ann.resume(thread, "continue")
    assert refused.events == ["error", "end"]
    assert "payments" in refused.frames[0].data["message"]
    assert pending(ann, thread)["status"] == "pending"


def test_a_grant_is_no_second_person(people: People) -> None:
    ann = people.named("ann")
    name = f"two-{uuid.uuid4()}"
    first, _ = guarded(ann, name)
    assert hitl_yes(ann.http, first, remember=True, duration="forever", scope="this_action").status_code == 200
    with active(people.named("root").http, TWO):
        second, _ = guarded(ann, name)
    assert view(ann.http, second)["people"]["needs"]["people"] == 2


@pytest.mark.promise("P22")
def test_a_change_of_the_policy_reaches_nothing_that_was_asked(people: People) -> None:
    ann = people.named("ann")
    with active(people.named("root").http, TWO):
        request_id, _ = guarded(ann, f"two-{uuid.uuid4()}")
    with active(people.named("root").http, TWO.replace("people = 2", "people = 1")):
        assert view(ann.http, request_id)["people"]["needs"]["people"] == 2


@pytest.mark.promise("P21")
def test_a_level_puts_it_to_more_people(people: People) -> None:
    ann, root = people.named("ann"), people.named("root").http
    root.post(GROUPS, json={"name": "leads", "members": ["zoe"]})
    rule = TWO.replace("people = 2\nseparate = false\n", 'from = ["group:payments"]\n')
    rule += 'levels = [{from = ["group:leads"], after = 1}]\nat_end = "refuse"\n'
    with active(root, rule):
        request_id, _ = guarded(ann, f"two-{uuid.uuid4()}")
    zoe = people.named("zoe").http
    wait_for(lambda: zoe.get(f"{INBOX}/requests/{request_id}").status_code, lambda status: status == 200)
    wait_for(lambda: view(ann.http, request_id)["status"], lambda status: status == "answered")
    assert view(ann.http, request_id)["response"]["decision"] == "reject"


def test_a_rule_that_names_nobody_is_refused(people: People) -> None:
    root = people.named("root").http
    for who in ("group:nobody", "person:nobody"):
        text = f'[[rule]]\nname = "r"\nthen = "ask"\nfrom = ["{who}"]\n'
        assert root.post(f"{POLICY}/versions", json={"text": text}).status_code == 400
        assert root.post(f"{POLICY}/check", json={"text": text}).json()["usable"] is False


def test_needs_are_checked(people: People) -> None:
    hitl = people.named("ann").http
    for needs in ({"people": True}, {"people": 0}, {"from": ["payments"]}, {"from": ["group:none"]}, {"peple": 2}):
        reply = hitl.post(
            "/api/v1/agent/hitl/requests", json={"type": "permission", "request_data": PERMISSION, "needs": needs}
        )
        assert reply.status_code == 400, needs


def test_groups_are_for_admins_to_change(people: People) -> None:
    bob, root = people.named("bob").http, people.named("root").http
    assert bob.post(GROUPS, json={"name": "mine"}).status_code == 403
    assert "payments" in [one["name"] for one in bob.get(GROUPS).json()["groups"]]
    assert root.post(GROUPS, json={"name": "payments"}).status_code == 409
    assert root.post(GROUPS, json={"name": "p\u0430yments"}).status_code == 400
    assert bob.get("/api/v1/people/names", params={"q": "CY"}).json()["people"] == ["cyd"]


def test_who_is_away_has_somebody_in_their_place(people: People, ask: Ask) -> None:
    eve, dan = people.named("eve").http, people.named("dan").http
    times = {"from": "2026-01-01T00:00:00Z", "until": "2046-01-01T00:00:00Z"}
    eve.put("/api/v1/away", json={**times, "to": "dan"}).raise_for_status()
    assert dan.put("/api/v1/away", json={**times, "to": "eve"}).status_code == 400
    request_id = ask(people=1, separate=True, **{"from": ["person:eve"]})
    assert view(dan, request_id)["people"]["may_answer"] is True
    assert view(eve, request_id)["people"]["may_answer"] is True
    root = people.named("root").http
    assert root.get("/api/v1/away", params={"person": "eve"}).json()["away"]["to"] == "dan"
    assert root.get("/api/v1/away").json() == {"away": None}
    assert dan.get("/api/v1/away", params={"person": "eve"}).status_code == 403
    assert eve.delete("/api/v1/away").json() == {"away": None}
