"""Whose words stand on a request: what the agent said with its call, what the tool says of itself, what is asked."""

from tests.support.hitl import HitlClient, of
from tests.support.inbox import told, view
from tests.support.puppet import calls, says, script
from tests.support.threads import ThreadsClient


def test_what_the_agent_said_with_its_call_is_on_the_request(alice: ThreadsClient) -> None:
    (entry,) = told(alice, "create said.md", "demo")
    shown = view(alice, entry["request_id"])
    assert shown["said"] == "I'll write said.md. Please confirm it first."
    assert shown["described_by"] == "tool"
    assert shown["body"]["description"].startswith("Create a text file in the workspace")


def test_a_call_without_a_word_has_none_of_an_earlier_turn(alice: ThreadsClient) -> None:
    thread_id = alice.new_thread("puppet")
    alice.chat(thread_id, script(says("Good morning.")))
    alice.chat(thread_id, script(calls(("guarded", {"name": "silent"}))))
    with of(alice) as client:
        request_id = client.one_pending(thread_id)["request_id"]
    assert view(alice, request_id)["said"] is None


def test_what_was_given_in_confidence_is_not_among_what_the_agent_said(giver: ThreadsClient) -> None:
    secret = "s3cr3t-0f-giver-1234"
    thread_id = giver.new_thread("puppet")
    asking = calls(("request_env_vars", {"fields": [{"name": "TOKEN"}]}))
    repeating = calls(("guarded", {"name": "repeated"}), say=[f"I have {secret} now."])
    giver.chat(thread_id, script(asking, repeating))
    with of(giver) as client:
        request = client.one_pending(thread_id)
        client.respond(request["request_id"], {"values": {"TOKEN": secret}})
        call = client.one_pending(thread_id)
    assert view(giver, call["request_id"])["said"] == "I have *** now."


def test_what_an_agent_elsewhere_writes_is_its_own_also_where_it_reads_as_a_tools(alice: ThreadsClient) -> None:
    (entry,) = told(alice, "create own.md", "demo")
    description = view(alice, entry["request_id"])["body"]["description"]
    with of(alice) as client:
        key = client.new_key("elsewhere", "agent")["key"]
    with HitlClient(str(alice.http.base_url), key) as agent:
        copied = {"tool_name": "write_file", "args": {"path": "x", "content": "y"}, "description": description}
        request_id = agent.ask("permission", copied)["request_id"]
    shown = view(alice, request_id)
    assert (shown["described_by"], shown["said"]) == ("agent", None)
