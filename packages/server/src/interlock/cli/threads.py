"""`interlock threads`: conversations listed, exported and deleted when they are old, also while the server runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.cli._database import Data, Database, run

if TYPE_CHECKING:
    from interlock.services.core import Core
    from interlock.services.threads.export import ListedThread

app = typer.Typer(help="List, export and expire conversations.", no_args_is_help=True, rich_markup_mode=None)

Limit = Annotated[int, typer.Option(min=1, max=100_000, help="Maximum number to list.")]
Output = Annotated[Path | None, typer.Option(help="A new file. [default: standard output]")]
Days = Annotated[int, typer.Option(help="Delete conversations idle for this many days.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only print how many would be deleted.")]


@app.command(name="list")
def list_newest(limit: Limit = 50, data: Data = None, database: Database = None) -> None:
    """List conversations, most recently used first."""
    from interlock.services.threads import export as thread_export

    async def work(core: "Core") -> "list[ListedThread]":
        return await thread_export.list_newest(core, limit)

    for one in run(data, database, work):
        thread = one.thread
        fields = (
            thread.id,
            thread.status,
            thread.agent,
            one.owner,
            f"{thread.updated_at:%Y-%m-%d %H:%M}",
            thread.title,
        )
        # A title, or an id out of an address, may hold anything.
        typer.echo("\t".join("".join(char if char.isprintable() else " " for char in field) for field in fields))


@app.command()
def export(thread_id: str, output: Output = None, data: Data = None, database: Database = None) -> None:
    """Write everything recorded about a conversation as one JSON document, without secrets."""
    from interlock.cli._new_file import new_file
    from interlock.services.threads import export as thread_export

    async def work(core: "Core") -> str:
        return await thread_export.export_thread(core, thread_id)

    document = run(data, database, work)
    with new_file(output) as target:
        target.write(document + "\n")


@app.command()
def expire(days: Days, dry_run: DryRun = False, data: Data = None, database: Database = None) -> None:
    """Delete conversations idle for this many days, as INTERLOCK_RETENTION_DAYS does every hour."""
    from interlock.services.operations import retention

    async def work(core: "Core") -> int:
        return await (retention.count_expired if dry_run else retention.expire_threads)(core, days)

    count = run(data, database, work)
    verb = "would be deleted" if dry_run else "deleted"
    typer.echo(f"{count} {'conversation' if count == 1 else 'conversations'} {verb}; the audit trail is kept")
