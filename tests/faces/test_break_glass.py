"""An admin ends alone what is put to others, with a reason, where the operator lets them."""

from collections.abc import Callable, Generator
from typing import Any

import httpx
import pytest

from tests.support.hitl import PERMISSION
from tests.support.people import People
from tests.support.receiver import Receiver
from tests.support.server import ServerProcess
from tests.support.teams import GROUPS, INBOX, hitl_yes, page_yes, view
from tests.support.waiting import wait_for

WHY = "the payments team is on a plane"
OVERRIDE = {"reason": WHY}

Ask = Callable[..., str]


@pytest.fixture(scope="module")
def receiver() -> Generator[Receiver]:
    with Receiver() as listening:
        yield listening


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    environment = {
        "INTERLOCK_BREAK_GLASS": "on",
        "INTERLOCK_WEBHOOK_HOSTS": "127.0.0.1",
        "INTERLOCK_WEBHOOK_PRIVATE": "on",
    }
    process = ServerProcess(tmp_path_factory.mktemp("glass"), environment=environment)
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="module")
def people(server: ServerProcess) -> Generator[People]:
    with People(server.url) as registered:
        admin = registered.named("root").http
        for name in ("ann", "bob", "cyd"):
            registered.named(name)
        admin.post(GROUPS, json={"name": "payments", "members": ["bob", "cyd"]}).raise_for_status()
        yield registered


@pytest.fixture
def ask(people: People) -> Ask:
    def ask(by: str = "ann", **needs: Any) -> str:
        needs = {"people": 2, "from": ["group:payments"], **needs}
        body = {"type": "permission", "request_data": PERMISSION, "needs": needs}
        asked = people.named(by).http.post("/api/v1/agent/hitl/requests", json=body).raise_for_status()
        return asked.json()["data"]["request_id"]

    return ask


def test_an_admin_ends_it_alone_and_everybody_is_told_why(people: People, ask: Ask, receiver: Receiver) -> None:
    root = people.named("root").http
    root.post("/api/v1/webhooks", json={"url": f"{receiver.url}/glass"}).raise_for_status()
    request_id = ask()
    hitl_yes(people.named("bob").http, request_id).raise_for_status()
    shown = view(root, request_id)["people"]
    assert (shown["may_answer"], shown["may_override"]) == (False, True)
    assert page_yes(root, request_id).json()["code"] == "not_eligible"
    assert page_yes(root, request_id, override=OVERRIDE).json()["status"] == "answered"
    for name in ("ann", "bob", "cyd"):
        end = view(people.named(name).http, request_id)
        assert (end["source"], end["reason"], end["answered_by"], end["status"]) == (
            "override",
            WHY,
            "root",
            "answered",
        )
        assert end["people"]["may_override"] is False
    (entry,) = [one for one in root.get("/api/v1/history").json()["entries"] if one["request_id"] == request_id]
    assert (entry["source"], entry["reason"], entry["outcome"]) == ("override", WHY, "approved")
    told = wait_for(lambda: _settled(receiver, request_id), lambda found: found is not None)
    assert told is not None
    assert (told["source"], told["override"], told["answered_by"]) == ("override", {"reason": WHY}, "root")
    chain = root.get("/api/v1/audit", params={"conversation_id": end["conversation_id"]}).raise_for_status().json()
    (answered,) = [one for one in chain["entries"] if one["action"] == "request.answered"]
    assert (answered["actor"], answered["data"]["source"], answered["data"]["reason"]) == ("root", "override", WHY)
    assert answered["data"]["metadata"]["override"] == {"reason": WHY, "via": "web"}
    assert [one["by"] for one in answered["data"]["metadata"]["votes"]] == ["bob"]


@pytest.mark.promise("P18")
def test_a_webhook_that_names_them_is_told_of_votes_and_of_whom_it_is_put_to(
    people: People, ask: Ask, receiver: Receiver
) -> None:
    """Without who voted; and a webhook that names neither is told of neither."""
    root = people.named("root").http
    named = ["request.voted", "request.routed"]
    every = ["request.asked", "request.expiring", "request.settled", *named]
    for path, more in {"teams": {"events": named}, "others": {}, "all": {"events": every}}.items():
        root.post("/api/v1/webhooks", json={"url": f"{receiver.url}/{path}", **more}).raise_for_status()
    request_id = ask()
    hitl_yes(people.named("bob").http, request_id).raise_for_status()
    root.post(f"{INBOX}/requests/{request_id}/route", json={"from": ["person:root"]}).raise_for_status()
    page_yes(people.named("cyd").http, request_id).raise_for_status()

    def told(path: str) -> dict[str, dict[str, Any]]:
        found = [one for one in list(receiver.received) if one.path.endswith(path)]
        return {one.event: one.json["data"] for one in found if one.json["data"]["request_id"] == request_id}

    teams = wait_for(lambda: told("/teams"), lambda found: len(found) == 2)
    assert teams["request.voted"]["votes"] == {"yes": 1, "needed": 2, "refusals": 0}
    assert "bob" not in str(teams["request.voted"])
    assert (teams["request.routed"]["candidates"], teams["request.routed"]["level"]) == (["person:root"], 0)
    assert set(wait_for(lambda: told("/all"), lambda found: len(found) == 4)) == {*every} - {"request.expiring"}
    assert set(wait_for(lambda: told("/others"), lambda found: len(found) == 2)) == {"request.asked", "request.settled"}


def _settled(receiver: Receiver, request_id: str) -> dict[str, Any] | None:
    found = [one.json["data"] for one in receiver.received if one.event == "request.settled"]
    return next((one for one in found if one["request_id"] == request_id), None)


@pytest.mark.promise("P19")
def test_nobody_else_does_and_no_admin_what_they_asked_for(people: People, ask: Ask, server: ServerProcess) -> None:
    request_id = ask()
    root = people.named("root").http
    for name in ("ann", "bob"):
        refused = page_yes(people.named(name).http, request_id, override=OVERRIDE)
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden"), name
        assert view(people.named(name).http, request_id)["people"]["may_override"] is False
    key = root.post("/api/v1/keys", json={"name": "bot", "role": "agent"}).raise_for_status().json()["key"]
    with httpx.Client(base_url=server.url, headers={"x-api-key": key}) as agent:
        body = {"type": "permission", "request_data": PERMISSION, "needs": {"people": 2, "from": ["group:payments"]}}
        own = agent.post("/api/v1/agent/hitl/requests", json=body).raise_for_status().json()["data"]["request_id"]
        shown = view(root, own)
        answer = {
            "value": {"decision": "accept"},
            "digest": shown["digest"],
            "code": shown["code"],
            "override": OVERRIDE,
        }
        headers = {"idempotency-key": own}
        assert agent.post(f"{INBOX}/requests/{own}/answer", json=answer, headers=headers).status_code == 403
    for by_root in (own, ask("root")):
        assert view(root, by_root)["people"]["may_override"] is False
        assert page_yes(root, by_root, override=OVERRIDE).status_code == 403
        assert view(root, by_root)["status"] == "pending"
    assert view(root, request_id)["people"]["votes"]["yes"] == 0


def test_it_takes_a_reason_and_a_yes_and_somebody_else_who_is_asked(people: People, ask: Ask) -> None:
    root = people.named("root").http
    request_id = ask()
    for reason in ("", "  \n "):
        assert page_yes(root, request_id, override={"reason": reason}).status_code in (400, 422)
    edit: dict[str, Any] = {"decision": "edit", "args": {}}
    for decision in ({"decision": "reject"}, edit):
        refused = page_yes(root, request_id, value=decision, override=OVERRIDE)
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_answer")
    assert view(root, request_id)["status"] == "pending"
    plain = {"type": "permission", "request_data": PERMISSION}
    asked = people.named("ann").http.post("/api/v1/agent/hitl/requests", json=plain).json()["data"]["request_id"]
    assert page_yes(root, asked, override=OVERRIDE).json()["code"] == "conflict"
    assert page_yes(root, asked).json()["status"] == "answered"
    # A claim of somebody else's does not hold it off.
    claimed = ask(people=1, separate=True)
    people.named("bob").http.post(f"{INBOX}/requests/{claimed}/claim").raise_for_status()
    assert page_yes(root, claimed, override=OVERRIDE).json()["status"] == "answered"
