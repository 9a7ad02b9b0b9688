"""Who may connect, see and answer; and what ends when they may no longer."""

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from interlock_client.confirm import AgentEvents, ErrorTypes, SystemEvents, UserEvents
from tests.support import hitl
from tests.support.command import users
from tests.support.confirm import ConfirmClient, names, of
from tests.support.hitl import QUESTION
from tests.support.people import People
from tests.support.puppet import calls, says, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

POLICY = 1008


def refused(url: str, **headers: str) -> httpx.Response:
    """The answer to a handshake that has to be refused."""
    upgrade = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13"}
    key = {"sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA=="}
    return httpx.get(f"{url}/ws", headers=upgrade | key | headers, timeout=60)


def test_who_brings_no_credential_or_one_that_does_not_hold_is_refused_at_the_handshake(
    server: ServerProcess,
) -> None:
    for headers in ({}, {"authorization": "Bearer nonsense"}, {"authorization": f"Bearer ms_sk_{'0' * 64}"}):
        reply = refused(server.url, **headers)
        assert (reply.status_code, reply.json()) == (401, {"detail": "Could not validate credentials"})


def test_a_page_of_another_site_is_refused(server: ServerProcess, alice: ThreadsClient) -> None:
    mine = {"authorization": alice.http.headers["authorization"]}
    assert refused(server.url, **mine, origin="http://evil.example").status_code == 403
    with ConfirmClient(server.url, headers=mine | {"origin": server.url}) as person:
        assert person.create()


def test_a_ticket_opens_one_connection(server: ServerProcess, alice: ThreadsClient) -> None:
    ticket = alice.http.post("/api/v1/tickets").raise_for_status().json()["ticket"]
    with ConfirmClient(server.url, path=f"/ws?ticket={ticket}") as person:
        person.create()
        person.say(script(says("hi")))
        assert person.wait_for(AgentEvents.FINAL_ANSWER)["content"] == "hi"
    with pytest.raises(InvalidStatus):
        ConfirmClient(server.url, path=f"/ws?ticket={ticket}")


def test_a_persons_key_is_that_person_and_an_agents_key_talks_to_no_agent(
    server: ServerProcess, alice: ThreadsClient, fresh: str
) -> None:
    with hitl.of(alice) as client:
        keys = [client.new_key(f"confirm-{role}", role)["key"] for role in ("person", "agent")]
    person, agent = (ConfirmClient(server.url, headers={"authorization": f"Bearer {key}"}) for key in keys)
    with person, agent:
        asked = person.ask(script(calls(("guarded", {"name": fresh}))))
        agent.send(UserEvents.CREATE_SESSION)
        assert agent.next()["metadata"]["error_type"] == ErrorTypes.FORBIDDEN
        agent.confirm(asked["step_id"], person.session_id)
        assert agent.next()["metadata"]["error_type"] == ErrorTypes.SESSION_NOT_FOUND
        person.refuse(asked["step_id"])
        person.wait_for(AgentEvents.FINAL_ANSWER)


def test_an_agent_that_runs_elsewhere_asks_and_never_confirms(
    server: ServerProcess, alice: ThreadsClient, fresh: str
) -> None:
    with hitl.of(alice) as client:
        key = client.new_key("confirm-asker", "agent")["key"]
    with hitl.HitlClient(server.url, key) as asker, of(alice) as person:
        asked = asker.ask("clarification", QUESTION)
        session = asked["conversation_id"]
        person.reconnect(session)
        step = person.wait_for(AgentEvents.USER_CONFIRM)
        with ConfirmClient(server.url, headers={"authorization": f"Bearer {key}"}) as agent:
            agent.confirm(step["step_id"], session, metadata={"response": {"answer": "A"}})
            assert agent.wait_for(SystemEvents.ERROR)["metadata"]["error_type"] == ErrorTypes.FORBIDDEN
        person.confirm(step["step_id"], metadata={"response": {"answer": "B"}})
        assert asker.look(asked["request_id"], wait=20)["response"] == {"answer": "B"}


def test_a_reviewer_answers_but_does_not_talk_and_is_shown_no_more_than_they_may_see(
    server: ServerProcess, person: ConfirmClient, people: People, witness: Witness, fresh: str
) -> None:
    reviewer = people.named("reviewing")
    users(server, "role", "reviewing", "reviewer", "--agent", "puppet")
    asked = person.ask(script(calls(("guarded", {"name": fresh})), calls(("guarded", {"name": fresh}))))
    with of(reviewer) as other:
        other.say(script(says("x")), person.session_id)
        assert other.wait_for(SystemEvents.ERROR)["metadata"]["error_type"] == ErrorTypes.FORBIDDEN
        other.cancel(person.session_id)
        assert other.wait_for(SystemEvents.ERROR)["metadata"]["error_type"] == ErrorTypes.FORBIDDEN
        other.confirm(asked["step_id"], person.session_id)
        assert other.wait_for(AgentEvents.USER_CONFIRM)["step_id"] != asked["step_id"]
        users(server, "role", "reviewing", "owner")
        assert other.wait_for(AgentEvents.SESSION_END)["session_id"] == person.session_id
    assert witness.count(fresh) == 1
    person.wait_for(AgentEvents.USER_CONFIRM)


def test_a_credential_that_is_ended_closes_the_connection_and_what_waits_goes_on_waiting(
    server: ServerProcess, people: People, fresh: str
) -> None:
    careless = people.named("careless")
    with of(careless) as person:
        asked = person.ask(script(calls(("guarded", {"name": fresh}))))
        users(server, "reset", "careless", "--password", "looking-glass")
        closed = person.closed()
        assert closed.rcvd is not None
        assert (closed.rcvd.code, closed.rcvd.reason) == (POLICY, "凭证已失效")
    after = ThreadsClient(server.url, "careless", "looking-glass").sign_in(register=False)
    with of(after) as again:
        again.reconnect(str(person.session_id))
        assert again.wait_for(AgentEvents.USER_CONFIRM)["step_id"] == asked["step_id"]
    after.http.close()


def test_without_accounts_the_user_is_whom_the_message_names_then_the_address_then_local(
    trusting: ServerProcess, fresh: str
) -> None:
    with ConfirmClient(trusting.url, path="/?user_id=ben") as person, ConfirmClient(trusting.url) as nobody:
        for client, named, owner in (
            (person, {}, "ben"),
            (person, {"user_id": ""}, "ben"),
            (person, {"user_id": "ann"}, "ann"),
            (person, {"userId": "cleo"}, "cleo"),
            (nobody, {}, "local"),
        ):
            client.send(UserEvents.CREATE_SESSION, **named)
            session = client.wait_for(AgentEvents.SESSION_CREATED)["session_id"]
            status = httpx.get(
                f"{trusting.url}/api/status/{session}", params={"user_id": owner}, timeout=60
            ).status_code
            assert status == 200, named


def test_without_accounts_who_speaks_for_another_hears_no_more_of_the_first(
    trusting: ServerProcess, witness: Witness, fresh: str
) -> None:
    with ConfirmClient(trusting.url) as person:
        person.send(UserEvents.MESSAGE, user_id="ann", content=script(calls(("guarded", {"name": fresh}))))
        asked = person.wait_for(AgentEvents.USER_CONFIRM)
        response = {"session_id": asked["session_id"], "step_id": asked["step_id"], "content": {"confirmed": True}}
        person.send(UserEvents.RESPONSE, user_id="ben", **response)
        assert person.next()["metadata"]["error_type"] == ErrorTypes.SESSION_NOT_FOUND
        person.send(UserEvents.RESPONSE, user_id="not a name", **response)
        assert person.next()["metadata"]["error_type"] == ErrorTypes.INVALID_MESSAGE
        person.send(UserEvents.MESSAGE, content=script(says("I am Ben")))
        assert names(person.until(AgentEvents.FINAL_ANSWER))[0] == "agent.session_created"
        assert witness.count(fresh) == 0
        # Who confirms is said in the content as well; that is for the record, and makes nobody anybody else.
        response["content"] = {"confirmed": True, "user_id": "user_123"}
        person.send(UserEvents.RESPONSE, user_id="ann", **response)
        person.wait_for(AgentEvents.FINAL_ANSWER)
    assert witness.count(fresh) == 1
