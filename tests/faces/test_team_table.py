"""Whose yes counts on which face, every cell, and what a client is told that knows nothing of teams."""

import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from interlock_client.confirm import AgentEvents, ErrorTypes, SystemEvents
from tests.support.agui import AguiClient, Stream
from tests.support.command import users
from tests.support.confirm import of as confirm_of
from tests.support.confirm import only
from tests.support.hitl import HITL
from tests.support.langgraph import LanggraphClient
from tests.support.people import People
from tests.support.puppet import calls, says, script
from tests.support.server import ServerProcess
from tests.support.teams import GROUPS, active, guarded, hitl_yes, page_yes, view
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P18", "P19")

OWNER = "table.owner"
TERMS = ("named", "anybody", "apart")
"""Two of a group; two of who may answer on the conversation, whoever asked among them; the same without who asked."""
POLICY = """
[[rule]]
name = "named"
when = 'args.name.startsWith("named-")'
then = "ask"
people = 2
from = ["group:table"]
[[rule]]
name = "anybody"
when = 'args.name.startsWith("anybody-")'
then = "ask"
people = 2
separate = false
[[rule]]
name = "apart"
when = 'args.name.startsWith("apart-")'
then = "ask"
people = 2
"""
CODED = """
[[rule]]
name = "coded"
when = 'args.name.startsWith("coded-")'
then = "ask"
code = true
"""
COUNTED, NOT_ELIGIBLE, FORBIDDEN = "counted", "not eligible", "forbidden"
CONVERSATION = {
    OWNER: (NOT_ELIGIBLE, COUNTED, NOT_ELIGIBLE),
    "table.reviewer": (NOT_ELIGIBLE, COUNTED, COUNTED),
    "root": (NOT_ELIGIBLE, COUNTED, COUNTED),
    "table.member": (FORBIDDEN, FORBIDDEN, FORBIDDEN),
    "table.stranger": (FORBIDDEN, FORBIDDEN, FORBIDDEN),
}
"""On a face that replies to a conversation."""
BY_ID = CONVERSATION | {"table.member": (COUNTED, FORBIDDEN, FORBIDDEN)}
"""And on one where a request has an id of its own, which candidates reach it by."""
SESSIONS = CONVERSATION | {"table.reviewer": (FORBIDDEN, FORBIDDEN, FORBIDDEN)}


@dataclass(frozen=True)
class Asked:
    owner: ThreadsClient
    thread: str
    request_id: str


Say = Callable[[ThreadsClient, Asked], str]


def at_threads(who: ThreadsClient, asked: Asked) -> str:
    reply = who.resume(asked.thread, "continue", request_id=asked.request_id)
    if reply.status == 403:
        return FORBIDDEN
    end = reply.frames[-1].data
    if reply.events == ["error", "end"]:
        assert end["action"] == "error"
        return NOT_ELIGIBLE
    assert reply.events == ["interrupt", "end"]
    assert end["action"] == "continue"
    shown = reply.frames[0].data
    assert shown["request_id"] == asked.request_id
    assert "1 of 2" in shown["info"] or "1/2" in shown["info"]
    assert who.status(asked.thread)["status"] == "interrupted"
    return COUNTED


def at_hitl(who: ThreadsClient, asked: Asked) -> str:
    reply = hitl_yes(who.http, asked.request_id)
    body = reply.json()
    if reply.status_code == 403:
        error = body["error"]
        assert error["code"] == "HITL_FORBIDDEN"
        if error["details"].get("alias") != "NOT_ELIGIBLE":
            return FORBIDDEN
        assert error["details"]["needs"]["people"] == 2
        return NOT_ELIGIBLE
    assert (reply.status_code, body["success"]) == (200, True)
    data = body["data"]
    assert (data["status"], data["votes"]) == ("pending", {"yes": 1, "needed": 2})
    assert data["answered_at"]
    assert body["message"]
    return COUNTED


def at_inbox(who: ThreadsClient, asked: Asked) -> str:
    shown = who.http.get(f"/api/v1/inbox/requests/{asked.request_id}")
    if shown.status_code == 403:
        return FORBIDDEN
    may_answer = shown.raise_for_status().json()["people"]["may_answer"]
    reply = page_yes(who.http, asked.request_id)
    assert may_answer is (reply.status_code == 200)
    if reply.status_code == 403:
        assert reply.json()["code"] == "not_eligible"
        return NOT_ELIGIBLE
    assert reply.json()["votes"] == {"yes": 1, "needed": 2, "refusals": 0}
    return COUNTED


def at_sessions(who: ThreadsClient, asked: Asked) -> str:
    body = {"user_id": OWNER, "session_id": asked.thread, "response_type": "accept"}
    reply = who.http.post("/agent/resume", json={**body, "args": {"request_id": asked.request_id}})
    if reply.status_code == 409:
        assert (reply.json()["code"], bool(reply.json()["detail"])) == ("not_eligible", True)
        return NOT_ELIGIBLE
    if reply.status_code == 403:
        return FORBIDDEN
    told = reply.raise_for_status().json()
    assert told["status"] == "interrupted"
    assert told["interrupt_data"]["request_id"] == asked.request_id
    return COUNTED


def at_confirm(who: ThreadsClient, asked: Asked) -> str:
    with confirm_of(who) as socket:
        if socket.reconnect(asked.thread, batch_size=100)["event"] == SystemEvents.ERROR:
            return FORBIDDEN
        step_id = socket.wait_for(AgentEvents.USER_CONFIRM)["step_id"]
        socket.confirm(step_id, asked.thread)
        # What comes after it is answered when it was handled.
        socket.say(" ")
        told = [socket.next()]
        while told[-1]["metadata"].get("error_type") != ErrorTypes.EMPTY_MESSAGE:
            told.append(socket.next())
        if errors := only(told, SystemEvents.ERROR):
            assert [one["metadata"]["error_type"] for one in errors] == [ErrorTypes.NOT_ELIGIBLE]
            return NOT_ELIGIBLE
        (said,) = (one for one in only(told, AgentEvents.THINKING) if "votes" in one["metadata"])
        assert (said["metadata"]["step_id"], said["metadata"]["votes"]) == (step_id, {"yes": 1, "needed": 2})
        return COUNTED


def at_agui(who: ThreadsClient, asked: Asked) -> str:
    entry = {"interruptId": asked.request_id, "status": "resolved", "payload": {"approved": True}}
    reply = AguiClient.of(who, thread_id=asked.thread).post(resume=[entry])
    if reply.status_code == 403:
        return FORBIDDEN
    stream = Stream.of(reply)
    if stream.all("RUN_ERROR"):
        assert stream.error == "NOT_ELIGIBLE"
        return NOT_ELIGIBLE
    assert [one["id"] for one in stream.interrupts] == [asked.request_id]
    return COUNTED


def at_langgraph(who: ThreadsClient, asked: Asked) -> str:
    face = LanggraphClient("", http=who.http)
    listed = asked.owner.http.get(f"/threads/{asked.thread}").raise_for_status().json()["interrupts"]
    ((interrupt,),) = listed.values()
    reply = face.resume(asked.thread, "puppet", {interrupt["id"]: {"decisions": [{"type": "approve"}]}})
    if reply.status_code == 404:
        return FORBIDDEN
    if reply.status_code == 403:
        assert reply.json()["code"] == "not_eligible"
        return NOT_ELIGIBLE
    assert [one["id"] for one in reply.raise_for_status().json()["__interrupt__"]] == [interrupt["id"]]
    return COUNTED


FACES: Mapping[str, tuple[Say, Mapping[str, tuple[str, str, str]]]] = {
    "threads": (at_threads, CONVERSATION),
    "hitl": (at_hitl, BY_ID),
    "inbox": (at_inbox, BY_ID),
    "sessions": (at_sessions, SESSIONS),
    "confirm": (at_confirm, CONVERSATION),
    "agui": (at_agui, CONVERSATION),
    "langgraph": (at_langgraph, CONVERSATION),
}


@pytest.fixture(scope="module")
def crew(people: People, server: ServerProcess) -> Generator[People]:
    for name in CONVERSATION:
        people.named(name)
    users(server, "role", "table.reviewer", "reviewer", "--agent", "puppet")
    root = people.named("root").http
    root.post(GROUPS, json={"name": "table", "members": ["table.member", OWNER]})
    with active(root, POLICY + CODED):
        yield people


def asked_by(owner: ThreadsClient, name: str, face: str) -> Asked:
    if face != "sessions":
        request_id, thread = guarded(owner, name)
        return Asked(owner, thread, request_id)
    query = script(calls(("guarded", {"name": name})), says("done"))
    reply = owner.http.post("/agent/invoke", json={"user_id": OWNER, "query": query})
    assert reply.status_code == 200, reply.text
    told = reply.json()
    return Asked(owner, told["session_id"], told["interrupt_data"]["request_id"])


def wait_until_done(asked: Asked) -> None:
    """Also of a run that is to begin."""
    looks = asked.owner.http.get
    wait_for(lambda: looks(f"/threads/{asked.thread}").json()["status"], lambda status: status == "idle")


def votes(http: httpx.Client, asked: Asked) -> dict[str, int]:
    shown = view(http, asked.request_id)
    assert shown["status"] == "pending"
    return shown["people"]["votes"]


@pytest.mark.parametrize("face", FACES)
def test_everybody_is_told_whether_their_yes_counts(crew: People, witness: Witness, face: str) -> None:
    """What is refused changes nothing, the same yes again neither, and with another's the agent goes on by itself."""
    say, table = FACES[face]
    owner, root = crew.named(OWNER), crew.named("root")
    seen: dict[str, tuple[str, ...]] = {}
    for who in table:
        verdicts: list[str] = []
        for terms in TERMS:
            name = f"{terms}-{uuid.uuid4()}"
            asked = asked_by(owner, name, face)
            verdicts.append(say(crew.named(who), asked))
            is_counted = verdicts[-1] == COUNTED
            assert votes(owner.http, asked) == {"yes": int(is_counted), "needed": 2, "refusals": 0}, (who, terms)
            if is_counted:
                assert say(crew.named(who), asked) == COUNTED
                assert votes(owner.http, asked)["yes"] == 1
            if (who, terms) == (OWNER, "anybody"):
                assert page_yes(root.http, asked.request_id).json()["status"] == "answered"
                wait_for(lambda name=name: witness.count(name), lambda count: count == 1)
                wait_until_done(asked)
            else:
                owner.http.post(f"{HITL}/cancel", json={"request_id": asked.request_id}).raise_for_status()
                wait_until_done(asked)
                assert witness.count(name) == 0
        seen[who] = tuple(verdicts)
    assert seen == table


def without_code_at_threads(who: ThreadsClient, asked: Asked) -> str:
    reply = who.resume(asked.thread, "continue", request_id=asked.request_id)
    assert (reply.events, reply.frames[-1].data["action"]) == (["error", "end"], "error")
    return reply.frames[0].data["message"]


def without_code_at_confirm(who: ThreadsClient, asked: Asked) -> str:
    with confirm_of(who) as socket:
        socket.reconnect(asked.thread, batch_size=100)
        step_id = socket.wait_for(AgentEvents.USER_CONFIRM)["step_id"]
        # More often than a step is given up after.
        told = ""
        for _ in range(4):
            socket.confirm(step_id, asked.thread)
            told = str(socket.wait_for(SystemEvents.ERROR)["content"])
            assert "page" in told
        return told


def without_code_at_agui(who: ThreadsClient, asked: Asked) -> str:
    entry = {"interruptId": asked.request_id, "status": "resolved", "payload": {"approved": True}}
    stream = Stream.of(AguiClient.of(who, thread_id=asked.thread).post(resume=[entry]))
    (error,) = stream.all("RUN_ERROR")
    return error["message"]


def without_code_at_langgraph(who: ThreadsClient, asked: Asked) -> str:
    decision = {"decisions": [{"type": "approve"}]}
    reply = LanggraphClient("", http=who.http).resume(asked.thread, "puppet", decision)
    assert reply.status_code == 422
    return reply.text


def by_session(who: ThreadsClient, asked: Asked, **args: str) -> httpx.Response:
    body = {"user_id": OWNER, "session_id": asked.thread, "response_type": "accept"}
    return who.http.post("/agent/resume", json={**body, "args": {"request_id": asked.request_id, **args}})


@pytest.mark.promise("P18")
def test_where_a_rule_wants_a_code_a_client_types_it_or_is_sent_to_the_page(crew: People, witness: Witness) -> None:
    """A face without a field for it, and with one that is not filled in, says so as often as it is asked."""
    owner, name = crew.named(OWNER), f"coded-{uuid.uuid4()}"
    asked = asked_by(owner, name, "sessions")
    told = [
        without(owner, asked)
        for without in (
            without_code_at_threads,
            without_code_at_confirm,
            without_code_at_agui,
            without_code_at_langgraph,
        )
    ]
    for wrong in ({}, {"code": "no"}):
        refused = by_session(owner, asked, **wrong)
        assert refused.status_code == 400
        told.append(refused.text)
    told.append(hitl_yes(owner.http, asked.request_id).json()["error"]["details"]["errors"][0]["message"])
    assert ["page" in one for one in told] == [True] * len(told), told
    shown = view(owner.http, asked.request_id)
    assert (shown["status"], witness.count(name)) == ("pending", 0)
    assert by_session(owner, asked, code=shown["code"]).status_code == 200
    wait_for(lambda: witness.count(name), lambda count: count == 1)
    wait_until_done(asked)


def edited_by_hitl(who: ThreadsClient, asked: Asked) -> Any:
    return hitl_yes(who.http, asked.request_id, args={"name": "other"}).status_code


def remembered_by_hitl(who: ThreadsClient, asked: Asked) -> Any:
    return hitl_yes(who.http, asked.request_id, remember=True, duration="forever", scope="this_tool").status_code


def edited_by_page(who: ThreadsClient, asked: Asked) -> Any:
    return page_yes(who.http, asked.request_id, value={"decision": "edit", "args": {"name": "other"}}).status_code


def replied_by_page(who: ThreadsClient, asked: Asked) -> Any:
    return page_yes(who.http, asked.request_id, value={"decision": "response", "message": "done"}).status_code


def edited_by_session(who: ThreadsClient, asked: Asked) -> Any:
    body = {"user_id": OWNER, "session_id": asked.thread, "response_type": "edit"}
    args = {"args": {"name": "other"}, "request_id": asked.request_id}
    return who.http.post("/agent/resume", json={**body, "args": args}).status_code


def edited_by_langgraph(who: ThreadsClient, asked: Asked) -> Any:
    decision = {"type": "edit", "edited_action": {"name": "guarded", "args": {"name": "other"}}}
    return LanggraphClient("", http=who.http).resume(asked.thread, "puppet", {"decisions": [decision]}).status_code


def edited_by_agui(who: ThreadsClient, asked: Asked) -> Any:
    payload = {"approved": True, "editedArgs": {"name": "other"}}
    entry = {"interruptId": asked.request_id, "status": "resolved", "payload": payload}
    return Stream.of(AguiClient.of(who, thread_id=asked.thread).post(resume=[entry])).error


def edited_by_confirm(who: ThreadsClient, asked: Asked) -> Any:
    with confirm_of(who) as socket:
        socket.reconnect(asked.thread, batch_size=100)
        step_id = socket.wait_for(AgentEvents.USER_CONFIRM)["step_id"]
        socket.confirm(step_id, asked.thread, metadata={"args": {"name": "other"}})
        return socket.wait_for(SystemEvents.ERROR)["metadata"]["error_type"]


AROUND: list[tuple[Callable[[ThreadsClient, Asked], Any], Any]] = [
    (edited_by_hitl, 400),
    (remembered_by_hitl, 400),
    (edited_by_page, 400),
    (replied_by_page, 400),
    (edited_by_session, 400),
    (edited_by_langgraph, 422),
    (edited_by_agui, "INVALID_RESUME"),
    (edited_by_confirm, ErrorTypes.INVALID_MESSAGE),
]


def test_what_is_more_than_a_yes_is_refused_and_counts_as_none(crew: People, witness: Witness) -> None:
    """An edit would void the others' votes, and what one person remembers cannot stand for two."""
    owner = crew.named(OWNER)
    name = f"anybody-{uuid.uuid4()}"
    asked = asked_by(owner, name, "sessions")
    for around, refused in AROUND:
        assert around(owner, asked) == refused, around.__name__
        assert votes(owner.http, asked)["yes"] == 0, around.__name__
    owner.http.post(f"{HITL}/cancel", json={"request_id": asked.request_id}).raise_for_status()
    assert (witness.count(name), witness.count("other")) == (0, 0)
