"""`kill -9` right after a JSON answer was taken: the graph gets that JSON, of its own type, from the next life."""

from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest

from tests.durability.lives import LEASE_SECONDS
from tests.support import puppet
from tests.support.hitl import finished
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

VALUE = {"question": "Approve this transfer?", "amount": 3}


@pytest.mark.parametrize(("answer", "got"), [(False, "False"), (None, "None"), ({"text": "no"}, "'no'")])
def test_the_answer_survives_a_crash_with_its_type(
    tmp_path: Path, database_url: str, witness: Witness, answer: object, got: str
) -> None:
    environment = {**witness.environment, "INTERLOCK_LEASE_SECONDS": LEASE_SECONDS}
    server = ServerProcess(tmp_path / "data", agents=[puppet.SPEC], database=database_url, environment=environment)
    with ExitStack() as stack:
        stack.callback(server.close)
        alice = ThreadsClient(server.start(failpoints="answer.committed=kill").url).sign_in()
        stack.callback(alice.http.close)
        thread_id = alice.new_thread()
        alice.chat(thread_id, script(calls(("transfer", {"name": "crash", "value": VALUE}))))
        with suppress(httpx.TransportError):
            alice.resume(thread_id, "answer", answers=[answer])
        server.wait_until_dead()
        again = alice.at(server.start(failpoints="").url)
        stack.callback(again.http.close)
        assert finished(again, thread_id) == f"the graph got {got}"
        assert witness.count("crash") == (1 if got == "'no'" else 0)
