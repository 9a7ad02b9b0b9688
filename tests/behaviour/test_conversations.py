"""Whole conversations, at every face and on every database."""

import uuid

from tests.behaviour.conftest import Persons
from tests.behaviour.driver import Person
from tests.support.people import People
from tests.support.puppet import calls, fails, says, script
from tests.support.wire import at_once, post
from tests.support.witness import Witness


def test_what_was_said_is_kept_in_order(person: Person, conversation: str) -> None:
    first, second = script(calls(("note", {"name": "n"}), say=["let me see"])), script(says("你好 🦊"))
    person.say(conversation, first)
    person.say(conversation, second)
    assert person.history(conversation) == [
        ("user", first),
        ("assistant", "let me see"),
        ("tool", "noted n"),
        ("assistant", "noted n"),
        ("user", second),
        ("assistant", "你好 🦊"),
    ]


def test_a_run_that_fails_says_so_and_the_conversation_goes_on(person: Person, conversation: str) -> None:
    failed = person.say(conversation, script(fails("no luck")))
    assert failed.state == "failed"
    assert "no luck" in failed.text
    assert person.say(conversation, script(says("better"))).text == "better"


def test_a_tool_that_fails_is_told_to_the_agent(person: Person, conversation: str) -> None:
    assert person.say(conversation, script(calls(("broken", {"name": "b"})))).text == "broken b"


def test_many_conversations_at_once_do_not_mix(persons: Persons, witness: Witness, fresh: str) -> None:
    owner = persons("alice")
    talkers = [owner.once_more() for _ in range(16)]

    def talk(index: int) -> str:
        person, name = talkers[index], f"{fresh}-{index}"
        conversation = person.begin()
        asked = person.say(conversation, script(calls(("guarded", {"name": name})))).asked[0]
        return (
            person.refuse(conversation, f"reason {index}") if index % 4 == 0 else person.approve(conversation, asked)
        ).text

    texts = at_once(16, talk)
    for index, text in enumerate(texts):
        assert (f"reason {index}" if index % 4 == 0 else f"done {fresh}-{index}") in text
        assert witness.count(f"{fresh}-{index}") == int(index % 4 != 0)


def test_of_several_messages_at_once_one_is_taken(person: Person, conversation: str, witness: Witness) -> None:
    senders = [person.once_more() for _ in range(6)]
    name = f"only-{uuid.uuid4()}"
    message = script(calls(("guarded", {"name": name})))
    states = [outcome.state for outcome in at_once(6, lambda index: senders[index].say(conversation, message))]
    assert sorted(states) == ["conflict"] * 5 + ["paused"]
    assert person.approve(conversation).state == "done"
    assert witness.count(name) == 1


def test_of_several_first_messages_to_an_unused_id_one_makes_the_thread(people: People) -> None:
    alice = people.named("alice")
    chosen = f"alice-{uuid.uuid4()}"
    clients = [people.again("alice") for _ in range(6)]
    body = {"message": script(calls(("guarded", {"name": "first"})))}
    replies = at_once(6, lambda index: post(clients[index], f"/api/chat/{chosen}", body))
    assert sorted(reply.status for reply in replies) == [200] + [409] * 5
    assert {reply.body["status"] for reply in replies if reply.status == 409} <= {"running", "interrupted"}
    assert len(alice.history(chosen)) == 1
