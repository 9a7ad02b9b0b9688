"""A decorated function runs exactly what a person approved."""

from collections.abc import Generator
from enum import StrEnum
from typing import Annotated, Any, NewType

import pytest

from interlock_client import Interlock, InvalidResponse, NotAnswered, Refused, SyncInterlock, requires_approval
from tests.client.asking import Person, asking, within
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for
from tests.support.wire import beside


@pytest.fixture
def blocking(server: ServerProcess, key: str) -> Generator[SyncInterlock]:
    with SyncInterlock(server.url, key=key) as client:
        yield client


async def test_what_is_approved_runs_as_it_was_shown(agent: Interlock, alice: Person) -> None:
    done: list[Any] = []

    @requires_approval(client=agent, risk_level="high", description="Pays somebody")
    async def pay(to: str, amount: float = 1.5, *notes: str, **more: int) -> str:
        done.append((to, amount, notes, more))
        return f"paid {to}"

    async with asking(pay("ann", 2, "thanks", vat=3)) as paying:
        seen = await alice.answers(agent, granted=True)
        assert await within(paying) == "paid ann"
    assert done == [("ann", 2, ("thanks",), {"vat": 3})]
    assert seen.request_data["args"] == {"to": "ann", "amount": 2, "notes": ["thanks"], "more": {"vat": 3}}
    assert (seen.request_data["tool_name"], seen.request_data["risk_level"]) == ("pay", "high")
    assert seen.request_data["description"] == "Pays somebody"


async def test_what_is_edited_runs_as_it_was_edited(agent: Interlock, alice: Person) -> None:
    @requires_approval(client=agent)
    async def pay(to: str, amount: int, *notes: str, **more: int) -> Any:
        """Pay somebody.

        More of it.
        """
        return to, amount, notes, more

    async with asking(pay("ann", 2, "thanks", vat=3)) as paying:
        edited: dict[str, Any] = {"to": "ann", "amount": 1, "notes": ["a", "b"], "more": {}}
        seen = await alice.answers(agent, granted=True, args=edited)
        assert await within(paying) == ("ann", 1, ("a", "b"), {})
    assert seen.request_data["description"] == "Pay somebody."


@pytest.mark.parametrize(
    "edited",
    [
        {},
        {"to": "ann"},
        {"to": "ann", "names": ["x"], "hidden": 1},
        {"to": "ann", "names": "not a list"},
        {"to": "ann", "names": ["x", 7]},
        {"to": ["ann"], "names": ["x"]},
    ],
)
async def test_who_edits_a_call_into_one_that_does_not_fit_is_told_at_once_and_it_still_waits(
    agent: Interlock, alice: Person, edited: dict[str, Any]
) -> None:
    done: list[str] = []

    @requires_approval(client=agent)
    async def tell(to: str, *names: str) -> None:
        done.append(to)

    async with asking(tell("ann", "x")) as telling:
        [seen] = await alice.sees(agent)
        with pytest.raises(InvalidResponse) as refused:
            await alice.respond(seen.request_id, granted=True, args=edited)
        assert all(error.field.startswith("response.args.") for error in refused.value.errors)
        assert done == []
        await alice.respond(seen.request_id, granted=True, args={"to": "bob", "names": ["y"]})
        await within(telling)
    assert done == ["bob"]


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


Cents = NewType("Cents", int)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("to", [1]),
        ("to", [1, 2, 3]),
        ("to", [1, "2"]),
        ("amount", "5"),
        ("price", "5"),
        ("steps", [1, "2"]),
        ("colour", "purple"),
        ("colour", "blue"),
    ],
)
async def test_an_edit_is_held_against_what_the_annotations_say(
    agent: Interlock, alice: Person, name: str, value: Any
) -> None:
    @requires_approval(client=agent)
    async def paint(
        to: tuple[int, int],
        amount: Annotated[int, "of tins"],
        price: Cents,
        colour: Colour = Colour.RED,
        steps: tuple[int, ...] = (),
    ) -> Any:
        return to, amount, price, colour, steps

    async with asking(paint((1, 2), 3, Cents(4))) as painting:
        [seen] = await alice.sees(agent)
        shown = seen.request_data["args"]
        with pytest.raises(InvalidResponse):
            await alice.respond(seen.request_id, granted=True, args={**shown, name: value})
        await alice.respond(seen.request_id, granted=True, args={**shown, "to": [5, 6], "steps": [7]})
        painted = await within(painting)
    assert painted == ((5, 6), 3, 4, Colour.RED, (7,))
    assert isinstance(painted[3], Colour)


async def test_what_is_refused_does_not_run(agent: Interlock, alice: Person) -> None:
    done: list[str] = []

    @requires_approval(client=agent, name="wipe")
    async def delete(path: str) -> None:
        done.append(path)

    async with asking(delete("a")) as deleting:
        await alice.answers(agent, granted=False, reason="keep it")
        with pytest.raises(Refused) as refused:
            await within(deleting)
    assert (refused.value.reason, refused.value.tool_name, done) == ("keep it", "wipe", [])


async def test_what_nobody_decides_does_not_run(agent: Interlock) -> None:
    done: list[str] = []

    @requires_approval(client=agent, timeout=0.2)
    async def delete(path: str) -> None:
        done.append(path)

    with pytest.raises(NotAnswered):
        await within(delete("a"))
    assert done == []


async def test_what_changes_meanwhile_changes_nothing(agent: Interlock, alice: Person) -> None:
    @requires_approval(client=agent)
    async def delete(paths: list[str]) -> list[str]:
        return paths

    paths = ["a"]
    async with asking(delete(paths)) as deleting:
        [seen] = await alice.sees(agent)
        paths.append("everything")
        await alice.respond(seen.request_id, granted=True)
        assert await within(deleting) == ["a"]


async def test_an_object_of_the_program_is_shown_and_passed_on(agent: Interlock, alice: Person) -> None:
    class Account:
        def __repr__(self) -> str:
            return "Account(7)"

        @requires_approval(client=agent)
        async def close(self, reason: str) -> "Account":
            return self

    account = Account()
    async with asking(account.close("old")) as closing:
        seen = await alice.answers(agent, granted=True, args={"self": "Account(7)", "reason": "new"})
        assert await within(closing) is account
    assert seen.request_data["args"] == {"self": "Account(7)", "reason": "old"}
    async with asking(account.close("old")) as closing:
        [seen] = await alice.sees(agent)
        with pytest.raises(InvalidResponse) as refused:
            await alice.respond(seen.request_id, granted=True, args={"self": "Account(8)", "reason": "old"})
        assert [(error.field, error.code) for error in refused.value.errors] == [("response.args.self", "fixed")]
        await alice.respond(seen.request_id, granted=True)
        assert await within(closing) is account


async def test_arguments_that_the_function_does_not_take_are_not_asked_about(agent: Interlock, alice: Person) -> None:
    @requires_approval(client=agent)
    async def delete(path: str) -> None: ...

    with pytest.raises(TypeError):
        await delete("a", "b")  # pyright: ignore[reportCallIssue]
    assert agent.conversation_id is None


def test_a_plain_function_waits_too(server: ServerProcess, blocking: SyncInterlock, token: str) -> None:
    @requires_approval(client=blocking)
    def double(number: int) -> int:
        return 2 * number

    def answer() -> None:
        with SyncInterlock(server.url, token=token) as person:
            look = wait_for(lambda: blocking.conversation_id, bool)
            [asked] = wait_for(lambda: list(person.pending(look)), bool)
            person.respond(asked.request_id, granted=True, args={"number": 5})

    with beside(answer):
        assert double(2) == 10
    assert double.__name__ == "double"


def test_function_and_client_have_to_fit(agent: Interlock, blocking: SyncInterlock) -> None:
    with pytest.raises(TypeError):

        @requires_approval(client=agent)
        def plain() -> None: ...

    with pytest.raises(TypeError):

        @requires_approval(client=blocking)
        async def later() -> None: ...
