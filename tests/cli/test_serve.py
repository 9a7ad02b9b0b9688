"""What stops a start: one line with the reason, and exit code 2."""

import json
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cli.conftest import Interlock
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

ROOT = Path(__file__).parents[2]


def assert_refused(done: subprocess.CompletedProcess[str], *reasons: str) -> None:
    assert done.returncode == 2
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("interlock: ")
    for reason in reasons:
        assert reason in lines[0]


def test_an_agent_that_is_not_there_stops_the_start(interlock: Interlock) -> None:
    assert_refused(interlock("serve", "--port", "0", agents="mine=missing.py:agent"), "mine", "no file missing.py")


DEEP = """import json

def read(text):
    return json.loads(text)

agent = read("{")
"""
NEIGHBOUR = """
import broken_neighbour
"""


@pytest.mark.parametrize(
    ("content", "reason", "place"),
    [
        ("raise RuntimeError('not today\\nnor tomorrow')", "not today nor tomorrow", "mine.py, line 1"),
        ("import sys\nsys.exit(0)", "SystemExit", "mine.py, line 2"),
        ("x = 1\ndef broken(:", "SyntaxError", "mine.py, line 2"),
        (DEEP, "JSONDecodeError", "mine.py, line 4"),
        (NEIGHBOUR, "no key", "broken_neighbour.py, line 3"),
        ("def agent():\n    raise KeyError('KEY')", "KeyError", "mine.py, line 2"),
    ],
)
def test_an_agent_that_cannot_be_loaded_says_where(
    interlock: Interlock, tmp_path: Path, content: str, reason: str, place: str
) -> None:
    (tmp_path / "mine.py").write_text(content)
    (tmp_path / "broken_neighbour.py").write_text("def key():\n    # none\n    raise ValueError('no key')\nkey()\n")
    done = interlock("serve", "--port", "0", agents="mine=mine.py:agent")
    assert (done.returncode, done.stdout) == (2, "")
    first, *trace = done.stderr.splitlines()
    assert first.startswith("interlock: agent 'mine': ")
    assert reason in first
    assert place in first
    assert any(place.split(", ")[0] in line for line in trace), done.stderr
    for foreign in ("importlib", "loading.py", "typer", "asyncio"):
        assert foreign not in done.stderr


def test_a_misspelled_tool_in_interrupt_on_stops_the_start(interlock: Interlock, tmp_path: Path) -> None:
    example = (ROOT / "examples" / "approve_tools.py").read_text()
    (tmp_path / "typo.py").write_text(example.replace('interrupt_on={"send_mail"', 'interrupt_on={"send_mial"'))
    done = interlock("serve", "--port", "0", agents="mail=typo.py:agent")
    assert_refused(done, "'mail'", "'send_mial'", "did you mean 'send_mail'?")


def test_no_accounts_beyond_loopback_is_refused(interlock: Interlock) -> None:
    assert_refused(interlock("serve", "--auth", "none", "--host", "0.0.0.0"), "loopback", "0.0.0.0")


@pytest.mark.parametrize(("name", "value"), [("port", "eighty"), ("failpoints", "nowhere=kill"), ("model", "no:thing")])
def test_a_setting_that_cannot_be_names_its_variable(interlock: Interlock, name: str, value: str) -> None:
    assert_refused(interlock("serve", **{"port": "0", name: value}), f"INTERLOCK_{name.upper()}")


def test_a_database_that_is_not_there_stops_the_start(interlock: Interlock) -> None:
    done = interlock("serve", "--port", "0", "--database", "postgresql://nobody:hunter2@127.0.0.1:1/nothing")
    assert_refused(done, "database")
    assert "hunter2" not in done.stderr


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    process = ServerProcess(tmp_path_factory.mktemp("running"))
    try:
        yield process.start()
    finally:
        process.close()


def test_a_server_that_is_ready_prints_where_it_is_and_a_link_to_sign_in_once(running: ServerProcess) -> None:
    ready, link = running.output.read_text().splitlines()
    assert running.url in ready
    assert "open the link below" in ready
    assert link.startswith(f"Create the admin's account, within 15 minutes: {running.url}/login#once=")
    assert "/api/" not in ready + link, "a newcomer opens a page"


@pytest.mark.parametrize(
    ("readme", "message"), [("README.md", "delete hello.py"), ("README.zh-CN.md", "删除 hello.py")]
)
def test_the_first_act_of_the_readme_works_on_a_fresh_data_folder(tmp_path: Path, readme: str, message: str) -> None:
    assert message in (ROOT / readme).read_text()
    with ServerProcess(tmp_path / "fresh") as server:
        client = ThreadsClient(server.url).sign_in()
        thread_id = client.new_thread()
        request_id = client.chat(thread_id, message).first("interrupt")["request_id"]
        address = f"/api/v1/inbox/requests/{request_id}"
        assert "print(" in client.http.get(address).json()["file"]["text"]
        ended = client.resume(thread_id, "continue").first("tool/end")
        assert (ended["tool"], ended["status"]) == ("delete_file", "success")
        assert client.http.get(address).json()["result"] == {"status": "success", "output": "Deleted hello.py."}
        client.http.close()
        server.stop()
        server.start()
        assert not (server.data / "workspace" / "hello.py").exists(), "what people deleted stays deleted"


FAILING = """
from langgraph.graph import MessagesState, StateGraph

def pay(state):
    raise RuntimeError("no money")

def node(state: MessagesState):
    return pay(state)

agent = StateGraph(MessagesState).add_node(node).set_entry_point("node")
"""


@pytest.mark.parametrize("form", ["auto", "text"])
def test_where_an_agent_failed_can_be_read_in_the_log(tmp_path: Path, form: str) -> None:
    (tmp_path / "failing.py").write_text(FAILING)
    environment = {"INTERLOCK_LOG_FORMAT": form}
    agents = [f"failing={tmp_path / 'failing.py'}:agent"]
    with ServerProcess(tmp_path / "data", agents=agents, environment=environment) as server:
        client = ThreadsClient(server.url).sign_in()
        assert client.chat(client.new_thread(), "go").first("error")["message"] == "RuntimeError: no money"
        client.http.close()
        log = server.log.read_text()
    if form == "auto":
        entries = [json.loads(line) for line in log.splitlines()]
        (failed,) = [entry for entry in entries if entry["level"] == "error"]
        assert failed["message"].endswith("of agent failing failed: RuntimeError: no money")
        trace = failed["error"]
    else:
        trace = log[log.index("Traceback") :].partition("RuntimeError: no money\n")[0]
    frames = [line.strip() for line in trace.splitlines() if line.strip().startswith("File ")]
    own = [f'File "{tmp_path / "failing.py"}", line {line}, in {name}' for line, name in ((8, "node"), (5, "pay"))]
    assert frames == own


def test_the_demo_agent_is_there_when_none_is_named(running: ServerProcess) -> None:
    client = ThreadsClient(running.url).sign_in()
    thread_id = client.new_thread()
    assert client.chat(thread_id, "创建一个 hello.py 文件").first("interrupt")["info"] == "正在写入文件: hello.py"
    client.resume(thread_id, "continue")
    assert "Interlock" in (running.data / "workspace" / "hello.py").read_text()
    client.http.close()


def test_a_second_server_on_the_same_folder_or_port_is_refused(interlock: Interlock, running: ServerProcess) -> None:
    done = interlock("serve", "--port", "0", "--data", str(running.data))
    assert_refused(done, "another server", str(running.running.pid), "--data")
    port = running.url.rpartition(":")[2]
    assert_refused(interlock("serve", "--port", port, "--data", "elsewhere"), f"127.0.0.1:{port}")
    with running.client() as http:
        assert http.get("/readyz").status_code == 200
