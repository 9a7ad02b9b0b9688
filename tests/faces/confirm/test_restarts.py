"""Sessions over the lives of a server: it is stopped or killed, and who comes back has lost nothing."""

import resource
from collections.abc import Generator

import pytest

from interlock_client.confirm import AgentEvents, ErrorTypes
from tests.support import puppet
from tests.support.confirm import ConfirmClient, names, only
from tests.support.puppet import calls, says, script
from tests.support.server import ServerProcess
from tests.support.witness import Witness

GOING_AWAY = 1001


@pytest.fixture
def mortal(tmp_path_factory: pytest.TempPathFactory, witness: Witness) -> Generator[ServerProcess]:
    folder = tmp_path_factory.mktemp("mortal")
    process = ServerProcess(folder, agents=[puppet.SPEC], auth="none", environment=witness.environment)
    try:
        yield process.start()
    finally:
        process.close()


@pytest.mark.parametrize("violent", [False, True])
def test_who_comes_back_after_a_restart_is_asked_again_and_what_is_confirmed_runs_once(
    mortal: ServerProcess, witness: Witness, fresh: str, violent: bool
) -> None:
    with ConfirmClient(mortal.url) as first:
        asked = first.ask(script(calls(("note", {"name": fresh})), calls(("guarded", {"name": f"{fresh}-2"}))))
        session, last_seq = str(first.session_id), first.last_seq
        (mortal.kill if violent else mortal.stop)()
        closed = first.closed()
        if not violent:
            assert closed.rcvd is not None
            assert (closed.rcvd.code, closed.rcvd.reason) == (GOING_AWAY, "服务器正在关闭，请重新连接")
    mortal.start()
    with ConfirmClient(mortal.url) as again:
        again.reconnect(session, last_seq)
        assert again.next()["step_id"] == asked["step_id"]
        again.confirm(asked["step_id"])
        final = again.wait_for(AgentEvents.FINAL_ANSWER)
        assert final["content"] == f"noted {fresh} | done {fresh}-2"
    assert (witness.count(fresh), witness.count(f"{fresh}-2")) == (1, 1)


@pytest.mark.parametrize("point", ["answer.committing", "answer.committed", "effect.intended", "run.finishing"])
def test_a_server_that_dies_of_an_answer_has_taken_it_or_not_and_never_twice(
    mortal: ServerProcess, witness: Witness, fresh: str, point: str
) -> None:
    with ConfirmClient(mortal.url) as first:
        asked = first.ask(script(calls(("guarded", {"name": fresh})), says("the end")))
        session, last_seq = str(first.session_id), first.last_seq
    mortal.stop()
    mortal.start(failpoints=f"{point}=kill")
    with ConfirmClient(mortal.url) as second:
        second.reconnect(session, last_seq)
        second.wait_for(AgentEvents.USER_CONFIRM)
        second.confirm(asked["step_id"])
        second.closed()
    mortal.wait_until_dead()
    mortal.start()
    with ConfirmClient(mortal.url) as again:
        again.reconnect(session, last_seq)
        told = again.until(AgentEvents.USER_CONFIRM, AgentEvents.FINAL_ANSWER)
        while told[-1]["event"] == AgentEvents.USER_CONFIRM:
            # Either the same confirmation once more, or whether to try again what the crash cut short.
            step = told[-1]
            is_doubt = step["metadata"]["kind"] != "approval"
            again.confirm(step["step_id"], metadata={"response": {"decision": "retry"}} if is_doubt else {})
            told += again.until(AgentEvents.USER_CONFIRM, AgentEvents.FINAL_ANSWER)
        assert told[-1]["content"] == "the end"
        asks = only(told, AgentEvents.USER_CONFIRM)
        assert ([one["step_id"] for one in asks] == [asked["step_id"]]) is (point == "answer.committing"), names(told)
    assert witness.count(fresh) == 1


def test_what_cannot_be_written_is_not_taken_and_can_be_sent_again(
    mortal: ServerProcess, witness: Witness, fresh: str
) -> None:
    with ConfirmClient(mortal.url) as person:
        asked = person.ask(script(calls(("guarded", {"name": fresh}))))
        pid = mortal.running.pid
        before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, before[1]))
        try:
            for send in (person.confirm, person.refuse):
                send(asked["step_id"])
                assert person.next()["metadata"]["error_type"] == ErrorTypes.UNAVAILABLE
        finally:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
        assert witness.count(fresh) == 0
        person.confirm(asked["step_id"])
        assert person.wait_for(AgentEvents.FINAL_ANSWER)["content"] == f"done {fresh}"
    assert witness.count(fresh) == 1


def test_who_sends_too_much_is_told_to_slow_down_and_stays_connected(
    tmp_path_factory: pytest.TempPathFactory, witness: Witness
) -> None:
    environment = {**witness.environment, "INTERLOCK_RATE_LIMIT": "0.01", "INTERLOCK_RATE_BURST": "5"}
    folder = tmp_path_factory.mktemp("slow")
    process = ServerProcess(folder, agents=[puppet.SPEC], auth="none", environment=environment)
    try:
        with ConfirmClient(process.start().url) as person:
            person.create()
            for _ in range(20):
                person.send_raw("{")
            told = [person.next()["metadata"] for _ in range(20)]
            assert {one["error_type"] for one in told} == {ErrorTypes.INVALID_MESSAGE, ErrorTypes.RATE_LIMITED}
            assert told[-1]["retry_after"] >= 1
    finally:
        process.close()
