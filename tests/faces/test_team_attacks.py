"""What somebody may try to get past the people whose yes a call takes."""

import uuid
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.support.command import users
from tests.support.hitl import HITL, PERMISSION
from tests.support.people import People
from tests.support.puppet import calls, says, script
from tests.support.server import ServerProcess
from tests.support.teams import GROUPS, INBOX, POLICY, active, guarded, hitl_yes, page_yes, pending, view
from tests.support.waiting import wait_for
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P19")

PAYERS, FINANCE = "group:crew-payers", "group:crew-finance"
ALWAYS = {"from": "2026-01-01T00:00:00Z", "until": "2046-01-01T00:00:00Z"}
ROUNDS = 5


def rule(name: str, what: str) -> str:
    return f'[[rule]]\nname = "{name}"\nthen = "ask"\n{what}\n'


STEPS = rule("steps", f'tools = ["guarded"]\nsteps = [{{from = ["{PAYERS}"]}}, {{from = ["{FINANCE}"]}}]')


@pytest.fixture(scope="module")
def crew(people: People, server: ServerProcess) -> People:
    """Ann asks, and is one of those who are asked; rev reviews the agent, and zoe has nothing to do with it."""
    for name in ("ann", "bob", "cyd", "dan", "zoe", "fay", "rev"):
        people.named(name)
    for group, members in {PAYERS: ["ann", "bob", "cyd", "dan"], FINANCE: ["fay"]}.items():
        body = {"name": group.removeprefix("group:"), "members": members}
        people.named("root").http.post(GROUPS, json=body).raise_for_status()
    users(server, "role", "rev", "reviewer", "--agent", "puppet")
    return people


@pytest.fixture
def root(crew: People) -> httpx.Client:
    return crew.named("root").http


@pytest.fixture
def ann(crew: People) -> httpx.Client:
    return crew.named("ann").http


@pytest.fixture
def bob(crew: People) -> httpx.Client:
    return crew.named("bob").http


@pytest.fixture
def cyd(crew: People) -> httpx.Client:
    return crew.named("cyd").http


def ask(http: httpx.Client, kind: str = "permission", data: Any = PERMISSION, **more: Any) -> dict[str, Any]:
    body = {"type": kind, "request_data": data, **more}
    return http.post(f"{HITL}/requests", json=body).raise_for_status().json()["data"]


def ask_two(http: httpx.Client) -> str:
    return ask(http, needs={"people": 2, "from": [PAYERS]})["request_id"]


def counted(http: httpx.Client, request_id: str) -> int:
    return view(http, request_id)["people"]["votes"]["yes"]


def delegate(http: httpx.Client, request_id: str, to: str) -> int:
    return http.post(f"{INBOX}/requests/{request_id}/delegate", json={"to": to}).status_code


@pytest.fixture
def away(root: httpx.Client) -> Generator[Callable[[str, str], int]]:
    """Say that somebody is away, and who stands in, until the test ends."""
    said: list[str] = []

    def away(person: str, to: str) -> int:
        said.append(person)
        return root.put("/api/v1/away", json={**ALWAYS, "person": person, "to": to}).status_code

    yield away
    for person in said:
        root.delete("/api/v1/away", params={"person": person}).raise_for_status()


def test_what_the_asker_saved_is_no_answer_of_those_who_are_asked(
    root: httpx.Client, ann: httpx.Client, bob: httpx.Client
) -> None:
    name = f"T{uuid.uuid4().hex}"
    variables = {"fields": [{"name": name, "label": "Key"}], "allow_save": True}
    given = {"request_id": ask(ann, "env_var", variables)["request_id"]}
    given |= {"response": {"values": {name: "v"}, "save": True}}
    ann.post(f"{HITL}/respond", json=given).raise_for_status()
    assert ask(ann, "env_var", variables)["status"] == "answered"
    with active(root, rule("s", f'when = \'kind == "env_var"\'\nfrom = ["{PAYERS}"]\nseparate = true')):
        asked = ask(ann, "env_var", variables)
    given["request_id"] = asked["request_id"]
    assert asked["status"] == "pending"
    assert ann.post(f"{HITL}/respond", json=given).status_code == 403
    assert bob.post(f"{HITL}/respond", json=given).status_code == 200


@pytest.mark.promise("P18")
def test_who_is_passed_a_place_fills_no_other(crew: People, witness: Witness) -> None:
    """Else two of one group would fill the places of two: one votes, and the other passes theirs to a reviewer."""
    name = f"two-{uuid.uuid4()}"
    with active(crew.named("root").http, STEPS):
        request_id, _ = guarded(crew.named("ann"), name)
    bob, cyd, rev, fay = (crew.named(one).http for one in ("bob", "cyd", "rev", "fay"))
    assert delegate(bob, request_id, "rev") == 200
    assert hitl_yes(cyd, request_id).json()["data"]["votes"] == {"yes": 1, "needed": 2}
    assert hitl_yes(rev, request_id).json()["data"]["votes"] == {"yes": 1, "needed": 2}
    assert witness.count(name) == 0
    assert hitl_yes(fay, request_id).json()["data"]["status"] == "answered"
    wait_for(lambda: witness.count(name), lambda count: count == 1)


def test_passing_on_leads_back_to_nobody(ann: httpx.Client, bob: httpx.Client, cyd: httpx.Client) -> None:
    request_id = ask_two(ann)
    assert delegate(bob, request_id, "cyd") == 200
    assert delegate(cyd, request_id, "bob") == 403
    assert delegate(bob, request_id, "dan") == 403
    assert delegate(cyd, request_id, "ann") == 403
    assert [hitl_yes(one, request_id).status_code for one in (ann, bob)] == [403, 403]


@pytest.mark.promise("P18", "P20")
def test_who_is_not_asked_and_a_candidates_program_do_nothing(
    crew: People, ann: httpx.Client, bob: httpx.Client, server: ServerProcess
) -> None:
    request_id = ask_two(ann)
    made = bob.post("/api/v1/keys", json={"name": uuid.uuid4().hex, "role": "agent"}).raise_for_status()
    with httpx.Client(base_url=server.url, headers={"x-api-key": made.json()["key"]}) as program:
        for caller in (program, ann, crew.named("zoe").http, crew.named("root").http):
            place = f"{INBOX}/requests/{request_id}"
            assert caller.post(f"{place}/claim").status_code == 403
            assert delegate(caller, request_id, "cyd") == 403
            assert hitl_yes(caller, request_id).status_code == 403
            assert caller.delete(f"{place}/vote").status_code in (403, 409)
    shown = view(ann, request_id)
    assert (shown["people"]["votes"]["yes"], shown["people"]["claim"]) == (0, None)


@pytest.mark.promise("P18")
def test_who_voted_passes_on_nothing(ann: httpx.Client, bob: httpx.Client) -> None:
    request_id = ask_two(ann)
    hitl_yes(bob, request_id).raise_for_status()
    assert delegate(bob, request_id, "dan") == 409
    assert counted(ann, request_id) == 1


def test_who_asked_stands_in_for_nobody(
    crew: People, ann: httpx.Client, away: Callable[[str, str], int], bob: httpx.Client
) -> None:
    """Over three others neither; and nobody for themselves."""
    assert [away("bob", "cyd"), away("cyd", "dan"), away("dan", "ann")] == [200, 200, 200]
    assert away("ann", "bob") == 400
    request_id = ask(ann, needs={"from": ["person:bob"], "separate": True})["request_id"]
    assert hitl_yes(ann, request_id).status_code == 403
    assert delegate(bob, request_id, "ann") == 403
    assert hitl_yes(crew.named("dan").http, request_id).json()["data"]["status"] == "answered"


def test_who_joins_after_they_asked_does_not_count(root: httpx.Client, ann: httpx.Client, bob: httpx.Client) -> None:
    name = f"crew-{uuid.uuid4().hex[:8]}"
    root.post(GROUPS, json={"name": name, "members": ["bob", "cyd"]}).raise_for_status()
    request_id = ask(ann, needs={"people": 2, "from": [f"group:{name}"]})["request_id"]
    assert ann.post(GROUPS, json={"name": "crew-mine", "members": ["ann"]}).status_code == 403
    assert ann.put(f"{GROUPS}/{name}", json={"members": ["ann"]}).status_code == 403
    root.put(f"{GROUPS}/{name}", json={"members": ["ann", "bob", "dan"]}).raise_for_status()
    for candidates in (["person:ann"], [PAYERS]):
        root.post(f"{INBOX}/requests/{request_id}/route", json={"from": candidates}).raise_for_status()
    hitl_yes(bob, request_id).raise_for_status()
    assert hitl_yes(ann, request_id).status_code == 403
    assert counted(ann, request_id) == 1


def test_an_asker_names_no_others_than_who_may_answer(crew: People, root: httpx.Client, ann: httpx.Client) -> None:
    """Where a rule names nobody, those who answer on the conversation are meant."""
    zoe, fay = crew.named("zoe").http, crew.named("fay").http
    with active(root, rule("n", 'tools = ["file_delete"]\npeople = 2')):
        theirs = ask(ann, needs={"from": ["person:zoe", "person:fay"]})["request_id"]
        lower = ask(ann, needs={"people": 1, "separate": False})["request_id"]
    assert [hitl_yes(one, theirs).status_code for one in (zoe, fay, ann)] == [403, 403, 403]
    needs = view(ann, lower)["people"]["needs"]
    assert (needs["people"], needs["separate"]) == (2, True)
    assert hitl_yes(ann, lower).status_code == 403


@pytest.mark.promise("P24")
def test_an_argument_of_another_type_needs_no_fewer_people(crew: People, root: httpx.Client) -> None:
    """A text in place of a number: the rule cannot be evaluated, and the tool may well take it for one."""
    ann = crew.named("ann")
    with active(root, rule("large", f'tools = ["pay"]\nwhen = "args.amount > 500.0"\npeople = 2\nfrom = ["{PAYERS}"]')):
        asked: list[str] = []
        for amount in ("900", 900.0):
            thread = ann.new_thread()
            ann.chat(thread, script(calls(("pay", {"amount": amount, "to": "x"})), says("done")))
            asked.append(pending(ann, thread)["request_id"])
    for request_id in asked:
        assert view(ann.http, request_id)["people"]["needs"]["people"] == 2
        assert hitl_yes(ann.http, request_id).status_code == 403
    explained = root.get(f"{INBOX}/requests/{asked[0]}/explain").raise_for_status().json()
    assert (explained["rule"], [one["rule"] for one in explained["errors"]]) == ("large", ["large"])


@pytest.mark.promise("P18")
def test_one_person_over_two_channels_is_one(
    ann: httpx.Client, bob: httpx.Client, server: ServerProcess, cyd: httpx.Client
) -> None:
    request_id = ask_two(ann)
    key = bob.post("/api/v1/keys", json={"name": uuid.uuid4().hex}).raise_for_status().json()["key"]
    with httpx.Client(base_url=server.url, headers={"x-api-key": key}) as keyed:
        ways = [
            lambda: hitl_yes(bob, request_id),
            lambda: hitl_yes(keyed, request_id),
            lambda: page_yes(bob, request_id),
            lambda: page_yes(keyed, request_id),
        ]
        with ThreadPoolExecutor(8) as pool:
            codes = [one.result().status_code for one in [pool.submit(way) for way in ways * 2]]
    assert codes == [200] * 8
    assert counted(ann, request_id) == 1
    trail = ann.get("/api/v1/audit", params={"action": "request.voted", "limit": 100}).raise_for_status().json()
    assert [one["data"]["request_id"] for one in trail["entries"]].count(request_id) == 1
    assert hitl_yes(cyd, request_id).json()["data"]["status"] == "answered"


@pytest.mark.promise("P18")
def test_a_yes_that_is_taken_back_and_the_last_one_do_not_both_count(
    ann: httpx.Client, bob: httpx.Client, cyd: httpx.Client
) -> None:
    for _ in range(ROUNDS):
        request_id = ask_two(ann)
        hitl_yes(bob, request_id).raise_for_status()
        with ThreadPoolExecutor(2) as pool:
            back = pool.submit(bob.delete, f"{INBOX}/requests/{request_id}/vote")
            last = pool.submit(hitl_yes, cyd, request_id)
        is_back, end = back.result().status_code == 200, last.result().json()["data"]["status"]
        assert (is_back, end) in [(True, "pending"), (False, "answered")]
        shown = view(ann, request_id)
        assert (shown["status"], shown["people"]["votes"]["yes"]) == (end, 1 if is_back else 2)


def test_writing_to_the_state_of_a_graph_gets_around_nobody(crew: People, root: httpx.Client, witness: Witness) -> None:
    ann, name = crew.named("ann"), f"state-{uuid.uuid4()}"
    with active(root, STEPS):
        request_id, thread = guarded(ann, name)
        written: dict[str, Any] = {"values": {"messages": []}, "as_node": "model"}
        ann.http.post(f"/threads/{thread}/state", json=written).raise_for_status()
        assert ann.http.get(f"{HITL}/requests/{request_id}").json()["data"]["status"] == "cancelled"
        commands: list[dict[str, Any]] = [{"goto": "tools"}, {"update": {"messages": []}, "goto": "tools"}]
        for command in commands:
            body = {"assistant_id": "puppet", "command": command}
            ann.http.post(f"/threads/{thread}/runs/wait", json=body).raise_for_status()
            asked = view(ann.http, pending(ann, thread)["request_id"])
            assert (asked["people"]["may_answer"], asked["people"]["needs"]["people"]) == (False, 2)
    assert witness.count(name) == 0


@pytest.mark.promise("P22", "P23")
def test_replay_and_shadow_say_what_a_rule_would_have_said_of_what_others_were_asked(
    crew: People, root: httpx.Client
) -> None:
    """The first thing to look at is what people refused and the new version allows: terms of the version that counted
    must not hide it."""
    ann, name = crew.named("ann"), f"replayed-{uuid.uuid4()}"
    free = f'[[rule]]\nname = "free"\ntools = ["guarded"]\nwhen = \'args.name == "{name}"\'\nthen = "allow"\n'
    free += 'max_risk = "critical"\n'
    number = root.post(f"{POLICY}/versions", json={"text": free}).raise_for_status().json()["version"]
    with active(root, STEPS):
        root.post(f"{POLICY}/versions/{number}/shadow", json={"expected": None}).raise_for_status()
        _, thread = guarded(ann, name)
        root.post(f"{POLICY}/shadow/off", json={"expected": number}).raise_for_status()
    ann.resume(thread, "cancel")
    (word,) = root.get(f"{POLICY}/versions/{number}/shadow").raise_for_status().json()["rows"]
    assert (word["active"], word["shadow"], word["count"]) == ("ask", "allow", 1)
    row = root.post(f"{POLICY}/replay", json={"text": free}).raise_for_status().json()["rows"][0]
    assert (row["happened"], row["then"], row["count"]) == ("refused", "allow", 1)


@pytest.mark.promise("P21")
def test_a_rule_that_those_who_are_named_cannot_fulfil_is_refused(crew: People, root: httpx.Client) -> None:
    gone = f"gone-{uuid.uuid4().hex[:8]}"
    crew.named(gone)
    root.post(GROUPS, json={"name": gone, "members": [gone]}).raise_for_status()
    everybody = root.get("/api/v1/people").raise_for_status().json()["people"]
    (user_id,) = (one["user_id"] for one in everybody if one["username"] == gone)
    root.post(f"/api/v1/people/{user_id}/access", json={"allowed": False}).raise_for_status()
    wrong = {
        f'from = ["group:{gone}"]',
        f'from = ["{PAYERS}"]\nlevels = [{{from = ["group:{gone}"], after = 9}}]',
        f'people = 2\nfrom = ["{FINANCE}"]',
        f'people = 3\nfrom = ["{FINANCE}"]\nlevels = [{{from = ["person:zoe"], after = 9}}]',
        f'steps = [{{from = ["{FINANCE}"]}}, {{from = ["person:fay", "{FINANCE}"]}}]',
    }
    for what in wrong:
        text = "\n" + rule("r", what)
        (problem,) = [
            one for one in root.post(f"{POLICY}/check", json={"text": text}).json()["problems"] if not one["warning"]
        ]
        assert (problem["line"], problem["rule"]) == (2, "r"), what
        assert root.post(f"{POLICY}/versions", json={"text": text}).status_code == 400
    right = rule("r", f'people = 2\nfrom = ["{FINANCE}"]\nlevels = [{{from = ["person:zoe"], after = 9}}]')
    assert root.post(f"{POLICY}/check", json={"text": right}).json()["usable"] is True
    # Of the payers any may ask, and all four are needed.
    for needed, problems in {3: [], 4: [(1, True)]}.items():
        text = rule("r", f'people = {needed}\nfrom = ["{PAYERS}"]')
        checked = root.post(f"{POLICY}/check", json={"text": text}).json()
        assert checked["usable"] is True
        assert [(one["line"], one["warning"]) for one in checked["problems"]] == problems


@pytest.mark.promise("P21")
def test_an_asker_is_told_of_needs_that_those_who_are_named_cannot_fulfil(ann: httpx.Client) -> None:
    wanted: list[tuple[dict[str, Any], int]] = [
        ({"people": 2, "from": [FINANCE]}, 400),
        ({"people": 4, "from": [PAYERS]}, 400),
        ({"people": 4, "from": [PAYERS], "separate": False}, 200),
        ({"from": ["person:ann"], "separate": True}, 400),
        ({"people": 3, "from": [PAYERS]}, 200),
    ]
    for needs, status in wanted:
        body = {"type": "permission", "request_data": PERMISSION, "needs": needs}
        reply = ann.post(f"{HITL}/requests", json=body)
        assert reply.status_code == status, needs
        if status == 400:
            (error,) = reply.json()["error"]["details"]["errors"]
            assert error["field"] == "needs.people"


@pytest.mark.promise("P21")
def test_a_version_whose_people_are_gone_is_activated_no_more(crew: People, root: httpx.Client) -> None:
    name = f"left-{uuid.uuid4().hex[:8]}"
    root.post(GROUPS, json={"name": name, "members": ["zoe"]}).raise_for_status()
    saved = root.post(f"{POLICY}/versions", json={"text": rule("r", f'from = ["group:{name}"]')})
    number = saved.raise_for_status().json()["version"]
    root.put(f"{GROUPS}/{name}", json={"members": []}).raise_for_status()
    active_now = root.get(POLICY).json()["active"]
    refused = root.post(f"{POLICY}/versions/{number}/activate", json={"expected": active_now})
    assert (refused.status_code, root.get(POLICY).json()["active"]) == (400, active_now)
