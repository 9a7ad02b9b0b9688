"""Sessions, through the client: invoke and wait, resume, look, delete."""

import pytest

from interlock_client import AlreadySettled, InvalidInput, InvalidResponse, NotFound, ThreadBusy
from tests.client.asking import Person
from tests.support.puppet import calls, says, script
from tests.support.witness import Witness


async def test_a_session_from_the_first_query_to_its_end(alice: Person, witness: Witness) -> None:
    asked = await alice.invoke("alice", script(calls(("guarded", {"name": "client-session"}))))
    assert asked.status == "interrupted"
    assert asked.interrupt_data is not None
    assert asked.interrupt_data.action_request.args == {"name": "client-session"}
    assert (await alice.session("alice")).last_response == asked
    assert "alice" in (await alice.system_info()).active_users
    with pytest.raises(ThreadBusy):
        await alice.invoke("alice", script(says("hi")))
    with pytest.raises(InvalidResponse) as wrong:
        await alice.resume_session("alice", asked.session_id, "edit", {"nmae": "x"})
    assert [error.field for error in wrong.value.errors] == ["args.name", "args.nmae"]
    with pytest.raises(InvalidInput):
        await alice.resume_session("alice", "another", "accept")
    done = await alice.resume_session("alice", asked.session_id, "accept")
    assert done.result is not None
    assert done.result.output == "done client-session"
    assert [message.type for message in done.result.messages] == ["system", "human", "ai", "tool", "ai"]
    named = {"request_id": asked.interrupt_data.request_id}
    with pytest.raises(AlreadySettled) as late:
        await alice.resume_session("alice", asked.session_id, "reject", named)
    assert late.value.answered_by == "alice"
    await alice.delete_session("alice")
    with pytest.raises(NotFound):
        await alice.delete_session("alice")
    assert (await alice.session("alice")).status == "not_found"
    assert witness.count("client-session") == 1


async def test_a_session_without_a_system_message(alice: Person) -> None:
    done = await alice.invoke("alice", script(says("hi")), system_message=None)
    assert done.result is not None
    assert [message.type for message in done.result.messages] == ["human", "ai"]
    await alice.delete_session("alice")
