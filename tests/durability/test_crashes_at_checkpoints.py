"""`kill -9` around every checkpoint that a run writes: each life of the server gets one checkpoint further."""

from itertools import cycle, islice

import httpx
import pytest

from tests.durability.lives import Lives, Talk

pytestmark = pytest.mark.promise("P1", "P4")

WRITTEN = "checkpoint.written=kill"
WRITING_THE_NEXT = "checkpoint.writing=kill@2"
MOST_LIVES = 20
FEWEST_DEATHS = 4
"""Two runs with one tool write five checkpoints, and after the last one there is nothing left to die of."""


def comes_to_an_end(talk: Talk) -> bool:
    """Act as the person until the run has ended; False when the server died before."""
    try:
        if not talk.request_id:
            talk.request_id = talk.pending()["request_id"]
            talk.approve()
        talk.log(runs=2)
    except httpx.TransportError:
        talk.lives.server.wait_until_dead()
        return False
    return True


@pytest.mark.parametrize(
    ("database_url", "points"),
    [("sqlite", (WRITTEN, WRITING_THE_NEXT)), ("postgres", (WRITING_THE_NEXT, WRITTEN))],
    indirect=["database_url"],
    ids=["sqlite", "postgres"],
)
def test_a_run_comes_to_its_end_though_the_server_dies_at_every_checkpoint(
    lives: Lives, points: tuple[str, str]
) -> None:
    first, *later = islice(cycle(points), MOST_LIVES)
    lives.start(first)
    talk = Talk(lives, "tools", "write")
    with lives.dying():
        talk.send()
    deaths = 1
    for point in later:
        if lives.start_alive(point) and comes_to_an_end(talk):
            break
        deaths += 1
    assert deaths >= FEWEST_DEATHS
    lives.server.kill()
    lives.start()
    assert talk.finishes(runs=2) == ["interrupt", "end", "tool/start", "tool/end", "end"]
