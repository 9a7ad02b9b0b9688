"""Somebody for whom nothing waits yet."""

from itertools import count

import pytest

from tests.support.people import People
from tests.support.threads import ThreadsClient

_numbers = count(1)


@pytest.fixture
def owner(people: People) -> ThreadsClient:
    return people.named(f"reviewer-{next(_numbers)}")
