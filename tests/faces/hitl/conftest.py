"""People on this face, and a fresh owner for tests of what is remembered for one."""

from collections.abc import Generator, Iterator
from itertools import count

import pytest

from tests.support.hitl import HitlClient, of
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

_numbers = count(1)


@pytest.fixture
def person(alice: ThreadsClient) -> Iterator[HitlClient]:
    """Alice."""
    with of(alice) as client:
        yield client


@pytest.fixture
def other(bob: ThreadsClient) -> Iterator[HitlClient]:
    with of(bob) as client:
        yield client


@pytest.fixture
def admin(root: ThreadsClient) -> Iterator[HitlClient]:
    with of(root) as client:
        yield client


@pytest.fixture
def agent(server: ServerProcess, person: HitlClient) -> Iterator[HitlClient]:
    """An agent that runs elsewhere, with a key of Alice's and a name of its own."""
    made = person.new_key(f"worker-{next(_numbers)}", "agent")
    with HitlClient(server.url, made["key"]) as client:
        yield client


@pytest.fixture
def owner(people: People) -> ThreadsClient:
    """Somebody for whom nothing is remembered yet."""
    return people.named(f"owner-{next(_numbers)}")


@pytest.fixture
def theirs(owner: ThreadsClient) -> Generator[HitlClient]:
    """The same, on this face."""
    with of(owner) as client:
        yield client
