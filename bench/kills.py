"""A worker of Ray is killed in the middle of a run: how soon is the run's next step, at default settings?"""

import os
import signal
import time
from pathlib import Path

from bench.stores import durable_postgres
from bench.table import Row, Table
from tests.cluster.looking import START_SECONDS, holder, pid_of, wait_for_workers
from tests.servers.ray import ON_LOOPBACK
from tests.servers.redis import redis
from tests.support import puppet
from tests.support.puppet import gate, says, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness

KILLS = 50
SMALL = 3
LEASE_SECONDS = 30.0
"""What it takes at the most where the lease has to run out."""


def against_the_lease(table: Table, folder: Path, kills: int) -> None:
    with Witness() as witness, durable_postgres() as postgres, redis() as bus, postgres.fresh_database() as url:
        environment = {**witness.environment, "INTERLOCK_BUS": bus.url, "INTERLOCK_RUNNER": "ray", **ON_LOOPBACK}
        server = ServerProcess(folder / "kills", agents=[puppet.SPEC], database=url, environment=environment)
        try:
            client = ThreadsClient(server.start().url).sign_in()
            times = sorted(_back_after(server, client, witness, f"kill-{number}") for number in range(kills))
        finally:
            server.close()
    for percent in (50, 99):
        measured = times[min(len(times) - 1, len(times) * percent // 100)]
        what = f"back after a kill of a worker, {kills} kills, p{percent}"
        table.add(Row("kills", what, measured, LEASE_SECONDS, "s", "lease", "5 s at the most"))


def _back_after(server: ServerProcess, client: ThreadsClient, witness: Witness, point: str) -> float:
    """Seconds from the kill to the model call that the run makes next, at whichever worker."""
    wait_for_workers(server)
    thread = client.new_thread()
    headers = {"x-on-disconnect": "continue"}
    message = script(says(gate(point), "the end"))
    with client.http.stream("POST", f"/api/chat/{thread}", json={"message": message}, headers=headers):
        wait_for(lambda: witness.count(f"at:{point}"), lambda count: count == 1)
    worker = holder(server, thread)
    killed = time.perf_counter()
    os.kill(pid_of(worker), signal.SIGKILL)
    wait_for(lambda: witness.count(f"at:{point}"), lambda count: count == 2, START_SECONDS)
    taken = time.perf_counter() - killed
    witness.release(point)
    client.wait_for_status(thread, "idle")
    # The next one is to find as many as this one did.
    wait_for_workers(server, {worker})
    return taken
