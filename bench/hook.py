"""What the hook of coding agents costs for a call that a remembered permission answers, and nobody has to wait for."""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.table import Row, Table
from tests.hooks.hook import PROGRAM, bash
from tests.support.hitl import HitlClient, of
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for

CALLS = 30
SMALL = 5


def against_nothing(table: Table, folder: Path, calls: int) -> None:
    home = folder / "home"
    home.mkdir()
    process = ServerProcess(folder / "hook", environment={"INTERLOCK_LOCALE": "en"})
    try:
        with People(process.start().url) as people, of(people.named("alice")) as person:
            key = person.new_key("bench", "agent", agent="claude-code")["key"]
            environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
            environment |= {"INTERLOCK_URL": process.url, "INTERLOCK_KEY": key}
            with HitlClient(process.url, key) as agent:
                _remember(environment, person, agent)
                # Alike each time, the two take turns: whatever else the machine does falls on both.
                pairs = [(_measured(lambda: _hook(environment)), _measured(_python)) for _ in range(calls)]
                asked = [_measured(lambda: _asked(agent))[1] for _ in range(calls)]
    finally:
        process.close()
    cpu, elapsed = (statistics.median(one[index] for one, _ in pairs) * 1000 for index in (0, 1))
    base_cpu = statistics.median(one[0] for _, one in pairs) * 1000
    table.add(Row("hook", "CPU of a call", cpu, base_cpu, "ms", "python alone", "100 ms more at the most"))
    request = statistics.median(asked) * 1000
    table.add(Row("hook", "a call that is answered at once", elapsed, request, "ms", "the ask alone"))


def _remember(environment: dict[str, str], person: HitlClient, agent: HitlClient) -> None:
    with subprocess.Popen(_COMMAND, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment) as first:
        assert first.stdin is not None
        first.stdin.write(_EVENT)
        first.stdin.close()
        [asked] = wait_for(lambda: agent.everything()["pending_requests"], lambda found: len(found) == 1)
        person.respond(asked["request_id"], {"granted": True, "remember": True, "duration": "forever"})


def _hook(environment: dict[str, str]) -> None:
    done = subprocess.run(_COMMAND, input=_EVENT, capture_output=True, env=environment, check=True)
    assert json.loads(done.stdout)["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


def _python() -> None:
    subprocess.run([sys.executable, "-c", "pass"], check=True)


def _asked(agent: HitlClient) -> None:
    data = {"tool_name": "Bash", "args": bash()["tool_input"], "description": "Claude Code, in /home/ann/my-project"}
    agent.look(agent.ask("permission", {**data, "risk_level": "medium"})["request_id"], wait=0)


def _measured(act: Callable[[], None]) -> tuple[float, float]:
    """Seconds of CPU of the processes that it started, and seconds that passed."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    act()
    elapsed, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, elapsed


_COMMAND = [PROGRAM, "claude-code", "--timeout", "60"]
_EVENT = json.dumps(bash()).encode()
