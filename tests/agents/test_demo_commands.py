"""What the scripted model makes of what people write, in both languages."""

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from interlock.agents.demo.commands import Missing
from interlock.agents.demo.wishes import Incomplete, Plan, Talk, Topic, understand
from interlock.texts import LOCALES, Locale, demo_text

ROOT = Path(__file__).parents[2]

Step = Sequence[tuple[str, dict[str, Any]]]


def write(path: str, content: str) -> tuple[str, dict[str, Any]]:
    return "write_file", {"path": path, "content": content}


def edit(path: str, old: str, new: str) -> tuple[str, dict[str, Any]]:
    return "edit_file", {"path": path, "old": old, "new": new}


def read(path: str) -> tuple[str, dict[str, Any]]:
    return "read_file", {"path": path}


def delete(path: str) -> tuple[str, dict[str, Any]]:
    return "delete_file", {"path": path}


def list_files(path: str = ".") -> tuple[str, dict[str, Any]]:
    return "list_files", {"path": path}


def run(command: str) -> tuple[str, dict[str, Any]]:
    return "execute", {"command": command}


def planned(text: str, last_path: str | None = None) -> list[list[tuple[str, dict[str, Any]]]]:
    wish = understand(text, last_path)
    assert isinstance(wish, Plan), wish
    return [[(call.tool, dict(call.args)) for call in step] for step in wish.steps]


HI, HI_ZH = "Hello from Interlock!\n", "你好，Interlock！\n"
PY, PY_ZH = 'print("Hello from Interlock!")\n', 'print("你好，Interlock！")\n'

ONE_STEP: list[tuple[str, Step]] = [
    ("创建一个 hello.py 文件", [write("hello.py", PY_ZH)]),
    ("创建一个hello.py文件", [write("hello.py", PY_ZH)]),
    ("请帮我创建 hello.py，内容为 print('hi')", [write("hello.py", "print('hi')")]),
    ("创建文件 notes.txt，内容是：买牛奶，然后删除 a.txt", [write("notes.txt", "买牛奶，然后删除 a.txt")]),
    ("新建笔记.txt", [write("笔记.txt", HI_ZH)]),
    ("创建一个名为 notes 的文件", [write("notes", HI_ZH)]),
    ("创建一个内容为 hi 的 a.txt 文件", [write("a.txt", "hi")]),
    ("把 hello 写入 notes.txt", [write("notes.txt", "hello")]),
    ("在 notes.txt 里写 你好", [write("notes.txt", "你好")]),
    ("create hello.py", [write("hello.py", PY)]),
    ("Hello, could you please create hello.py?", [write("hello.py", PY)]),
    ("create hello.py with print('hi')", [write("hello.py", "print('hi')")]),
    ("create a file notes.txt with content milk and eggs", [write("notes.txt", "milk and eggs")]),
    ("create a file called notes with content hello", [write("notes", "hello")]),
    ('Create a file named "my notes.txt" containing "hello world"', [write("my notes.txt", "hello world")]),
    ("create a.py:\n```python\nx = 1\nrun('and delete b')\n```", [write("a.py", "x = 1\nrun('and delete b')\n")]),
    ("write hello world to notes.txt", [write("notes.txt", "hello world")]),
    ("create a file decide.txt", [write("decide.txt", HI)]),
    ("show hello.py", [read("hello.py")]),
    ("show me hello.py please", [read("hello.py")]),
    ("read the file Makefile", [read("Makefile")]),
    ("what's in hello.py?", [read("hello.py")]),
    ("show ../../etc/passwd", [read("../../etc/passwd")]),
    ("查看 hello.py", [read("hello.py")]),
    ("显示 hello.py 文件", [read("hello.py")]),
    ("看看hello.py的内容", [read("hello.py")]),
    ("hello.py 里写了什么？", [read("hello.py")]),
    ("edit hello.py: replace foo with bar", [edit("hello.py", "foo", "bar")]),
    ("replace 'foo' with 'bar' in hello.py", [edit("hello.py", "foo", "bar")]),
    ("把 hello.py 里的 foo 改成 bar", [edit("hello.py", "foo", "bar")]),
    ("编辑 hello.py，把 hi 替换为 bye", [edit("hello.py", "hi", "bye")]),
    ("修改 hello.py：a -> b", [edit("hello.py", "a", "b")]),
    ("delete hello.py", [delete("hello.py")]),
    ("rm a.txt", [delete("a.txt")]),
    ("删除 hello.py", [delete("hello.py")]),
    ("请把 a.txt 删掉", [delete("a.txt")]),
    ("list files", [list_files()]),
    ("List the files in src/", [list_files("src/")]),
    ("what files are there?", [list_files()]),
    ("列出文件", [list_files()]),
    ("有哪些文件？", [list_files()]),
    ("列出 src/ 目录", [list_files("src/")]),
    ("运行 ls -la", [run("ls -la")]),
    ("执行命令 npm install", [run("npm install")]),
    ("执行命令：npm install", [run("npm install")]),
    ("执行 echo 你好", [run("echo 你好")]),
    ("run `ls`", [run("ls")]),
    ("run ls.", [run("ls")]),
    ("run ls .", [run("ls .")]),
    ("can you run ls please", [run("ls")]),
    ("execute: echo hi", [run("echo hi")]),
    ("execute: echo hi and delete a.txt", [run("echo hi and delete a.txt")]),
    ("run echo hello and goodbye", [run("echo hello and goodbye")]),
    ('run git commit -m "fix a and delete b.txt"', [run('git commit -m "fix a and delete b.txt"')]),
    ("运行 hello.py", [run("python3 hello.py")]),
    ("please create a.txt and b.txt", [write("a.txt", HI), write("b.txt", HI)]),
    ("create a.txt, b.txt and c.txt", [write("a.txt", HI), write("b.txt", HI), write("c.txt", HI)]),
    ("create a.txt and b.txt with content hi", [write("a.txt", "hi"), write("b.txt", "hi")]),
    ("create a.txt with one and create b.txt with two", [write("a.txt", "one"), write("b.txt", "two")]),
    ("创建 a.txt 和 b.txt", [write("a.txt", HI_ZH), write("b.txt", HI_ZH)]),
    ("创建a.txt、b.txt和c.txt", [write("a.txt", HI_ZH), write("b.txt", HI_ZH), write("c.txt", HI_ZH)]),
    ("delete a.txt and run ls", [delete("a.txt"), run("ls")]),
    ("删除 a.txt 并运行 ls", [delete("a.txt"), run("ls")]),
    ("run `ls` and `pwd`", [run("ls"), run("pwd")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "step"), ONE_STEP, ids=[text for text, _ in ONE_STEP])
def test_a_command_becomes_tool_calls(text: str, step: Step) -> None:
    assert planned(text) == [list(step)]


QUOTED = ['"{}"', "“{}”", "“{}”。", "「{}」", "'{}'", "‘{}’", "`{}`", ' "{}". ', "＂{}＂"]


@pytest.mark.parametrize("wish", ["delete hello.py", "删除 hello.py", "create a.txt and then delete hello.py"])
@pytest.mark.parametrize("quotes", QUOTED)
def test_a_wish_that_is_typed_with_the_quotes_of_the_page_is_understood(quotes: str, wish: str) -> None:
    assert planned(quotes.format(wish)) == planned(wish)


def test_quotes_of_two_things_are_not_around_the_whole() -> None:
    assert planned('delete "a.txt" and "b.txt"') == [[delete("a.txt"), delete("b.txt")]]
    assert understand('"delete a.txt" and "b"') == Talk("unknown")


SEVERAL_STEPS: list[tuple[str, list[Step]]] = [
    ("create hello.py and run it", [[write("hello.py", PY)], [run("python3 hello.py")]]),
    ("创建 hello.py，然后运行它", [[write("hello.py", PY_ZH)], [run("python3 hello.py")]]),
    ("create a.txt and show a.txt", [[write("a.txt", HI)], [read("a.txt")]]),
    ("先创建 a.txt，再删除 b.txt，最后列出文件", [[write("a.txt", HI_ZH)], [delete("b.txt")], [list_files()]]),
]


@pytest.mark.parametrize(("text", "steps"), SEVERAL_STEPS, ids=[text for text, _ in SEVERAL_STEPS])
def test_what_needs_an_earlier_result_waits_for_it(text: str, steps: list[Step]) -> None:
    assert planned(text) == [list(step) for step in steps]


@pytest.mark.parametrize("text", ["delete it", "删除它", "please remove that file"])
def test_it_means_the_file_that_was_spoken_of(text: str) -> None:
    assert planned(text, "prev.py") == [[delete("prev.py")]]
    assert understand(text) == Incomplete("file")


ASKS = [
    ("ask me three questions", "ask_user"),
    ("Please ask me 3 questions", "ask_user"),
    ("ask me for my favourite colour", "ask_user"),
    ("问我三个问题", "ask_user"),
    ("clarify", "request_clarification"),
    ("Can you clarify something with me?", "request_clarification"),
    ("澄清", "request_clarification"),
    ("decide", "request_decision"),
    ("help me decide", "request_decision"),
    ("帮我决定", "request_decision"),
    ("决策", "request_decision"),
    ("I need a key", "request_env_vars"),
    ("I need an api key", "request_env_vars"),
    ("ask me for a secret", "request_env_vars"),
    ("Please ask for my password", "request_env_vars"),
    ("需要密钥", "request_env_vars"),
    ("向我要一个密钥", "request_env_vars"),
    ("我需要一个 API key", "request_env_vars"),
]


@pytest.mark.parametrize(("text", "tool"), ASKS)
def test_an_ask_is_put_to_the_person(text: str, tool: str) -> None:
    [[(called, _)]] = planned(text)
    assert called == tool


def test_the_three_questions_are_those_of_the_seed() -> None:
    [[(_, args)]] = planned("问我三个问题")
    assert [question["question"] for question in args["questions"]] == [
        "你喜欢什么颜色?",
        "你喜欢什么动物?",
        "怎么执行?",
    ]
    assert args["questions"][0]["options"] == [
        {"label": "红色", "value": "red"},
        {"label": "绿色", "value": "green"},
        {"label": "蓝色", "value": "blue"},
        {"label": "自定义", "value": "__custom__", "allow_custom": True},
    ]


def test_fewer_questions_can_be_asked_for() -> None:
    assert len(planned("问我两个问题")[0][0][1]["questions"]) == 2
    assert len(planned("ask me a question")[0][0][1]["questions"]) == 1


def test_a_key_is_asked_for_by_its_name_and_is_sensitive() -> None:
    [[(_, args)]] = planned("I need OPENAI_API_KEY and GITHUB_TOKEN")
    assert [field["name"] for field in args["fields"]] == ["OPENAI_API_KEY", "GITHUB_TOKEN"]
    [[(_, args)]] = planned("需要密钥")
    assert [(field["name"], field["sensitive"]) for field in args["fields"]] == [("DEMO_API_KEY", True)]


def test_an_ask_and_a_tool_can_be_wanted_at_once() -> None:
    [step] = planned("创建 a.txt 并问我三个问题")
    assert [tool for tool, _ in step] == ["write_file", "ask_user"]


TALK: list[tuple[str, Topic]] = [
    ("hi", "greeting"),
    ("你好", "greeting"),
    ("who are you?", "who"),
    ("你是谁", "who"),
    ("help", "help"),
    ("show me what you can do", "help"),
    ("你能做什么？", "help"),
    ("thanks!", "thanks"),
    ("谢谢", "thanks"),
    ("bye", "bye"),
    ("再见", "bye"),
    ("how are you", "greeting"),
    ("how do I set INTERLOCK_MODEL?", "model"),
    ("你用的是什么模型", "model"),
    ("tell me a joke", "unknown"),
    ("今天天气怎么样", "unknown"),
    ("", "unknown"),
    ("x" * 5000, "long"),
]


@pytest.mark.parametrize(("text", "topic"), TALK, ids=[text[:30] for text, _ in TALK])
def test_small_talk_is_known_as_such(text: str, topic: Topic) -> None:
    assert understand(text) == Talk(topic)


@pytest.mark.parametrize("language", LOCALES)
def test_what_it_offers_to_do_it_understands(language: Locale) -> None:
    offered = re.findall(r'"([^"]+)"|「([^」]+)」', demo_text("abilities", language))
    assert len(offered) == 9
    for pair in offered:
        assert planned("".join(pair))


def test_what_the_pages_and_the_quickstart_offer_it_understands() -> None:
    messages = (ROOT / "packages/web/src/chat/messages.ts").read_text(encoding="utf-8")
    examples = re.findall(r"  example: \{\n(.*?)\n  \}", messages, re.DOTALL)
    offered = [text for block in examples for text in re.findall(r'"([^"]+)"', block)]
    quickstart = (ROOT / "docs/quickstart.md").read_text(encoding="utf-8")
    offered += re.findall(r"^\| `([^`]+)` \|", quickstart, re.MULTILINE)
    first_act = (ROOT / "packages/web/src/inbox/first-act/messages.ts").read_text(encoding="utf-8")
    offered += re.findall(r'  said: "([^"]+)"', first_act)
    assert len(offered) > 20
    for text in offered:
        assert planned(text)


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("delete the file", "file"),
        ("write a poem", "file"),
        ("运行", "command"),
        ("run the tests", "command"),
        ("修改 hello.py", "edit"),
    ],
)
def test_a_command_that_lacks_something_is_asked_about(text: str, missing: Missing) -> None:
    assert understand(text) == Incomplete(missing)


@pytest.mark.parametrize(
    "text",
    [
        "create a.txt" + " " * 1900 + "x",
        "编辑a.txt" + " " * 1900,
        "把" + "里 " * 900,
        "create a.txt" + "," * 1900,
        "replace a.txt" + " to with in" * 180,
        "run ls and " * 180,
        "write" + " to " * 490,
    ],
    ids=lambda text: text[:14],
)
def test_no_message_holds_the_server_up(text: str) -> None:
    started = time.process_time()
    understand(text)
    assert time.process_time() - started < 2
