"""Confirmations that nobody gives in time."""

from collections.abc import Generator

import pytest

from interlock_client.confirm import AgentEvents, ErrorTypes, SystemEvents
from tests.support import puppet
from tests.support.confirm import ConfirmClient, names, only
from tests.support.puppet import calls, says, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

SECONDS = 1


@pytest.fixture(scope="module")
def hurried(tmp_path_factory: pytest.TempPathFactory, witness: Witness) -> Generator[ServerProcess]:
    """A server on which a confirmation waits for a second."""
    environment = {**witness.environment, "INTERLOCK_CONFIRMATION_TIMEOUT": str(SECONDS)}
    folder = tmp_path_factory.mktemp("hurried")
    process = ServerProcess(folder, agents=[puppet.SPEC], auth="none", environment=environment)
    try:
        yield process.start()
    finally:
        process.close()


def test_a_confirmation_that_nobody_gives_times_out_and_is_never_a_yes(
    hurried: ServerProcess, witness: Witness, fresh: str
) -> None:
    with ConfirmClient(hurried.url) as person:
        asked = person.ask(script(calls(("guarded", {"name": fresh})), says("without it")))
        assert asked["metadata"]["timeout_seconds"] == SECONDS
        told = person.until(AgentEvents.FINAL_ANSWER)
        assert names(told)[:3] == ["agent.timeout", "agent.error", "agent.tool_result"]
        timeout, error, result = told[:3]
        about = {"step_id": asked["step_id"], "timeout_seconds": SECONDS}
        assert timeout["metadata"] == about
        assert (error["content"], error["metadata"]) == (
            "User confirmation timeout",
            {"error_type": ErrorTypes.CONFIRMATION_TIMEOUT, **about},
        )
        assert (result["metadata"]["status"], result["step_id"]) == ("failed", asked["step_id"])
        assert told[-1]["content"] == "without it"
        person.confirm(asked["step_id"])
        late = person.wait_for(SystemEvents.ERROR)["metadata"]
        assert (late["error_type"], late["status"]) == (ErrorTypes.INVALID_STEP_ID, "expired")
    assert witness.count(fresh) == 0


def test_who_was_not_there_is_told_of_the_timeout_later(hurried: ServerProcess, fresh: str) -> None:
    with ConfirmClient(hurried.url) as first:
        asked = first.ask(script(calls(("guarded", {"name": fresh}))))
        session, last_seq = str(first.session_id), first.last_seq
    person = ThreadsClient(hurried.url)
    person.wait_for(lambda: person.history(session), lambda messages: messages[-1]["role"] == "assistant")
    person.http.close()
    with ConfirmClient(hurried.url) as again:
        again.reconnect(session, last_seq)
        told = again.until(AgentEvents.FINAL_ANSWER)
        (timeout,) = only(told, AgentEvents.TIMEOUT)
        assert timeout["metadata"] == {"step_id": asked["step_id"], "timeout_seconds": SECONDS}


def test_each_of_several_has_its_own_time_and_none_runs(hurried: ServerProcess, witness: Witness, fresh: str) -> None:
    wanted = [("guarded", {"name": f"{fresh}-{number}"}) for number in range(3)]
    with ConfirmClient(hurried.url) as person:
        person.create(batch_size=3)
        person.say(script(calls(*wanted)))
        told = person.until(AgentEvents.FINAL_ANSWER)
        asked = [one["step_id"] for one in only(told, AgentEvents.USER_CONFIRM)]
        assert sorted(one["step_id"] for one in only(told, AgentEvents.TIMEOUT)) == sorted(asked)
        assert len(asked) == 3
    assert witness.names(fresh) == []


def test_an_approval_of_another_face_waits_for_as_long_as_it_takes(hurried: ServerProcess, fresh: str) -> None:
    person = ThreadsClient(hurried.url)
    asked = person.chat(person.new_thread(), script(calls(("guarded", {"name": fresh})))).first("interrupt")
    assert asked["requests"][0]["expires_at"] is None
    person.http.close()


def test_what_an_agent_asks_has_the_time_that_it_names(hurried: ServerProcess, fresh: str) -> None:
    with ConfirmClient(hurried.url) as person:
        person.say(script(calls(("hurried", {"seconds": 0.5, "default": "no"}))))
        told = person.until(AgentEvents.FINAL_ANSWER)
        (timeout,) = only(told, AgentEvents.TIMEOUT)
        assert timeout["metadata"]["timeout_seconds"] == 0.5
        assert told[-1]["content"] == "no"
