"""What Ray's table of actors says of a process that was seen under an actor."""

from typing import Any

import pytest

from interlock.runners.ray_watch import is_over


def entry(state: str, node: str = "node-1", pid: int = 7) -> dict[str, Any]:
    return {"State": state, "Address": {"NodeID": node}, "Pid": pid}


@pytest.mark.parametrize(
    ("found", "over"),
    [
        (entry("ALIVE"), False),
        # Nobody who is only not heard of is taken for dead.
        ({}, False),
        (entry("PENDING_CREATION"), False),
        (entry("RESTARTING"), True),
        (entry("DEAD"), True),
        (entry("ALIVE", pid=8), True),
        # The same number on another machine is another process.
        (entry("ALIVE", node="node-2"), True),
    ],
)
def test_a_process_is_over_when_ray_has_another_one_or_none_under_its_actor(found: dict[str, Any], over: bool) -> None:
    assert is_over(found, "node-1", 7) is over
