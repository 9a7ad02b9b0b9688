"""People on this face, and a server without accounts, as its clients of old know it."""

from collections.abc import Generator

import pytest

from tests.support import puppet
from tests.support.confirm import ConfirmClient, of
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness


@pytest.fixture
def person(alice: ThreadsClient) -> Generator[ConfirmClient]:
    """Alice, connected."""
    with of(alice) as client:
        yield client


@pytest.fixture
def stranger(bob: ThreadsClient) -> Generator[ConfirmClient]:
    with of(bob) as client:
        yield client


@pytest.fixture
def fresh(request: pytest.FixtureRequest) -> str:
    """A name that no other test counts by."""
    return request.node.name.replace(" ", "_")


@pytest.fixture(scope="package")
def trusting(tmp_path_factory: pytest.TempPathFactory, witness: Witness) -> Generator[ServerProcess]:
    process = ServerProcess(
        tmp_path_factory.mktemp("trusting"), agents=[puppet.SPEC], auth="none", environment=witness.environment
    )
    try:
        yield process.start()
    finally:
        process.close()
