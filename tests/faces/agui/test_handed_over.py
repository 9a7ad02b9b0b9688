"""What an application hands to the graph beside the message, `state`, `context` and `forwardedProps`, and the graph's
own state, which it is given back."""

import json
from pathlib import Path

from tests.support.agui import AguiClient, resolved
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

AGENT = """
import json

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import MessagesState, StateGraph
from langgraph.types import interrupt


class State(MessagesState):
    given: list


def answer(state: State, config: RunnableConfig):
    said = interrupt("Go on?")
    text = json.dumps([said, config["configurable"].get("agui")])
    return {"messages": [AIMessage(text)], "given": [*state.get("given", []), said]}


graph = StateGraph(State).add_node(answer).add_edge("__start__", "answer").compile()
"""
HANDED = {
    "state": {"page": 3},
    "context": [{"description": "who reads", "value": "ann"}],
    "forwardedProps": {"model": "small"},
}


def test_the_graph_has_it_in_its_config_also_after_a_pause_and_a_crash(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(AGENT)
    with ServerProcess(tmp_path / "data", agents=[f"own={file}:graph"]) as process:
        person = ThreadsClient(process.url).sign_in()
        client = AguiClient.of(person, agent="own")
        [interrupt] = client.say("hi", **HANDED).interrupts
        process.kill()
        process.start()
        client.url = process.url
        stream = client.run(resume=[resolved(interrupt, {"answer": True})], state={"page": 4})
        assert json.loads(stream.text) == [True, HANDED], "what the turn began with"
        assert stream.all("STATE_SNAPSHOT")[0]["snapshot"] == {"given": [True]}
        asked = client.say("again")
        assert asked.types[-3:] == ["STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]
        [interrupt] = asked.interrupts
        assert json.loads(client.run(resume=[resolved(interrupt, {"answer": 1})]).text) == [1, None]
        person.http.close()
