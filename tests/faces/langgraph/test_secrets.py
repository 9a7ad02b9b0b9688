"""A value that a person gives in confidence: in the tool that asked for it, and in no reply."""

import hashlib
import uuid

from tests.support.langgraph import LanggraphClient
from tests.support.people import People
from tests.support.puppet import calls, script
from tests.support.witness import Witness


def test_a_secret_is_in_no_reply(people: People, witness: Witness) -> None:
    secret = f"hunter2-{uuid.uuid4().hex}"
    with LanggraphClient.of(people.named("keeper-of-langgraph")) as client:
        thread_id = client.thread()
        asks = calls(("request_env_vars", {"fields": [{"name": "TOKEN"}]}))
        said = script(asks, calls(("use_key", {"name": "TOKEN"})))
        given = {"messages": [{"type": "human", "content": said}]}
        asked = client.post(thread_id, "wait", {"assistant_id": "puppet", "input": given}).json()["__interrupt__"][0]
        answer = {asked["id"]: {"values": {"TOKEN": secret}}}
        body = {"assistant_id": "puppet", "command": {"resume": answer}}
        wrong = client.resume(thread_id, "puppet", {asked["id"]: {"TOKEN": secret}})
        assert wrong.status_code == 422
        stream = client.post(thread_id, "stream", {**body, "stream_mode": ["values", "updates", "events"]})
        repeat = client.post(thread_id, "wait", body)
        assert (stream.status_code, repeat.status_code) == (200, 409)
        path = f"/threads/{thread_id}"
        replies = [client.http.get(path + tail) for tail in ("", "/state?subgraphs=1", "/history?limit=100", "/runs")]
        replies += [client.http.get(f"{path}/runs/{one['run_id']}/join") for one in replies[-1].json()]
    assert witness.count(f"key:{hashlib.sha256(secret.encode()).hexdigest()}") == 1
    for reply in (wrong, stream, repeat, *replies):
        assert secret not in reply.text, reply.url
