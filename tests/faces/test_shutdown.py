"""A server that is told to stop: streams end cleanly, tools under way are finished, and the next start goes on."""

import signal
from collections.abc import Generator
from contextlib import ExitStack

import httpx
import pytest

from tests.support import puppet
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.wire import following, opened, until
from tests.support.witness import Witness


@pytest.fixture
def stopping(tmp_path_factory: pytest.TempPathFactory, witness: Witness) -> Generator[ServerProcess]:
    process = ServerProcess(tmp_path_factory.mktemp("stopping"), agents=[puppet.SPEC], environment=witness.environment)
    try:
        yield process.start()
    finally:
        process.close()


def test_streams_end_and_the_run_goes_on_after_the_restart(stopping: ServerProcess, witness: Witness) -> None:
    person = ThreadsClient(stopping.url).sign_in()
    thread_id, idle = person.new_thread(), person.new_thread()
    message = {"message": script(calls(("hold", {"name": "stopping"})), calls(("note", {"name": "after-stopping"})))}
    with (
        ExitStack() as stack,
        opened(person, f"/api/chat/{thread_id}", message) as chat,
        following(person, idle) as silent,
    ):
        until(chat, "tool/start")
        [run] = person.http.get(f"/threads/{thread_id}/runs").json()
        waiting = stack.enter_context(person.http.stream("GET", f"/threads/{thread_id}/runs/{run['run_id']}/join"))
        assert waiting.status_code == 200
        stopping.running.send_signal(signal.SIGTERM)
        with pytest.raises(httpx.HTTPError):
            # Cut, with nothing that could be taken for how the run ended: its client joins again.
            waiting.read()
        for frames in (chat, silent):
            last = list(frames)
            assert [frame.event for frame in last] == ["error", "end"]
            assert last[0].data["message"] == "服务器正在关闭，运行将在重启后继续"
    assert stopping.running.poll() is None
    witness.release("stopping")
    stopping.running.wait(30)
    assert stopping.running.returncode == 0
    with pytest.raises(httpx.ConnectError):
        person.http.get("/healthz")
    person.http.close()
    again = person.at(stopping.start().url)
    wanted = "held stopping | noted after-stopping"
    again.wait_for(lambda: again.history(thread_id), lambda messages: messages[-1]["content"] == wanted)
    assert (witness.count("stopping"), witness.count("after-stopping")) == (1, 1)
    assert again.http.get("/readyz").status_code == 200
    again.http.close()


def test_a_paused_thread_is_still_paused_and_answerable_after_a_restart(
    stopping: ServerProcess, witness: Witness
) -> None:
    person = ThreadsClient(stopping.url).sign_in()
    thread_id = person.new_thread()
    asked = person.chat(thread_id, script(calls(("guarded", {"name": "restarted"})))).first("interrupt")
    person.http.close()
    stopping.stop()
    assert stopping.running.returncode == 0
    again = person.at(stopping.start().url)
    status = again.status(thread_id)
    assert status["interrupt_info"]["requests"][0]["request_id"] == asked["request_id"]
    assert again.resume(thread_id, "continue").text == "done restarted"
    assert witness.count("restarted") == 1
    again.http.close()
