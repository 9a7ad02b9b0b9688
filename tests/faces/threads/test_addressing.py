"""A reply that names its request settles that one alone, and nothing beside it."""

import pytest

from tests.faces.threads.asking import clarification
from tests.support.puppet import calls, script
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P8")


def test_an_answer_reaches_the_request_it_names_and_not_the_first_one(alice: ThreadsClient, thread: str) -> None:
    asked = alice.chat(thread, script(calls(clarification("a"), clarification("b")))).first("interrupt")
    first, second = (request["request_id"] for request in asked["requests"])
    left = alice.resume(thread, "answer", answers=["for the second"], request_id=second)
    assert [request["request_id"] for request in left.first("interrupt")["requests"]] == [first]
    done = alice.resume(thread, "answer", answers=["for the first"], request_id=first)
    assert done.text.index("for the first") < done.text.index("for the second")


def test_continue_and_cancel_by_name_leave_the_siblings_open(
    alice: ThreadsClient, thread: str, witness: Witness
) -> None:
    guarded = [("guarded", {"name": f"addressed-{number}"}) for number in (1, 2)]
    asked = alice.chat(thread, script(calls(*guarded))).first("interrupt")
    first, second = (request["request_id"] for request in asked["requests"])
    left = alice.resume(thread, "cancel", request_id=first)
    assert [request["request_id"] for request in left.first("interrupt")["requests"]] == [second]
    assert alice.resume(thread, "continue", request_id=second).frames[-1].data["action"] == "continue"
    assert [witness.count(f"addressed-{number}") for number in (1, 2)] == [0, 1]


def test_a_reply_to_a_settled_request_is_told_who_settled_that_one_and_changes_nothing(
    alice: ThreadsClient, thread: str, witness: Witness
) -> None:
    guarded = [("guarded", {"name": f"settled-{number}"}) for number in (1, 2)]
    asked = alice.chat(thread, script(calls(*guarded))).first("interrupt")
    first, second = (request["request_id"] for request in asked["requests"])
    alice.resume(thread, "continue", request_id=first)
    for action in ("cancel", "continue"):
        late = alice.resume(thread, action, request_id=first)
        assert (late.status, late.body["request_id"], late.body["answer"]) == (409, first, {"decision": "accept"})
    alice.resume(thread, "cancel", request_id=second)
    late = alice.resume(thread, "continue", request_id=first)
    assert (late.status, late.body["request_id"], late.body["answer"]) == (409, first, {"decision": "accept"})
    assert [witness.count(f"settled-{number}") for number in (1, 2)] == [1, 0]
