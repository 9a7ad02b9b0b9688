"""What is done to a stage. After each of them everything runs again; they end only what the campaign started."""

import random
import resource
import signal
import time
from collections import Counter
from collections.abc import Callable

from interlock import failpoints
from tests.campaign.stage import LEASE_SECONDS, Stage
from tests.support.server import ServerProcess

CALM_SECONDS = (0.2, 1.5)
REACH_SECONDS = 4.0
"""For which a failpoint is given to be reached by the load."""
DOWN_SECONDS = 0.5
FULL_SECONDS = 1.0
LATEST_HIT = 5
SELDOM = ("removal.committed", "policy.activating")
"""Points that the load comes by now and then only."""
ELSEWHERE = {
    "bus.off",
    "wake.off",
    "vote.committing",
    "level.committing",
    "notice.sent",
    "rotation.prepared",
    "rotation.committing",
    "rotation.committed",
    "run.promoting",
}
"""Switches, and points that this load does not come by: the tests of those parts kill a server there."""

POINTS = tuple(sorted(failpoints.NAMES - ELSEWHERE))


class Faults:
    def __init__(self, stage: Stage, chance: random.Random) -> None:
        self.stage, self.chance = stage, chance
        self.done: Counter[str] = Counter()
        self.reached: Counter[str] = Counter()
        self._points: list[str] = []

    def strike(self) -> None:
        """One of them, after a while of load."""
        time.sleep(self.chance.uniform(*CALM_SECONDS))
        fault = self.chance.choice(self._kinds())
        self.done[fault.__name__] += 1
        fault()

    def _kinds(self) -> list[Callable[[], None]]:
        kinds = [self.kill, self.kill, self.kill_at_a_failpoint, self.kill_at_a_failpoint]
        if self.stage.postgres is None:
            return [*kinds, self.fill_the_disk]
        return [*kinds, self.restart_postgres, self.flush_redis, self.kill_redis, self.stop_past_the_lease]

    def kill(self) -> None:
        server = self._server()
        server.kill()
        server.start()

    def kill_at_a_failpoint(self) -> None:
        """Each of them in turn; `reached` has those at which the server did die."""
        if not self._points:
            self._points = self.chance.sample(POINTS, len(POINTS))
        point, server = self._points.pop(), self._server()
        server.kill()
        try:
            server.start(failpoints=f"{point}=kill@{1 if point in SELDOM else self.chance.randint(1, LATEST_HIT)}")
        except AssertionError:
            server.wait_until_dead(0)
        deadline = time.monotonic() + REACH_SECONDS
        while server.running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        if server.running.poll() is not None:
            server.wait_until_dead(0)
            self.reached[point] += 1
        # Nothing stays armed: the next fault is to be the only one.
        server.kill()
        server.start()

    def fill_the_disk(self) -> None:
        """No file of the server can grow."""
        pid = self.stage.servers[0].running.pid
        before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, before[1]))
        time.sleep(FULL_SECONDS)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)

    def restart_postgres(self) -> None:
        assert self.stage.postgres is not None
        self.stage.postgres.stop_hard()
        time.sleep(self.chance.uniform(0, DOWN_SECONDS))
        self.stage.postgres.start()

    def flush_redis(self) -> None:
        assert self.stage.redis is not None
        self.stage.redis.command("FLUSHALL")

    def kill_redis(self) -> None:
        assert self.stage.redis is not None
        self.stage.redis.kill()
        time.sleep(self.chance.uniform(0, DOWN_SECONDS))
        self.stage.redis.start()

    def stop_past_the_lease(self) -> None:
        """The other server takes its runs over, and then it goes on as if nothing had been."""
        process = self._server().running
        process.send_signal(signal.SIGSTOP)
        time.sleep(LEASE_SECONDS + self.chance.uniform(0.5, 1.5))
        process.send_signal(signal.SIGCONT)

    def _server(self) -> ServerProcess:
        return self.chance.choice(list(self.stage.servers))
