"""The protocol's own clients for Node, of both versions that are in use."""

from collections.abc import Callable, Generator

import pytest

from tests.support.agui import AguiClient, NodeAgent, cancelled, resolved
from tests.support.puppet import calls, says, script
from tests.support.threads import ThreadsClient

PACKAGES = ("@ag-ui/client", "ag-ui-client-0-0-59")

Start = Callable[[AguiClient], NodeAgent]


@pytest.fixture(params=PACKAGES)
def start(request: pytest.FixtureRequest) -> Generator[Start]:
    running: list[NodeAgent] = []

    def started(client: AguiClient) -> NodeAgent:
        running.append(NodeAgent(request.param, client))
        return running[-1]

    yield started
    for one in running:
        one.close()


def test_run_interrupt_resume(start: Start, alice: ThreadsClient) -> None:
    agent = start(AguiClient.of(alice))
    asked = agent.run(say=script(calls(("pay", {"amount": 5, "to": "ann"}), say=["I pay."])))
    assert asked.get("error") is None
    [interrupt] = asked["pending"]
    done = agent.run(resume=[resolved(interrupt, {"approved": True})])
    assert (done.get("error"), done["pending"]) == (None, [])
    roles = [message["role"] for message in done["messages"]]
    assert roles[:3] == ["user", "assistant", "tool"]
    assert roles[-1] == "assistant"
    assert roles.count("tool") == 1


def test_a_question_that_was_answered_elsewhere_is_cleared(start: Start, alice: ThreadsClient) -> None:
    client = AguiClient.of(alice)
    agent, other = start(client), start(client)
    [interrupt] = agent.run(say=script(calls(("pay", {"amount": 5, "to": "ann"}))))["pending"]
    [same] = other.run()["pending"]
    assert same["id"] == interrupt["id"]
    assert other.run(resume=[cancelled(same)]).get("error") is None
    late = agent.run(resume=[resolved(interrupt, {"approved": True})])
    assert (late.get("error"), late["pending"]) == (None, [])
    assert [event["name"] for event in late["events"] if event["type"] == "CUSTOM"] == ["interlock.already_answered"]


def test_two_interrupts_are_answered_together(start: Start, alice: ThreadsClient) -> None:
    agent = start(AguiClient.of(alice))
    asked = agent.run(say=script(calls(("pay", {"amount": 1, "to": "a"}), ("execute", {"command": "ls"}))))
    answers = [resolved(one, {"approved": False, "reason": "no"}) for one in asked["pending"]]
    assert len(answers) == 2
    done = agent.run(resume=answers)
    assert (done.get("error"), done["pending"]) == (None, [])


def test_a_conversation_goes_on(start: Start, alice: ThreadsClient) -> None:
    agent = start(AguiClient.of(alice))
    agent.run(say=script(says("first")))
    agent.run(say=script(calls(("request_clarification", {"question": "Which?", "options": ["a"]}))))
    reloaded = agent.run()
    [interrupt] = reloaded["pending"]
    done = agent.run(resume=[resolved(interrupt, {"answer": "a"})])
    assert done.get("error") is None
    last = agent.run(say=script(says("last")))
    assert last["messages"][-1]["content"] == "last"
    texts = [
        message["content"] for message in last["messages"] if message["role"] == "assistant" and message["content"]
    ]
    assert len(texts) == len(set(texts))
