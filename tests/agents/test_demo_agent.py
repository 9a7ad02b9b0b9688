"""The demo agent as a whole: the scripted model, the real tools, and a person who answers."""

from pathlib import Path
from typing import Any, cast

import pytest
from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from interlock.agents.demo.agent import build
from interlock.agents.demo.scripted_model import ScriptedChatModel
from interlock.agents.demo.workspace import workspace_tools

CONFIG: Any = {"configurable": {"thread_id": "t"}}


def say(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def messages_of(state: dict[str, Any]) -> list[BaseMessage]:
    return cast("list[BaseMessage]", state["messages"])


@pytest.fixture
def ungated(tmp_path: Path) -> Any:
    """The agent without the middleware: nothing is asked."""
    tools = workspace_tools(tmp_path)
    return cast("Any", create_agent(ScriptedChatModel(), tools=tools, checkpointer=InMemorySaver()))


async def test_a_conversation_creates_shows_and_deletes_a_file(ungated: Any, tmp_path: Path) -> None:
    state = await ungated.ainvoke(say("创建一个 hello.py 文件"), CONFIG)
    assert messages_of(state)[-1].text == "hello.py 已经写好了。"
    assert (tmp_path / "hello.py").read_text() == 'print("你好，Interlock！")\n'
    state = await ungated.ainvoke(say("运行它"), CONFIG)
    assert "你好，Interlock！" in messages_of(state)[-1].text
    state = await ungated.ainvoke(say("delete it"), CONFIG)
    assert messages_of(state)[-1].text == "hello.py is deleted."
    assert not (tmp_path / "hello.py").exists()


async def test_a_refused_path_does_not_end_the_run(ungated: Any) -> None:
    state = await ungated.ainvoke(say("show /etc/passwd and run `exit 4`"), CONFIG)
    results = [message for message in messages_of(state) if isinstance(message, ToolMessage)]
    assert [result.status for result in results] == ["error", "error"]
    assert "outside the workspace" in messages_of(state)[-1].text
    assert "Exit code 4" in messages_of(state)[-1].text


async def test_an_unknown_tool_does_not_end_the_run(ungated: Any) -> None:
    state = await ungated.ainvoke(say("ask me three questions"), CONFIG)
    assert "could not" in messages_of(state)[-1].text


async def test_tokens_are_streamed_once_each(ungated: Any) -> None:
    tokens: list[str] = []
    async for part in ungated.astream(say("list files"), CONFIG, stream_mode="messages"):
        message, metadata = part
        if metadata["langgraph_node"] == "model":
            tokens.append(message.text)
    state = await ungated.aget_state(CONFIG)
    said = [message.text for message in messages_of(state.values) if message.type == "ai"]
    assert len(tokens) > 5
    assert "".join(tokens) == "".join(said)


@pytest.fixture
def agent(tmp_path: Path) -> Any:
    graph = build(tmp_path / "workspace")
    graph.checkpointer = InMemorySaver()
    return graph


async def answer(agent: Any, state: dict[str, Any], **told: Any) -> dict[str, Any]:
    resume = {interrupt.id: told for interrupt in state["__interrupt__"]}
    return await agent.ainvoke(Command(resume=resume), CONFIG)


async def test_it_asks_before_it_writes_and_names_the_risk(agent: Any, tmp_path: Path) -> None:
    state = await agent.ainvoke(say("创建一个 hello.py 文件"), CONFIG)
    [interrupt] = state["__interrupt__"]
    body = interrupt.value["interlock"]["body"]
    assert (body["tool_name"], body["tool_display_name"], body["risk_level"]) == ("write_file", "写入文件", "medium")
    assert not (tmp_path / "workspace/hello.py").exists()
    state = await answer(agent, state, value={"decision": "accept"})
    assert (tmp_path / "workspace/hello.py").exists()
    assert messages_of(state)[-1].text == "hello.py 已经写好了。"


async def test_it_reads_without_asking(agent: Any) -> None:
    state = await agent.ainvoke(say("list files"), CONFIG)
    assert "__interrupt__" not in state


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"value": {"decision": "reject", "message": "still needed"}}, ["you refused", "still needed"]),
        ({"value": None, "reason": "expired"}, ["Nobody answered in time"]),
        ({"value": {"decision": "response", "message": "it is gone already"}}, ["it is gone already"]),
    ],
)
async def test_what_a_person_refuses_is_not_done(agent: Any, tmp_path: Path, told: Any, said: list[str]) -> None:
    (tmp_path / "workspace/a.txt").write_text("keep")
    state = await agent.ainvoke(say("delete a.txt"), CONFIG)
    state = await answer(agent, state, **told)
    assert (tmp_path / "workspace/a.txt").exists()
    assert all(part in messages_of(state)[-1].text for part in said)


async def test_an_edit_is_run_and_told_as_the_person_made_it(agent: Any, tmp_path: Path) -> None:
    state = await agent.ainvoke(say("create a.txt"), CONFIG)
    edited = {"path": "b.txt", "content": "mine"}
    state = await answer(agent, state, value={"decision": "edit", "args": edited})
    assert (tmp_path / "workspace/b.txt").read_text() == "mine"
    assert "b.txt is written" in messages_of(state)[-1].text


@pytest.mark.parametrize(
    ("text", "kind", "value", "said"),
    [
        ("ask me three questions", "questions", {"answers": ["red", "an owl", "now"]}, ["Red", "an owl", "Right away"]),
        ("clarify", "clarification", {"answer": "Staging"}, ["Staging"]),
        ("decide", "decision", {"decision": "wait"}, ["Not yet"]),
        ("我需要密钥", "env_var", {"values": {"DEMO_API_KEY": "hidden"}, "handles": {}}, ["DEMO_API_KEY"]),
    ],
)
async def test_its_asks_are_answered(agent: Any, text: str, kind: str, value: dict[str, Any], said: list[str]) -> None:
    state = await agent.ainvoke(say(text), CONFIG)
    [interrupt] = state["__interrupt__"]
    assert interrupt.value["interlock"]["kind"] == kind
    state = await answer(agent, state, value=value)
    assert all(part in messages_of(state)[-1].text for part in said)
    assert not any("hidden" in message.text for message in messages_of(state))


async def test_several_calls_at_once_are_asked_one_by_one(agent: Any, tmp_path: Path) -> None:
    state = await agent.ainvoke(say("create a.txt and b.txt"), CONFIG)
    first, second = state["__interrupt__"]
    resume = {
        first.id: {"value": {"decision": "accept"}},
        second.id: {"value": {"decision": "reject", "message": "no"}},
    }
    await agent.ainvoke(Command(resume=resume), CONFIG)
    assert [entry.name for entry in (tmp_path / "workspace").iterdir()] == ["a.txt"]


def test_its_names_for_the_tools_follow_the_locale(tmp_path: Path) -> None:
    assert build(tmp_path, locale="en") is not None


def test_a_model_that_is_not_installed_is_named(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="nonsense"):
        build(tmp_path, model="nonsense:model")
