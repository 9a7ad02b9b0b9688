"""A few faults under load at all faces, from a seed; `make campaign` is a long run of the same.

A failure names its seed and the part of the history that shows it; the whole history is in the test's folder.
"""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.campaign import report
from tests.campaign.campaign import names, run_faults
from tests.campaign.settings import Settings
from tests.campaign.soak import COLUMNS, SAMPLES, grown, run_soak
from tests.campaign.stage import Stage, stage
from tests.campaign.volleys import run_volleys

SETTINGS = Settings.of_environment()
MOST_GROWTH = 1.25


@pytest.fixture(scope="module", params=SETTINGS.stages)
def broken(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Stage]:
    with stage(request.param, tmp_path_factory.mktemp(request.param), names(SETTINGS.lanes)) as servers:
        yield servers


@pytest.mark.promise("P1", "P2", "P4", "P6", "P14")
def test_what_clients_saw_of_servers_that_break_is_what_is_promised(broken: Stage, tmp_path: Path) -> None:
    figures = run_faults(broken, tmp_path, SETTINGS.seed, SETTINGS.rounds, SETTINGS.lanes)
    report.add(SETTINGS, f"{SETTINGS.rounds:,} faults, {SETTINGS.lanes} people at a time: {broken.name}", figures)
    assert figures.faults.total() == SETTINGS.rounds
    assert figures.seen["conversations"] >= SETTINGS.lanes


@pytest.mark.promise("P2", "P14")
def test_of_many_answers_at_once_over_all_faces_one_counts_and_all_are_told_which(
    broken: Stage, tmp_path: Path
) -> None:
    figures = run_volleys(broken, tmp_path, SETTINGS.seed, SETTINGS.volleys, SETTINGS.shots)
    report.add(SETTINGS, f"{SETTINGS.volleys:,} volleys of {SETTINGS.shots:,} answers: {broken.name}", figures)
    assert figures.seen["requests: question"] == SETTINGS.volleys
    assert figures.seen["answer: lost"] > 0


if SETTINGS.soak_seconds:

    @pytest.mark.parametrize("name", SETTINGS.stages)
    def test_hours_of_load_cost_nothing_but_disk(name: str, tmp_path: Path) -> None:
        figures, samples = run_soak(name, tmp_path, SETTINGS.seed, SETTINGS.soak_seconds, SETTINGS.lanes)
        title = f"{SETTINGS.soak_seconds / 3600:,.1f} hours at half of the capacity: {name}"
        report.add(SETTINGS, title, figures)
        report.add_samples(SETTINGS, f"{title}, samples", COLUMNS, [one.cells for one in samples])
        assert len(samples) == SAMPLES
        assert grown(samples) < MOST_GROWTH
