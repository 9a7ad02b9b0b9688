"""Which replies are packed: what is read in bulk, never what holds a secret, and never a stream."""

import httpx

from tests.support.hitl import of
from tests.support.inbox import INBOX, answer, asked
from tests.support.threads import ThreadsClient

LONG = "a text that says the same over and over. " * 200


def packed(reply: httpx.Response) -> bool:
    return reply.raise_for_status().headers.get("content-encoding") == "gzip"


def test_what_is_read_is_packed(alice: ThreadsClient) -> None:
    (entry,) = asked(alice, ("guarded", {"name": LONG}))
    reply = alice.http.get(f"{INBOX}/requests/{entry['request_id']}")
    assert packed(reply)
    assert int(reply.headers["content-length"]) < 4_000
    assert reply.json()["body"]["args"] == {"name": LONG}
    plain = alice.http.get(f"{INBOX}/requests/{entry['request_id']}", headers={"accept-encoding": "identity"})
    assert not packed(plain)
    assert plain.json()["digest"] == reply.json()["digest"]


def test_what_holds_a_secret_is_not_packed_however_long_the_text_beside_it(alice: ThreadsClient) -> None:
    made = alice.http.post("/api/v1/keys", json={"name": "k" * 64, "role": "person"})
    assert made.json()["key"]
    assert not packed(made)
    with of(alice) as client:
        agent = type(client)(str(alice.http.base_url), client.new_key("packing", "agent")["key"])
    with agent:
        description = {"fields": [{"name": "TOKEN", "description": LONG}]}
        request_id = agent.ask("env_var", description)["request_id"]
        answer(alice, request_id, {"values": {"TOKEN": LONG}}).raise_for_status()
        collected = agent.http.post(f"/api/v1/agent/hitl/requests/{request_id}/collect")
    assert LONG in collected.text
    assert not packed(collected)


def test_streams_go_out_as_they_come(alice: ThreadsClient) -> None:
    with alice.http.stream("GET", f"{INBOX}/stream", headers={"accept-encoding": "gzip"}) as stream:
        assert not packed(stream)
        assert next(stream.iter_lines()) == "event: hello"
