"""Any program can ask a person, and waits for the answer."""

import asyncio

import pytest

from interlock_client import Approval, Decision, Interlock, InvalidResponse, NotAnswered
from tests.client.asking import Person, asking, within


async def test_a_clarification_gives_the_answer(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_clarification("Which colour?", ["red", "blue"])) as asked:
        seen = await alice.answers(agent, answer="green")
        assert await within(asked) == "green"
    assert (seen.type, seen.request_data["question"]) == ("clarification", "Which colour?")
    assert seen.request_data["options"] == ["red", "blue"]


async def test_a_clarification_may_only_take_its_options(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_clarification("Which?", ["red", "blue"], allow_custom=False)) as asked:
        with pytest.raises(InvalidResponse) as refused:
            await alice.answers(agent, answer="green")
        assert [error.field for error in refused.value.errors] == ["response.answer"]
        await alice.answers(agent, selected_option="blue")
        assert await within(asked) == "blue"


async def test_a_decision_gives_its_key_and_the_reason(agent: Interlock, alice: Person) -> None:
    options = [{"key": "y", "label": "Yes", "style": "danger"}, "n"]
    async with asking(agent.ask_decision("Drop it?", options, risks=["It is gone then"])) as asked:
        seen = await alice.answers(agent, decision="y", reason="it is old")
        given = await within(asked)
    assert given == Decision("y", "it is old")
    with pytest.raises(TypeError, match=r"\.decision"):
        bool(given)
    assert (seen.type, seen.request_data["risks"]) == ("decision", ["It is gone then"])


async def test_variables_come_to_who_asked_and_are_shown_to_nobody(agent: Interlock, alice: Person) -> None:
    fields = ["TOKEN", {"name": "REGION", "required": False, "sensitive": False}]
    async with asking(agent.ask_env_vars(fields)) as asked:
        seen = await alice.answers(agent, values={"TOKEN": "s3cret-value", "REGION": "north"})
        assert await within(asked) == {"TOKEN": "s3cret-value", "REGION": "north"}
    assert "s3cret-value" not in (await alice.request(seen.request_id)).model_dump_json()


async def test_several_questions_give_an_answer_each(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_questions(["Who?", {"question": "When?", "options": ["now", "later"]}])) as asked:
        await alice.answers(agent, answers=["me", "later"])
        assert await within(asked) == ["me", "later"]


@pytest.mark.parametrize(
    ("response", "approval"),
    [
        ({"granted": True}, Approval("accept", {"path": "a"})),
        ({"granted": True, "args": {"path": "b"}}, Approval("edit", {"path": "b"})),
        ({"granted": False, "reason": "not that one"}, Approval("reject", {"path": "a"}, "not that one")),
        ({"granted": False}, Approval("reject", {"path": "a"})),
        ({"granted": False, "reply": "it is gone already"}, Approval("response", {"path": "a"}, "it is gone already")),
    ],
)
async def test_an_approval_says_what_was_decided(
    agent: Interlock, alice: Person, response: dict[str, object], approval: Approval
) -> None:
    async with asking(agent.ask_approval("delete_file", {"path": "a"}, "Deletes a file", "high")) as asked:
        seen = await alice.answers(agent, **response)
        given = await within(asked)
    assert given == approval
    assert given.granted is (approval.decision in ("accept", "edit"))
    assert bool(given) is given.granted
    assert (seen.request_data["risk_level"], seen.request_data["description"]) == ("high", "Deletes a file")


async def test_any_kind_may_be_asked_in_its_own_words(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask("clarification", {"question": "Well?"}, timeout=None)) as asked:
        await alice.answers(agent, answer="fine")
        settled = await within(asked)
    assert (settled.response, settled.answered_by, settled.source) == ({"answer": "fine"}, "alice", "hitl")


async def test_what_nobody_answers_expires(agent: Interlock) -> None:
    with pytest.raises(NotAnswered) as expired:
        await within(agent.ask_clarification("Anybody?", timeout=0.2))
    assert (expired.value.reason, expired.value.code) == ("expired", "not_answered")


async def test_a_default_stands_for_an_answer_that_nobody_gave(agent: Interlock) -> None:
    assert await within(agent.ask_clarification("Anybody?", default="nobody", timeout=0.2)) == "nobody"


async def test_what_is_cancelled_is_not_answered(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_approval("delete_file", {})) as asked:
        [seen] = await alice.sees(agent)
        await alice.cancel(seen.request_id, "no time")
        with pytest.raises(NotAnswered) as cancelled:
            await within(asked)
    assert (cancelled.value.reason, cancelled.value.request_id) == ("cancelled", seen.request_id)


async def test_what_is_asked_in_a_conversation_that_is_deleted_is_not_answered(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_clarification("Still there?")) as asked:
        [seen] = await alice.sees(agent)
        await alice.delete_thread(seen.conversation_id)
        with pytest.raises(NotAnswered):
            await within(asked)


async def test_who_stops_waiting_withdraws_the_request(agent: Interlock, alice: Person) -> None:
    async with asking(agent.ask_clarification("Never mind?")) as asked:
        [seen] = await alice.sees(agent)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await within(asked)
    assert (await alice.request(seen.request_id)).status == "cancelled"


async def test_a_limit_of_the_callers_own_withdraws_it_too(agent: Interlock, alice: Person) -> None:
    async def patient(limit: asyncio.Timeout) -> str:
        async with limit:
            return await agent.ask_clarification("Quick?")

    async with asking(patient(limit := asyncio.timeout(None))) as asked:
        [seen] = await alice.sees(agent)
        limit.reschedule(asyncio.get_running_loop().time())
        with pytest.raises(TimeoutError):
            await within(asked)
    assert (await alice.request(seen.request_id)).status == "cancelled"


async def test_an_ask_that_makes_no_sense_names_every_wrong_field(agent: Interlock) -> None:
    with pytest.raises(InvalidResponse) as refused:
        await agent.ask_decision("", [])
    assert [error.field for error in refused.value.errors] == ["title", "options"]


async def test_all_asks_of_a_client_are_one_conversation(agent: Interlock, alice: Person) -> None:
    async def ask_all() -> list[str]:
        return await asyncio.gather(*(agent.ask_clarification(f"what is {number}?") for number in range(10)))

    async with asking(ask_all()) as asked:
        seen = await alice.sees(agent, 10)
        for one in seen:
            await alice.respond(one.request_id, answer=one.request_data["question"].upper())
        assert await within(asked) == [f"WHAT IS {number}?" for number in range(10)]
    assert len({one.conversation_id for one in seen}) == 1
