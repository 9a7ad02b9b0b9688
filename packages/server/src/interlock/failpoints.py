"""Named points where a test may break the process, to show that the promises hold there.

A point costs one dictionary look-up. Nothing is armed unless the configuration names it: `NAME=kill` ends the process
as `kill -9` does when the point is reached, `NAME=kill@3` when it is reached for the third time; `NAME=stop` and
`NAME=stop@3` stop it until it is sent SIGCONT; `NAME=on` turns a behaviour on that asks `is_on`.
"""

import os
import signal
from collections import Counter
from collections.abc import Iterable

_SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}

_armed: dict[str, tuple[int, signal.Signals]] = {}
_on: set[str] = set()
_hits: Counter[str] = Counter()

NAMES = frozenset(
    {
        "message.committing",
        "message.committed",
        "ask.committing",
        "ask.committed",
        "answer.committing",
        "answer.committed",
        "vote.committing",
        "level.committing",
        "run.claimed",
        "run.finishing",
        "run.promoting",
        "effect.intended",
        "effect.returned",
        "effect.done",
        "checkpoint.writing",
        "checkpoint.written",
        "removal.committed",
        "rotation.prepared",
        "rotation.committing",
        "rotation.committed",
        "policy.activating",
        "notice.sent",
        "bus.off",
        "wake.off",
    }
)


def arm(entries: Iterable[str]) -> None:
    for entry in entries:
        name, _, action = entry.partition("=")
        if name not in NAMES:
            raise ValueError(f"there is no failpoint {name!r}; known: {', '.join(sorted(NAMES))}")
        if action == "on":
            _on.add(name)
        elif action.partition("@")[0] in _SIGNALS:
            word, _, at = action.partition("@")
            _armed[name] = (int(at or 1), _SIGNALS[word])
        else:
            raise ValueError(f"failpoint {name!r} takes kill, kill@N, stop, stop@N or on, not {action!r}")


def hit(name: str) -> None:
    armed = _armed.get(name)
    if armed is None:
        return
    _hits[name] += 1
    at, how = armed
    if _hits[name] == at:
        os.kill(os.getpid(), how)


def is_on(name: str) -> bool:
    return name in _on
