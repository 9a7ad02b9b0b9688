"""Policies on a running server: what they settle, what they leave to people, and who may change them."""

import hashlib
import uuid
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from interlock.domain.canonical import digest
from interlock.storage.schema import metadata
from tests.faces.hitl.granting import remembered
from tests.support.either_database import DATABASES, server_on
from tests.support.hitl import PERMISSION, HitlClient, of
from tests.support.people import People
from tests.support.puppet import calls, says, script
from tests.support.rows import rows_of
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

POLICY = "/api/v1/policy"
RULES = """
[[rule]]
name = "never that"
when = 'args.name == "forbidden"'
then = "deny"
reason = "that one is never touched"

[[rule]]
name = "small ones"
tools = ["guarded"]
when = 'args.name.startsWith("small-") && owner == "ann"'
then = "allow"

[[test]]
facts = {tool = "guarded", args = {name = "small-1"}, owner = "ann"}
expect = {then = "allow", rule = "small ones"}
[[test]]
facts = {tool = "guarded", args = {name = "forbidden"}, owner = "ann"}
expect = {then = "deny", rule = "never that"}
"""

Activate = Callable[[str], int]
_OF_CALLS = ("workers", "marks", "sign_ins")
"""What servers say of themselves, every few seconds, and when each sign-in was last used."""


@pytest.fixture(scope="module", params=DATABASES)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, witness: Witness
) -> Generator[ServerProcess]:
    folder: Path = tmp_path_factory.mktemp("policy")
    with server_on(request.param, request, folder, witness.environment) as process:
        yield process


@pytest.fixture(scope="module")
def people(server: ServerProcess) -> Generator[People]:
    with People(server.url) as registered:
        yield registered


@pytest.fixture
def admin(people: People) -> httpx.Client:
    return people.named("root").http


@pytest.fixture
def ann(people: People) -> ThreadsClient:
    return people.named("ann")


@pytest.fixture
def activate(admin: httpx.Client) -> Generator[Activate]:
    """Save a policy and have it count, until the test ends."""

    def active() -> int | None:
        return admin.get(POLICY).raise_for_status().json()["active"]

    def change(text: str) -> int:
        number = admin.post(f"{POLICY}/versions", json={"text": text}).raise_for_status().json()["version"]
        admin.post(f"{POLICY}/versions/{number}/activate", json={"expected": active()}).raise_for_status()
        return number

    yield change
    admin.post(f"{POLICY}/deactivate", json={"expected": active()}).raise_for_status()


@pytest.fixture
def small() -> str:
    """The name of a call that the rules allow, and that no other test makes."""
    return f"small-{uuid.uuid4().hex}"


def call(name: str) -> str:
    return script(calls(("guarded", {"name": name})), says("done"))


@pytest.mark.promise("P22")
def test_a_rule_allows_and_names_itself(ann: ThreadsClient, witness: Witness, activate: Activate, small: str) -> None:
    number = activate(RULES)
    thread = ann.new_thread("puppet")
    reply = ann.chat(thread, call(small))
    assert "interrupt" not in reply.events
    assert witness.count(small) == 1
    (entry,) = ann.http.get("/api/v1/history").raise_for_status().json()["entries"][:1]
    assert (entry["by"], entry["source"]) == ("policy: small ones", "policy")
    trail = ann.http.get("/api/v1/audit", params={"conversation_id": thread}).raise_for_status().text
    assert f'"policy_version":{number}' in trail.replace(" ", "")


def test_a_rule_refuses_and_the_agent_is_told_why(ann: ThreadsClient, witness: Witness, activate: Activate) -> None:
    activate(RULES)
    thread = ann.new_thread("puppet")
    reply = ann.chat(thread, call("forbidden"))
    assert "interrupt" not in reply.events
    assert "that one is never touched" in reply.first("tool/end")["output"]
    assert witness.count("forbidden") == 0


@pytest.mark.promise("P24")
@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("other", RULES),
        ("small-broken", RULES.replace('args.name == "forbidden"', "args.nothing == 1")),
        # A text is neither equal to a truth nor another one: a tool may take "true" for it.
        ("small-typed", RULES.replace('args.name == "forbidden"', "args.name == true")),
        ("small-risky", RULES.replace('then = "allow"', 'then = "allow"\nmax_risk = "low"').partition("[[test]]")[0]),
    ],
)
def test_what_no_rule_decides_is_asked(
    ann: ThreadsClient, witness: Witness, activate: Activate, name: str, rules: str
) -> None:
    activate(rules.partition("[[test]]")[0])
    thread = ann.new_thread("puppet")
    assert "interrupt" in ann.chat(thread, call(name)).events
    ann.resume(thread, "cancel")
    assert witness.count(name) == 0


def test_a_policy_of_another_counts_for_nobody_else(people: People, witness: Witness, activate: Activate) -> None:
    activate(RULES)
    bob = people.named("bob")
    thread = bob.new_thread("puppet")
    assert "interrupt" in bob.chat(thread, call("small-2")).events
    bob.resume(thread, "cancel")
    assert witness.count("small-2") == 0


def test_a_remembered_refusal_beats_a_rule_that_allows(
    people: People, witness: Witness, activate: Activate, small: str
) -> None:
    person = people.named("ann")
    thread = person.new_thread("puppet")
    person.chat(thread, call(small))
    with of(person) as client:
        asked = client.one_pending(thread)["request_id"]
        client.respond(asked, remembered("this_action", "session", allow=False))
    activate(RULES)
    assert "interrupt" not in person.chat(thread, call(small)).events
    assert witness.count(small) == 0


def test_agents_elsewhere_are_judged_too(people: People, activate: Activate) -> None:
    activate(
        '[[rule]]\nname = "r"\nwhen = \'outside && args.path == "/tmp/a.txt"\'\nthen = "allow"\nmax_risk = "high"\n'
    )
    person = people.named("ann")
    with of(person) as owner, HitlClient(str(person.http.base_url), owner.new_key("judged", "agent")["key"]) as agent:
        asked = agent.ask("permission", PERMISSION)
        assert agent.look(asked["request_id"])["status"] == "answered"
        other = agent.ask("permission", PERMISSION | {"args": {"path": "/tmp/b.txt"}, "action": "delete b"})
        assert agent.look(other["request_id"])["status"] == "pending"
        wants_a_person = agent.ask("permission", PERMISSION | {"allow_remember": False})
        assert agent.look(wants_a_person["request_id"])["status"] == "pending"


@pytest.mark.promise("P22")
def test_of_many_activations_one_wins(admin: httpx.Client, activate: Activate) -> None:
    before = activate(RULES)
    numbers = [
        admin.post(f"{POLICY}/versions", json={"text": RULES}).raise_for_status().json()["version"] for _ in "123"
    ]

    def attempt(number: int) -> int:
        return admin.post(f"{POLICY}/versions/{number}/activate", json={"expected": before}).status_code

    with ThreadPoolExecutor(9) as pool:
        codes = list(pool.map(attempt, numbers * 3))
    assert sorted(codes) == [200, *[409] * 8]
    listed = {one["version"]: one["digest"] for one in admin.get(POLICY).raise_for_status().json()["versions"]}
    assert [listed[number] for number in numbers] == [digest(RULES)] * 3


def test_a_wrong_policy_is_not_saved_and_everything_is_named(admin: httpx.Client) -> None:
    wrong = (
        '[[rule]]\nname = "a"\nthen = "allow"\nwhen = "args.x ="\n[[rule]]\nname = "b"\nthen = "ask"\nfrom = ["x"]\n'
    )
    checked = admin.post(f"{POLICY}/check", json={"text": wrong}).raise_for_status().json()
    assert checked["usable"] is False
    assert [(problem["line"], problem["rule"]) for problem in checked["problems"]] == [(5, "b"), (1, "a")]
    saved = admin.post(f"{POLICY}/versions", json={"text": wrong})
    assert saved.status_code == 400
    assert len(saved.json()["errors"]) == 2
    failing = RULES.replace('then = "allow", rule', 'then = "ask", rule')
    (problem,) = admin.post(f"{POLICY}/check", json={"text": failing}).json()["problems"]
    assert problem["message"] == "test 1 expects ask by small ones, and gets allow by small ones"
    assert admin.post(f"{POLICY}/versions/99999/activate", json={"expected": None}).status_code == 404


@pytest.mark.promise("P23")
def test_trying_and_replaying_change_nothing(ann: ThreadsClient, admin: httpx.Client) -> None:
    for name, action in (("small-r1", "cancel"), ("small-r2", "continue"), ("small-r3", "continue")):
        thread = ann.new_thread("puppet")
        ann.chat(thread, call(name))
        ann.resume(thread, action)
    before = admin.get(POLICY).json(), ann.http.get("/api/v1/history").json()
    facts: dict[str, Any] = {"tool": "guarded", "args": {"name": "small-9"}, "owner": "ann"}
    tried = admin.post(f"{POLICY}/try", json={"text": RULES, "facts": facts}).raise_for_status().json()
    assert (tried["then"], tried["rule"], tried["matches"]) == ("allow", "small ones", ["small ones"])
    report = admin.post(f"{POLICY}/replay", json={"text": RULES}).raise_for_status().json()
    assert (report["rows"][0]["happened"], report["rows"][0]["then"]) == ("refused", "allow")
    assert any("small-r1" in sample["action"] for sample in report["rows"][0]["samples"])
    assert report["asks_saved"] >= 3
    assert before == (admin.get(POLICY).json(), ann.http.get("/api/v1/history").json())


def test_replay_says_what_was_said_when_it_was_asked(people: People, admin: httpx.Client, activate: Activate) -> None:
    """Also where whoever asked wanted a person: then a rule that allows decides nothing."""
    name = f"judge-{uuid.uuid4().hex[:8]}"
    rules = f'[[rule]]\nname = "r"\nwhen = \'owner == "{name}"\'\nthen = "allow"\nmax_risk = "high"\n'
    activate(rules)
    since = admin.get(f"{POLICY}/versions/{admin.get(POLICY).json()['active']}").json()["created_at"]
    person = people.named(name)
    with of(person) as owner, HitlClient(str(person.http.base_url), owner.new_key("k", "agent")["key"]) as agent:
        agent.ask("permission", PERMISSION)
        asked = agent.ask("permission", PERMISSION | {"allow_remember": False})["request_id"]
        owner.respond(asked, {"granted": False})
    replayed = admin.post(f"{POLICY}/replay", json={"text": rules, "since": since})
    assert replayed.status_code == 200, (since, replayed.text)
    report = replayed.json()
    ours = {
        sample["request_id"]: (row["happened"], row["then"], sample["rule"])
        for row in report["rows"]
        for sample in row["samples"]
    }
    assert ours[asked] == ("refused", "ask", None)
    assert ("approved", "allow", "r") in ours.values()
    assert report["asks_added"] == 0


def explained(client: httpx.Client, request_id: str) -> dict[str, Any]:
    return client.get(f"/api/v1/inbox/requests/{request_id}/explain").raise_for_status().json()


def asked_in(ann: ThreadsClient, thread: str) -> str:
    """The request that waits there."""
    with of(ann) as client:
        return client.one_pending(thread)["request_id"]


def newest(ann: ThreadsClient) -> str:
    return ann.http.get("/api/v1/history").raise_for_status().json()["entries"][0]["request_id"]


@pytest.mark.promise("P22")
def test_a_request_says_by_which_rule_it_was_decided_and_other_rules_are_for_admins(
    ann: ThreadsClient, admin: httpx.Client, activate: Activate, small: str
) -> None:
    more = '[[rule]]\nname = "also"\nwhen = \'args.other == "x" || risk == "low"\'\nthen = "ask"\n'
    more += '[[rule]]\nname = "too"\nwhen = "true"\nthen = "ask"\n'
    number = activate(RULES + more)
    ann.chat(ann.new_thread("puppet"), call(small))
    decided = newest(ann)
    activate(RULES.replace("small ones", "of another version"))
    whole = explained(admin, decided)
    assert (whole["version"], whole["recorded"], whole["because"], whole["rule"]) == (
        number,
        True,
        "rule",
        "small ones",
    )
    assert (whole["then"], whole["matches"]) == ("allow", ["small ones", "too"])
    assert whole["errors"] == [{"rule": "also", "reason": "an argument that it reads is missing"}]
    assert {"name": "args.name", "value": f'"{small}"'} in whole["facts"]
    assert {"name": "args.other", "value": None} in whole["facts"]
    assert whole["condition"].startswith("args.name.startsWith")
    part = explained(ann.http, decided)
    assert (part["rule"], part["matches"], part["condition"], part["whole"]) == (
        "small ones",
        ["small ones"],
        None,
        False,
    )
    assert part["errors"] == [{"rule": "", "reason": "an argument that it reads is missing"}]
    assert {one["name"] for one in part["facts"]} == {"tool", "risk", "args.name", "owner"}


@pytest.mark.promise("P22", "P24")
@pytest.mark.parametrize(
    ("name", "rules", "because", "rule"),
    [
        ("other", RULES, "no_rule", None),
        ("small-e", RULES.replace('args.name == "forbidden"', "args.nothing == 1"), "not_evaluated", None),
        ("small-a", RULES.replace('then = "allow"', 'then = "ask"'), "rule", "small ones"),
        ("other", "", "no_policy", None),
    ],
)
def test_a_request_says_why_a_person_is_asked(
    ann: ThreadsClient, activate: Activate, name: str, rules: str, because: str, rule: str | None
) -> None:
    number = activate(rules.partition("[[test]]")[0]) if rules else None
    thread = ann.new_thread("puppet")
    ann.chat(thread, call(name))
    asked = asked_in(ann, thread)
    found = explained(ann.http, asked)
    assert (found["because"], found["rule"], found["then"], found["recorded"]) == (because, rule, "ask", False)
    # A version that counts later says nothing of what was asked before.
    activate(RULES)
    assert explained(ann.http, asked)["version"] == number
    ann.resume(thread, "cancel")


@pytest.fixture
def shadow(admin: httpx.Client) -> Generator[Activate]:
    """Save a policy and put it in shadow, until the test ends."""

    def present() -> int | None:
        return admin.get(POLICY).raise_for_status().json()["shadow"]

    def change(text: str) -> int:
        number = admin.post(f"{POLICY}/versions", json={"text": text}).raise_for_status().json()["version"]
        admin.post(f"{POLICY}/versions/{number}/shadow", json={"expected": present()}).raise_for_status()
        return number

    yield change
    admin.post(f"{POLICY}/shadow/off", json={"expected": present()}).raise_for_status()


@pytest.mark.promise("P23")
def test_a_version_in_shadow_says_its_word_and_decides_nothing(
    ann: ThreadsClient, admin: httpx.Client, witness: Witness, activate: Activate, shadow: Activate, small: str
) -> None:
    active = activate(RULES)
    broken = '[[rule]]\nname = "broken"\nwhen = "args.nothing == 1"\nthen = "deny"\n'
    number = shadow(broken + '[[rule]]\nname = "free"\nwhen = \'args.name != "forbidden"\'\nthen = "allow"\n')
    other = shadow('[[rule]]\nname = "free"\nwhen = \'args.name == "other"\'\nthen = "allow"\n')
    assert "interrupt" not in ann.chat(ann.new_thread("puppet"), call(small)).events
    assert "interrupt" not in ann.chat(ann.new_thread("puppet"), call("forbidden")).events
    thread = ann.new_thread("puppet")
    assert "interrupt" in ann.chat(thread, call("other")).events
    asked = asked_in(ann, thread)
    report = admin.get(f"{POLICY}/versions/{other}/shadow").raise_for_status().json()
    assert (report["on"], report["looked_at"], report["differ"]) == (True, 3, 3)
    assert [(row["active"], row["shadow"]) for row in report["rows"]] == [
        ("ask", "allow"),
        ("allow", "ask"),
        ("deny", "ask"),
    ]
    (sample,) = report["rows"][0]["samples"]
    assert (sample["request_id"], sample["active_version"], sample["rule"]) == (asked, active, "free")
    assert witness.count("other") == 0
    assert admin.get(f"{POLICY}/versions/{number}/shadow").json()["on"] is False
    ann.resume(thread, "cancel")
    # With the conversation goes what was recorded of it.
    ann.http.delete(f"/api/sessions/{thread}").raise_for_status()
    ann.wait_for(lambda: admin.get(f"{POLICY}/versions/{other}/shadow").json()["looked_at"], lambda count: count == 2)


@pytest.mark.promise("P23", "P24")
def test_a_version_in_shadow_that_cannot_be_evaluated_leaves_every_ask_alone(
    ann: ThreadsClient, admin: httpx.Client, witness: Witness, activate: Activate, shadow: Activate, small: str
) -> None:
    activate(RULES)
    number = shadow('[[rule]]\nname = "r"\nwhen = "args.nothing == 1"\nthen = "deny"\n')
    assert "interrupt" not in ann.chat(ann.new_thread("puppet"), call(small)).events
    assert witness.count(small) == 1
    (row,) = admin.get(f"{POLICY}/versions/{number}/shadow").json()["rows"]
    assert (row["active"], row["shadow"], row["failed"]) == ("allow", "ask", 1)
    clash = admin.post(f"{POLICY}/versions/{number}/shadow", json={"expected": None})
    assert clash.status_code == 409


@pytest.mark.promise("P23")
def test_looking_changes_no_row(
    server: ServerProcess, ann: ThreadsClient, admin: httpx.Client, activate: Activate, small: str
) -> None:
    """Not even of what counts how often it was used, in a database with requests of every end."""
    number = activate(RULES)
    for name in (small, "forbidden", "other"):
        thread = ann.new_thread("puppet")
        ann.chat(thread, call(name))
    ann.resume(thread, "cancel")
    ann.wait_for(lambda: ann.http.get(f"/threads/{thread}").json()["status"], lambda status: status == "idle")
    decided = newest(ann)
    free = '[[rule]]\nname = "free"\nwhen = \'tool != ""\'\nthen = "allow"\n'
    facts: dict[str, Any] = {"tool": "guarded", "args": {"name": small}, "owner": "ann"}
    before = digests(server)
    for path, body in {
        "check": {"text": free},
        "try": {"text": free, "facts": facts},
        "replay": {"text": free},
    }.items():
        admin.post(f"{POLICY}/{path}", json=body).raise_for_status()
    for path in (f"{POLICY}/versions/{number}/shadow", f"/api/v1/inbox/requests/{decided}/explain", POLICY):
        admin.get(path).raise_for_status()
    assert digests(server) == before


@pytest.mark.promise("P23")
def test_a_version_in_shadow_adds_its_words_and_no_other_row(
    server: ServerProcess, ann: ThreadsClient, activate: Activate, shadow: Activate, small: str
) -> None:
    activate(RULES)

    def added() -> dict[str, int]:
        before = {name: len(rows) for name, rows in everything(server).items()}
        for name in (small, "forbidden", "other"):
            thread = ann.new_thread("puppet")
            ann.chat(thread, call(name))
        return {name: len(rows) - before[name] for name, rows in everything(server).items()}

    without = added()
    shadow('[[rule]]\nname = "free"\nwhen = "true"\nthen = "allow"\n')
    assert added() == without | {"policy_shadow_words": 3}
    assert without["requests"] == 3


@pytest.mark.promise("P22", "P23")
def test_replay_says_of_every_call_what_was_said_of_it(people: People, admin: httpx.Client, activate: Activate) -> None:
    """The same engine over what the rows hold: facts of every type, rules that fail, and what no rule decides."""
    name = f"twice-{uuid.uuid4().hex[:8]}"
    guard = f'owner == "{name}" && '
    rules = "".join(
        f'[[rule]]\nname = "{rule}"\nwhen = \'{guard}{when}\'\nthen = "{then}"\n{more}'
        for rule, when, then, more in (
            ("deny", 'args.x == "deny"', "deny", ""),
            ("broken", "args.n > 5.0", "ask", ""),
            ("face", 'args.x == "face" && face != "threads" && outside', "allow", 'max_risk = "high"\n'),
            ("risk", 'risk == "high" && args.x == "risk"', "allow", 'max_risk = "high"\n'),
            ("time", 'at > timestamp("2020-01-01T00:00:00Z") && args.x == "time"', "allow", 'max_risk = "high"\n'),
        )
    )
    active = activate(rules)
    since = admin.get(f"{POLICY}/versions/{active}").json()["created_at"]
    person = people.named(name)
    said: dict[str, str] = {}
    cases: list[dict[str, Any]] = [{"x": one} for one in ("deny", "face", "risk", "time", "none")]
    cases = [case | more for case in cases for more in ({"n": 1.0}, {"n": 9.0}, {"n": "9"}, {})]
    cases += [{"x": "a\0b", "n": 1}, {"x": "time", "n": 2**70}, {"x": ["time"], "n": 1}, {}]
    with of(person) as owner, HitlClient(str(person.http.base_url), owner.new_key("k", "agent")["key"]) as agent:
        for args in cases:
            asked = agent.ask("permission", PERMISSION | {"args": args})
            answer = asked["response"]
            said[asked["request_id"]] = "ask" if answer is None else "allow" if answer["granted"] else "deny"
            if answer is None:
                owner.respond(asked["request_id"], {"granted": False})
    assert set(said.values()) == {"ask", "allow", "deny"}
    report = admin.post(f"{POLICY}/replay", json={"text": rules, "since": since}).raise_for_status().json()
    ours = [(row["then"], one["request_id"]) for row in report["rows"] for one in row["samples"]]
    assert {request_id: then for then, request_id in ours if request_id in said} == said
    assert (report["asks_saved"], report["asks_added"]) == (0, 0)


@pytest.mark.promise("P22")
def test_whose_groups_an_owner_is_in_counts_as_it_was_when_it_was_asked(
    people: People, admin: httpx.Client, activate: Activate
) -> None:
    """Also for what is replayed and explained later."""
    name = f"member-{uuid.uuid4().hex[:8]}"
    person = people.named(name)
    groups = "/api/v1/groups"
    admin.post(groups, json={"name": name, "members": [name]}).raise_for_status()
    rules = f'[[rule]]\nname = "members"\nwhen = \'"{name}" in owner_groups\'\nthen = "allow"\nmax_risk = "high"\n'
    test = f'[[test]]\nfacts = {{owner_groups = ["{name}"]}}\nexpect = {{then = "allow", rule = "members"}}\n'
    active = activate(rules + test)
    since = admin.get(f"{POLICY}/versions/{active}").json()["created_at"]

    with of(person) as owner, HitlClient(str(person.http.base_url), owner.new_key("k", "agent")["key"]) as agent:
        inside = agent.ask("permission", PERMISSION)
        admin.put(f"{groups}/{name}", json={"members": []}).raise_for_status()
        outside = agent.ask("permission", PERMISSION | {"args": {"path": "/tmp/c.txt"}})
        assert (inside["status"], outside["status"]) == ("answered", "pending")
        owner.respond(outside["request_id"], {"granted": False})
        ids = {inside["request_id"], outside["request_id"]}
        report = admin.post(f"{POLICY}/replay", json={"text": rules, "since": since}).raise_for_status().json()
        said = {(row["then"], one["request_id"]) for row in report["rows"] for one in row["samples"]}
        assert {one for one in said if one[1] in ids} == {
            ("allow", inside["request_id"]),
            ("ask", outside["request_id"]),
        }
        assert explained(person.http, inside["request_id"])["facts"][-1] == {
            "name": "owner_groups",
            "value": f'["{name}"]',
        }
        facts: dict[str, Any] = {"owner_groups": [name]}
        tried = admin.post(f"{POLICY}/try", json={"text": rules, "facts": facts}).raise_for_status().json()
        assert tried["then"] == "allow"


def everything(server: ServerProcess) -> dict[str, list[str]]:
    """Every row of every table."""
    tables = {name: table for name, table in metadata.tables.items() if name not in _OF_CALLS}
    return {name: sorted(map(repr, rows_of(server, select(table)))) for name, table in tables.items()}


def digests(server: ServerProcess) -> dict[str, str]:
    found = everything(server).items()
    return {name: hashlib.sha256("\n".join(rows).encode("utf-8", "replace")).hexdigest() for name, rows in found}
