"""Several confirmations of one pause: how many are asked for at once, and in which order."""

from collections.abc import Generator

import pytest

from interlock_client.confirm import AgentEvents, SystemEvents
from tests.support import puppet
from tests.support.confirm import ConfirmClient, Told, names, of, only
from tests.support.puppet import calls, says, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness


def wanting(fresh: str, count: int = 3) -> str:
    return script(calls(*(("guarded", {"name": f"{fresh}-{number}"}) for number in range(count))))


def about(asked: Told) -> str:
    return asked["metadata"]["tool_args"]["name"]


def is_silent(person: ConfirmClient) -> bool:
    """Whether nothing came before the answer to a message that is sent now."""
    person.say(" ")
    return person.next()["metadata"].get("error_type") == "empty_message"


def test_they_are_asked_for_one_by_one(person: ConfirmClient, witness: Witness, fresh: str) -> None:
    asked = person.ask(wanting(fresh))
    seq = asked["seq"]
    for number in range(3):
        among = f"_{number}" if number else ""
        assert (about(asked), asked["step_id"]) == (f"{fresh}-{number}", f"step_{seq}{among}_confirm_guarded")
        assert is_silent(person)
        person.confirm(asked["step_id"])
        asked = person.wait_for(AgentEvents.USER_CONFIRM, AgentEvents.FINAL_ANSWER)
    assert asked["event"] == AgentEvents.FINAL_ANSWER
    assert [witness.count(f"{fresh}-{number}") for number in range(3)] == [1, 1, 1]


def test_refusing_one_says_nothing_about_the_next(person: ConfirmClient, witness: Witness, fresh: str) -> None:
    asked = person.ask(wanting(fresh))
    person.refuse(asked["step_id"], "not this one")
    told = person.until(AgentEvents.USER_CONFIRM)
    assert names(told) == ["agent.tool_result", "agent.user_confirm"]
    person.confirm(told[-1]["step_id"])
    person.confirm(person.wait_for(AgentEvents.USER_CONFIRM)["step_id"])
    person.wait_for(AgentEvents.FINAL_ANSWER)
    assert [witness.count(f"{fresh}-{number}") for number in range(3)] == [0, 1, 1]


@pytest.mark.parametrize("size", [3, "3", 100])
def test_a_client_may_be_asked_for_several_at_once(
    person: ConfirmClient, witness: Witness, fresh: str, size: int | str
) -> None:
    person.create(batch_size=size)
    asked = [person.ask(wanting(fresh)), *(person.wait_for(AgentEvents.USER_CONFIRM) for _ in range(2))]
    assert [about(one) for one in asked] == [f"{fresh}-{number}" for number in range(3)]
    for one in reversed(asked):
        person.confirm(one["step_id"])
    person.wait_for(AgentEvents.FINAL_ANSWER)
    assert [witness.count(f"{fresh}-{number}") for number in range(3)] == [1, 1, 1]


def test_with_two_at_once_the_next_is_asked_for_when_one_is_settled(person: ConfirmClient, fresh: str) -> None:
    person.create(batch_size=2)
    first, second = person.ask(wanting(fresh, 4)), person.wait_for(AgentEvents.USER_CONFIRM)
    assert is_silent(person)
    person.refuse(second["step_id"])
    third = person.wait_for(AgentEvents.USER_CONFIRM)
    assert (about(third), is_silent(person)) == (f"{fresh}-2", True)
    person.refuse(first["step_id"])
    assert about(person.wait_for(AgentEvents.USER_CONFIRM)) == f"{fresh}-3"


def test_what_was_not_asked_for_yet_may_be_answered_all_the_same(
    person: ConfirmClient, witness: Witness, fresh: str
) -> None:
    asked = person.ask(wanting(fresh))
    person.confirm(f"step_{asked['seq']}_2_confirm_guarded")
    person.confirm(asked["step_id"])
    last = person.wait_for(AgentEvents.USER_CONFIRM)
    assert about(last) == f"{fresh}-1"
    person.confirm(last["step_id"])
    person.wait_for(AgentEvents.FINAL_ANSWER)
    assert [witness.count(f"{fresh}-{number}") for number in range(3)] == [1, 1, 1]


def test_who_comes_back_is_asked_for_as_many_as_they_say(alice: ThreadsClient, fresh: str) -> None:
    with of(alice) as first:
        first.ask(wanting(fresh))
    session = str(first.session_id)
    with of(alice) as again:
        again.reconnect(session, batch_size=2)
        again.wait_for(AgentEvents.USER_CONFIRM)
        assert about(again.wait_for(AgentEvents.USER_CONFIRM)) == f"{fresh}-1"
        assert is_silent(again)


def test_steps_of_one_session_have_different_names_through_all_turns(person: ConfirmClient, fresh: str) -> None:
    steps: list[str] = []
    for turn in range(2):
        asked = person.ask(script(*[calls(("guarded", {"name": fresh}), ("guarded", {"name": fresh}))] * 2, says("x")))
        while asked["event"] == AgentEvents.USER_CONFIRM:
            steps.append(asked["step_id"])
            person.refuse(asked["step_id"])
            asked = person.wait_for(AgentEvents.USER_CONFIRM, AgentEvents.FINAL_ANSWER)
        assert len(steps) == 4 * (turn + 1)
    assert len(set(steps)) == len(steps)


@pytest.fixture
def generous(tmp_path_factory: pytest.TempPathFactory, witness: Witness) -> Generator[ServerProcess]:
    """A server whose operator set other numbers."""
    environment = {
        **witness.environment,
        "INTERLOCK_CONFIRMATION_BATCH_SIZE": "3",
        "INTERLOCK_CONFIRMATION_RETRY_LIMIT": "1",
    }
    folder = tmp_path_factory.mktemp("generous")
    process = ServerProcess(folder, agents=[puppet.SPEC], auth="none", environment=environment)
    try:
        yield process.start()
    finally:
        process.close()


def test_the_operator_sets_how_many_are_asked_for_and_how_many_tries_there_are(
    generous: ServerProcess, witness: Witness, fresh: str
) -> None:
    with ConfirmClient(generous.url) as person:
        first = person.ask(wanting(fresh))
        asked = [first, *(person.wait_for(AgentEvents.USER_CONFIRM) for _ in range(2))]
        person.respond(asked[0]["step_id"], {})
        assert person.wait_for(SystemEvents.ERROR)["metadata"]["attempts_left"] == 0
        assert person.wait_for(AgentEvents.TOOL_RESULT)["step_id"] == asked[0]["step_id"]
        for one in asked[1:]:
            person.confirm(one["step_id"])
        told = person.until(AgentEvents.FINAL_ANSWER)
        assert len(only(told, AgentEvents.TOOL_RESULT)) == 2
    assert [witness.count(f"{fresh}-{number}") for number in range(3)] == [0, 1, 1]
