"""One core behind all faces: asked on one, seen and answered on another, once."""

from collections.abc import Callable, Generator
from typing import Any

import pytest

from tests.behaviour.driver import FACES, Asked, Person
from tests.behaviour.test_questions import ASK, CLARIFY, DECIDE, KEY
from tests.support import hitl
from tests.support.hitl import HitlClient
from tests.support.people import People
from tests.support.puppet import Call, calls, script
from tests.support.wire import at_once, following, until
from tests.support.witness import Witness

ROUNDS = 12
PAIRS = [("threads", "hitl"), ("hitl", "threads")]
QUESTIONS: dict[str, tuple[Call, tuple[str, ...], str]] = {
    "clarification": (CLARIFY, ("b",), "b"),
    "decision": (DECIDE, ("go",), '"decision": "go"'),
    "env_var": (KEY, ("t0ken", "eu"), "TOKEN"),
    "questions": (ASK, ("later", "because"), "because"),
}
OUTSIDE: dict[str, tuple[str, dict[str, Any], tuple[str, ...], dict[str, Any]]] = {
    "clarification": ("clarification", CLARIFY[1], ("a",), {"answer": "a"}),
    "decision": ("decision", DECIDE[1], ("go",), {"decision": "go"}),
    "env_var": ("env_var", KEY[1], ("t0ken", "eu"), {"values": {"TOKEN": "***", "REGION": "***"}, "save": False}),
    "questions": ("clarification", ASK[1], ("now", "x"), {"answers": ["now", "x"]}),
}
"""Of each kind: its type and data, the texts of an answer, and how the hitl face shows it."""

PersonAt = Callable[..., Person]


@pytest.fixture
def person_at(people: People) -> PersonAt:
    def at(face: str, name: str = "alice") -> Person:
        return FACES[face](people, name).once_more()

    return at


@pytest.fixture
def outside(people: People) -> Generator[HitlClient]:
    """Alice, as the agent that asks from elsewhere."""
    with hitl.of(people.named("alice")) as client:
        yield client


def only(person: Person, conversation: str) -> Asked:
    pending = person.pending(conversation)
    assert pending is not None
    (asked,) = pending
    return asked


@pytest.mark.parametrize(("here", "there"), PAIRS)
@pytest.mark.parametrize("kind", QUESTIONS)
def test_a_question_asked_here_is_answered_there(person_at: PersonAt, here: str, there: str, kind: str) -> None:
    call, texts, told = QUESTIONS[kind]
    first, second = person_at(here), person_at(there)
    conversation = first.begin()
    (asked,) = first.say(conversation, script(calls(call))).asked
    seen = only(second, conversation)
    assert (seen.id, seen.kind) == (asked.id, asked.kind) == (asked.id, kind)
    done = second.answer(conversation, *texts, asked=seen)
    assert done.state == "done"
    assert told in done.text
    assert first.pending(conversation) == ()
    late = first.answer(conversation, *texts, asked=asked)
    assert late.state == "conflict"
    assert late.told["answered_by"] == "alice"


@pytest.mark.parametrize(("here", "there"), PAIRS)
@pytest.mark.parametrize("approved", [True, False])
def test_an_approval_asked_here_is_given_there(
    person_at: PersonAt, witness: Witness, fresh: str, here: str, there: str, approved: bool
) -> None:
    first, second = person_at(here), person_at(there)
    conversation = first.begin()
    (asked,) = first.say(conversation, script(calls(("guarded", {"name": fresh})))).asked
    seen = only(second, conversation)
    assert (seen.id, seen.data["args"]) == (asked.id, {"name": fresh})
    act = second.approve if approved else second.refuse
    assert act(conversation, asked=seen).state == "done"
    assert witness.count(fresh) == int(approved)
    late = first.approve(conversation, asked)
    assert (late.state, late.told["answered_by"]) == ("conflict", "alice")
    assert late.told["answer"]["decision"] == ("accept" if approved else "reject")
    assert witness.count(fresh) == int(approved)


@pytest.mark.parametrize("kind", OUTSIDE)
def test_what_an_agent_elsewhere_asks_is_answered_on_threads(
    person_at: PersonAt, outside: HitlClient, kind: str
) -> None:
    request_type, data, texts, shown = OUTSIDE[kind]
    asked = outside.ask(request_type, data)
    person = person_at("threads")
    seen = only(person, asked["conversation_id"])
    assert (seen.id, seen.kind) == (asked["request_id"], kind)
    assert person.answer(asked["conversation_id"], *texts, asked=seen).state == "done"
    settled = outside.look(asked["request_id"], wait=30)
    assert (settled["status"], settled["source"], settled["answered_by"]) == ("answered", "threads", "alice")
    assert settled["response"] == shown


@pytest.mark.parametrize("approved", [True, False])
def test_what_an_agent_elsewhere_may_do_is_said_on_threads(
    person_at: PersonAt, outside: HitlClient, approved: bool
) -> None:
    asked = outside.ask("permission", {"tool_name": "rm", "args": {"path": "/"}})
    person, conversation = person_at("threads"), asked["conversation_id"]
    seen = only(person, conversation)
    assert seen.data["args"] == {"path": "/"}
    outcome = person.approve(conversation, seen) if approved else person.refuse(conversation, "never", seen)
    assert outcome.state == "done"
    response = outside.look(asked["request_id"])["response"]
    assert response == ({"granted": True} if approved else {"granted": False, "reason": "never"})


def test_of_answers_from_two_faces_at_once_one_wins_and_the_other_is_told(
    person_at: PersonAt, witness: Witness, fresh: str
) -> None:
    persons = [person_at("threads"), person_at("hitl", "root")]
    winners: list[str] = []
    for number in range(ROUNDS):
        name = f"{fresh}-{number}"
        conversation = persons[0].begin()
        (asked,) = persons[0].say(conversation, script(calls(("guarded", {"name": name})))).asked
        acts = [persons[0].approve, persons[1].refuse]
        outcomes = at_once(2, lambda index, acts=acts, at=conversation, one=asked: acts[index](at, asked=one))
        won = [outcome.state == "done" for outcome in outcomes]
        assert sorted(won) == [False, True], outcomes
        loser = outcomes[won.index(False)]
        assert loser.state == "conflict"
        winner = persons[won.index(True)].name
        assert (loser.told["answered_by"], loser.told["source"]) == (winner, "threads" if won[0] else "hitl")
        assert loser.told["answered_at"]
        assert loser.told["answer"]["decision"] == ("accept" if won[0] else "reject")
        assert witness.count(name) == int(won[0])
        winners.append(winner)
    assert len(winners) == ROUNDS


@pytest.mark.parametrize(("here", "there"), PAIRS)
def test_what_is_cancelled_here_is_not_answered_there(person_at: PersonAt, here: str, there: str) -> None:
    first, second = person_at(here), person_at(there)
    conversation = first.begin()
    first.say(conversation, script(calls(CLARIFY)))
    seen = only(second, conversation)
    cancelled = first.refuse(conversation)
    assert cancelled.state == "done"
    assert cancelled.text.startswith("Not answered")
    late = second.answer(conversation, "a", asked=seen)
    assert (late.state, late.told["answer"]) == ("conflict", None)


def test_a_stream_on_threads_shows_what_an_answer_on_hitl_leads_to(
    person_at: PersonAt, people: People, witness: Witness, fresh: str
) -> None:
    alice, person = people.named("alice"), person_at("hitl")
    conversation = person.begin()
    (asked,) = person.say(conversation, script(calls(("guarded", {"name": fresh})))).asked
    with following(alice, conversation) as frames, hitl.of(alice) as client:
        client.respond(asked.id, {"granted": True})
        shown = until(frames, "end")
    assert [frame.event for frame in shown] == ["tool/start", "tool/end", "messages/partial", "end"]
    assert shown[1].data["output"] == shown[2].data["content"] == f"done {fresh}"
    assert witness.count(fresh) == 1


def test_a_stream_on_hitl_shows_what_is_asked_and_answered_on_threads(
    person_at: PersonAt, people: People, fresh: str
) -> None:
    person = person_at("threads")
    conversation = person.begin()
    with hitl.of(people.named("alice")) as client, client.events(conversation) as frames:
        (asked,) = person.say(conversation, script(calls(("guarded", {"name": fresh})))).asked
        person.approve(conversation, asked)
        shown = [next(frames), next(frames)]
    assert [(frame.event, frame.data["request_id"]) for frame in shown] == [
        ("permission_asked", asked.id),
        ("permission_replied", asked.id),
    ]
    assert shown[1].data["data"].items() >= {"response": {"granted": True}, "source": "threads"}.items()
