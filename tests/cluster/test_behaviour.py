"""The cases of every face, with agents that run in Ray's workers: what one process promises, a cluster keeps."""

from collections.abc import Generator
from types import ModuleType

import pytest

from tests.behaviour import conftest, test_approvals, test_conversations, test_questions
from tests.behaviour.conftest import Persons
from tests.behaviour.driver import FACES
from tests.cluster.looking import wait_for_workers
from tests.support.people import People
from tests.support.server import ServerProcess

CASES: tuple[ModuleType, ...] = (test_approvals, test_conversations, test_questions)


@pytest.fixture(scope="module")
def environment(environment: dict[str, str]) -> dict[str, str]:
    """With leases as long as they are by default: a worker that has to wait for a core for some seconds is no fault."""
    return {name: value for name, value in environment.items() if name != "INTERLOCK_LEASE_SECONDS"}


@pytest.fixture(scope="module")
def people(node: ServerProcess) -> Generator[People]:
    wait_for_workers(node)
    with People(node.url) as registered:
        yield registered


@pytest.fixture(params=["threads", "hitl"])
def persons(request: pytest.FixtureRequest, people: People) -> Persons:
    return lambda name: FACES[request.param](people, name)


person, conversation, fresh = conftest.person, conftest.conversation, conftest.fresh

for module in CASES:
    globals().update({name: case for name, case in vars(module).items() if name.startswith("test_")})
