"""What is logged while values are lent to code in this process, wherever it comes from."""

import logging
import secrets
import threading
from collections.abc import Generator

import pytest

from interlock.domain.redaction import Redaction
from interlock.runners.quiet_logs import silence_logs
from interlock.runners.secret_values import ProcessSecrets, process_secrets

VALUE = "sk-Zq81mVx0Lr7TbW2kDn5A"


@pytest.fixture
def borrowed() -> Generator[Redaction]:
    silence_logs()
    values = Redaction([VALUE, "/api/v1/history"])
    process_secrets.lend(values)
    yield values
    process_secrets.give_back(values)


def logged(name: str, text: str, caplog: pytest.LogCaptureFixture) -> str:
    """As a thread logs it that knows of no run."""
    caplog.clear()
    with caplog.at_level(logging.INFO, name):
        thread = threading.Thread(target=lambda: logging.getLogger(name).info("said %s", text))
        thread.start()
        thread.join()
    return caplog.messages[-1]


def test_a_thread_that_knows_of_no_run_logs_no_value(borrowed: Redaction, caplog: pytest.LogCaptureFixture) -> None:
    assert logged("a.library", f"{VALUE}, {VALUE[4:14]}, {VALUE[:5]}...", caplog) == "said ***, ***, ***"
    process_secrets.give_back(borrowed)
    assert logged("a.library", VALUE, caplog) == "said ***"


def test_nobody_hides_their_calls_by_giving_an_address_as_a_secret(
    borrowed: Redaction, caplog: pytest.LogCaptureFixture
) -> None:
    assert len(borrowed) == 2
    assert logged("interlock.access", "GET /api/v1/history", caplog) == "said GET /api/v1/history"
    assert logged("a.library", "GET /api/v1/history", caplog) == "said GET ***"


def test_many_values_push_out_none_of_a_run_under_way_and_take_no_more_room_than_there_is() -> None:
    every = ProcessSecrets()
    kept, ended = Redaction([VALUE]), Redaction(["hunter2hunter2"])
    every.lend(kept)
    every.lend(ended)
    every.give_back(ended)
    sizes: list[int] = []
    for _ in range(1_500):
        other = Redaction([secrets.token_urlsafe(40)])
        every.lend(other)
        every.give_back(other)
        sizes.append(len(every))
    assert every(f"with {VALUE}") == "with ***"
    # The oldest of what has ended is forgotten, or memory would never end to grow.
    assert every("with hunter2hunter2") == "with hunter2hunter2"
    assert max(sizes) < len(sizes)
    every.give_back(kept)
    assert every(f"with {VALUE}") == "with ***"
