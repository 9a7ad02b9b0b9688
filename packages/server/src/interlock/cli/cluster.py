"""`interlock cluster`: who runs agents, and what they run."""

import json
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.cli._database import Data, Database, run

if TYPE_CHECKING:
    from interlock.services.core import Core
    from interlock.services.runs.workers import Cluster

app = typer.Typer(help="Show servers and workers that share a database.", no_args_is_help=True)


@app.callback()
def cluster() -> None:
    """Show servers and workers that share a database."""


@app.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    data: Data = None,
    database: Database = None,
) -> None:
    """Show workers, queued and active runs, and leases. Only reads the database."""
    from interlock.services.runs import workers

    async def work(core: "Core") -> tuple["Cluster", datetime]:
        return await workers.cluster(core), core.clock.now()

    found, now = run(data, database, work)
    typer.echo(json.dumps(_to_json(found, now), indent=2) if as_json else "\n".join(_lines(found, now)))


def _to_json(found: "Cluster", now: datetime) -> dict[str, object]:
    return {
        "workers": [
            {
                "id": worker.id,
                "node": worker.node,
                "kind": worker.kind,
                "alive": _is_alive(worker.seen_at, now),
                "seen_at": worker.seen_at.isoformat(),
                "capacity": worker.capacity,
                "running": worker.running,
            }
            for worker in found.workers
        ],
        "runs": {status.value: number for status, number in found.runs.items()},
        "leases": [
            {
                "conversation_id": one.thread_id,
                "run_id": one.run_id,
                "worker": one.worker,
                "until": one.until.isoformat(),
            }
            for one in found.leases
        ],
    }


def _lines(found: "Cluster", now: datetime) -> list[str]:
    alive = sum(_is_alive(worker.seen_at, now) for worker in found.workers)
    nodes = len({worker.node for worker in found.workers if _is_alive(worker.seen_at, now)})
    runs = ", ".join(f"{number} {status}" for status, number in found.runs.items())
    lines = [f"{alive} workers on {nodes} nodes; runs: {runs}; {len(found.leases)} leases"]
    for worker in found.workers:
        seen = (now - worker.seen_at).total_seconds()
        state = "alive" if _is_alive(worker.seen_at, now) else "gone"
        busy = f"{worker.running}/{worker.capacity} runs"
        lines.append(f"{worker.node}\t{worker.id}\t{worker.kind}\t{state}, seen {seen:.0f} s ago\t{busy}")
    return lines


def _is_alive(seen_at: datetime, now: datetime) -> bool:
    from interlock.services.runs.workers import GONE_SECONDS

    return (now - seen_at).total_seconds() <= GONE_SECONDS
