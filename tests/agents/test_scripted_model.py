"""The scripted model streams like a real one and answers by the conversation alone."""

import json
from collections.abc import Sequence
from typing import Any, Literal

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage

from interlock.agents.demo.scripted_model import ScriptedChatModel

MODEL = ScriptedChatModel()

Result = tuple[str, Literal["success", "error"]]


def turn(text: str, *results: Result) -> list[BaseMessage]:
    """A message, the model's calls for it, and what came back for each."""
    human = HumanMessage(text, id="human-1")
    said = MODEL.invoke([human])
    tools = [
        ToolMessage(content, tool_call_id=call["id"] or "", name=call["name"], status=status)
        for call, (content, status) in zip(said.tool_calls, results, strict=True)
    ]
    return [human, said, *tools]


def reply(messages: Sequence[BaseMessage]) -> str:
    said = MODEL.invoke(list(messages))
    assert not said.tool_calls
    return said.text


@pytest.mark.parametrize("text", ["你好", "hello", "创建 a.txt 和 b.txt", "ask me three questions"])
async def test_it_streams_in_pieces_that_make_up_the_same_message(text: str) -> None:
    messages: list[BaseMessage] = [HumanMessage(text, id="human-1")]
    whole = MODEL.invoke(messages)
    for chunks in (list(MODEL.stream(messages)), [chunk async for chunk in MODEL.astream(messages)]):
        assert sum(bool(chunk.text) for chunk in chunks) > 3
        total = AIMessageChunk(content="")
        for chunk in chunks:
            assert isinstance(chunk, AIMessageChunk)
            total += chunk
        assert total.text == whole.text
        assert total.tool_calls == whole.tool_calls
        assert not total.invalid_tool_calls


def test_chinese_is_streamed_a_few_characters_at_a_time() -> None:
    assert max(len(chunk.text) for chunk in MODEL.stream("你是谁")) <= 32


def test_every_call_has_an_id_of_its_own_and_a_new_turn_gives_new_ones() -> None:
    first = turn(
        "create a.txt and b.txt", ("Created a.txt (1 bytes).", "success"), ("Created b.txt (1 bytes).", "success")
    )
    again = MODEL.invoke([*first, AIMessage("ok"), HumanMessage("create a.txt and b.txt", id="human-2")])
    said = first[1]
    assert isinstance(said, AIMessage)
    ids = [call["id"] for message in (said, again) for call in message.tool_calls]
    assert len(set(ids)) == 4
    assert all(id and id.startswith("call_") and int(id[5:], 16) for id in ids)


def test_the_same_conversation_gives_the_same_message() -> None:
    messages = turn("删除 a.txt 并运行 ls", ("Deleted a.txt.", "success"), ("b.txt", "success"))
    for length in (1, len(messages)):
        one, other = MODEL.invoke(messages[:length]), ScriptedChatModel().invoke(messages[:length])
        assert (one.text, one.tool_calls) == (other.text, other.tool_calls)


@pytest.mark.parametrize(
    ("text", "result", "said"),
    [
        ("create a.txt", ("Created a.txt (3 bytes).", "success"), ["a.txt is written"]),
        ("创建 a.txt", ("Created a.txt (3 bytes).", "success"), ["a.txt 已经写好了"]),
        ("run ls", ("a.txt\nb.txt", "success"), ["`ls`", "a.txt\nb.txt"]),
        ("查看 a.txt", ("第一行", "success"), ["a.txt 的内容", "第一行"]),
        ("delete a.txt", ("Deleted a.txt.", "success"), ["a.txt is deleted"]),
        ("delete a.txt", ("I moved it away myself", "success"), ["yourself", "I moved it away myself"]),
        (
            "run ls",
            ('A person changed the arguments; it ran with {"command": "ls -a"}.\n.hidden', "success"),
            ["the way you changed it", "`ls -a`", ".hidden"],
        ),
        (
            "delete a.txt",
            ("A person refused this call of delete_file; it was not run. Reason: I still need it", "error"),
            ["you refused", "did not delete a.txt", "I still need it"],
        ),
        (
            "删除 a.txt",
            ("A person refused this call of delete_file; it was not run. Reason: 还有用", "error"),
            ["没有同意", "没有删除 a.txt", "还有用"],
        ),
        ("delete a.txt", ("A person refused this call of delete_file; it was not run.", "error"), ["you refused"]),
        ("delete a.txt", ("Not answered: expired. delete_file was not run.", "error"), ["Nobody", "time ran out"]),
        (
            "删除 a.txt",
            ("Not answered: nobody answered before the deadline. delete_file was not run.", "error"),
            ["没有等到您的答复", "时间到了"],
        ),
        (
            "run ls",
            ("Skipped: it was cut short by a crash, and whether it took effect is not known.", "error"),
            ["I skipped this: run `ls`", "whether it took effect is not known"],
        ),
        ("run ls", ("Not run: the run was stopped before this call.", "error"), ["I skipped this", "was stopped"]),
        ("run ls", ("Exit code 2\nls: permission denied", "error"), ["could not run `ls`", "permission denied"]),
        ("查看 ../x.txt", ("Error: ../x.txt is outside the workspace", "error"), ["没能查看 ../x.txt", "outside"]),
        ("clarify", ("Staging", "success"), ["Got it: Staging"]),
        ("澄清", ("Not answered: the request was cancelled", "error"), ["没有收到您的回答", "已取消"]),
        ("decide", (json.dumps({"decision": "gradual", "reason": "safer"}), "success"), ["Step by step", "safer"]),
        ("帮我决定", (json.dumps({"decision": "wait", "reason": ""}), "success"), ["先不发布"]),
    ],
)  # fmt: skip
def test_it_says_how_a_call_ended(text: str, result: Result, said: list[str]) -> None:
    answer = reply(turn(text, result))
    for part in said:
        assert part in answer


def test_a_reason_that_speaks_of_something_else_does_not_change_what_happened() -> None:
    refusal = "A person refused this call of execute; it was not run. Reason: the last one expired and was skipped"
    assert "you refused" in reply(turn("run ls", (refusal, "error")))


def test_it_repeats_what_was_chosen_by_its_label() -> None:
    asked = MODEL.invoke([HumanMessage("问我三个问题")]).tool_calls[0]["args"]["questions"]
    answers = [
        {"question": question["question"], "answer": answer}
        for question, answer in zip(asked, ["red", "龙", "review"], strict=True)
    ]
    answer = reply(turn("问我三个问题", (json.dumps(answers, ensure_ascii=False), "success")))
    assert all(part in answer for part in ("你喜欢什么颜色? 红色", "你喜欢什么动物? 龙", "怎么执行? 审视后执行"))


@pytest.mark.parametrize(
    "content", ['{"provided": ["DEMO_API_KEY"]}', "DEMO_API_KEY=hidden", '{"DEMO_API_KEY": "hidden"}']
)
def test_it_names_a_key_and_never_its_value(content: str) -> None:
    answer = reply(turn("I need a key", (content, "success")))
    assert "DEMO_API_KEY" in answer
    assert "hidden" not in answer


def test_each_of_several_calls_is_reported() -> None:
    refused = ("A person refused this call of execute; it was not run. Reason: later", "error")
    answer = reply(turn("delete a.txt and run ls", ("Deleted a.txt.", "success"), refused))
    assert "a.txt is deleted" in answer
    assert "did not run `ls`" in answer


def test_the_next_step_waits_for_the_first_and_is_left_when_that_was_refused() -> None:
    done = turn("create hello.py and run it", ("Created hello.py (9 bytes).", "success"))
    following = MODEL.invoke(done)
    assert [(call["name"], call["args"]) for call in following.tool_calls] == [
        ("execute", {"command": "python3 hello.py"})
    ]
    result = ToolMessage("Hello from Interlock!", tool_call_id=following.tool_calls[0]["id"] or "")
    answer = reply([*done, following, result])
    assert "hello.py is written" in answer
    assert "Hello from Interlock!" in answer

    refused = reply(
        turn("create hello.py and run it", ("A person refused this call of write_file; it was not run.", "error"))
    )
    assert "not gone on with the rest" in refused
    assert "python3 hello.py" in refused


def test_a_message_after_calls_that_were_not_run_is_a_new_turn() -> None:
    stopped = turn("delete a.txt", ("Not run: the run was stopped before this call.", "error"))
    said = MODEL.invoke([*stopped, HumanMessage("运行 ls")])
    assert [call["args"] for call in said.tool_calls] == [{"command": "ls"}]
    assert "我来运行" in said.text
    assert "Hello" in reply([*stopped, HumanMessage("hello")])


def test_it_knows_the_file_of_the_turn_before() -> None:
    before = turn("create hello.py", ("Created hello.py (9 bytes).", "success"))
    said = MODEL.invoke([*before, AIMessage("hello.py is written."), HumanMessage("now run it")])
    assert said.tool_calls[0]["args"] == {"command": "python3 hello.py"}


@pytest.mark.parametrize("text", ["who are you?", "你是谁", "tell me a joke", "讲个笑话"])
def test_it_is_honest_about_what_it_is(text: str) -> None:
    answer = reply([HumanMessage(text)])
    assert "INTERLOCK_MODEL" in answer
    assert "script" in answer or "脚本" in answer


def test_output_can_not_break_out_of_its_fence() -> None:
    answer = reply(turn("run cat a.md", ("```\ncode\n```", "success")))
    assert "````\n```\ncode\n```\n````" in answer


def test_it_takes_messages_in_blocks_and_an_empty_conversation() -> None:
    blocks: list[str | dict[Any, Any]] = [{"type": "text", "text": "run ls"}]
    assert MODEL.invoke([HumanMessage(content=blocks)]).tool_calls[0]["args"] == {"command": "ls"}
    assert MODEL.invoke([AIMessage("...")]).text
