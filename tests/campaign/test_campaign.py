"""A few faults under load at all faces, from a seed; `make campaign` is a long run of the same.

A failure names its seed and the part of the history that shows it; the whole history is in the test's folder.
"""

from pathlib import Path

import pytest

from tests.campaign.campaign import run_faults
from tests.campaign.settings import STAGES, Settings

SETTINGS = Settings.of_environment()


@pytest.mark.promise("P1", "P2", "P4", "P6", "P14")
@pytest.mark.parametrize("name", STAGES)
def test_what_clients_saw_of_broken_servers_is_what_is_promised(name: str, tmp_path: Path) -> None:
    figures = run_faults(name, tmp_path, SETTINGS.seed, SETTINGS.rounds, SETTINGS.lanes)
    print(figures)
    assert figures.seen["answer: accepted"] > 0
    assert figures.seen["conversations"] > 0
