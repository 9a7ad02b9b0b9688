"""`interlock audit`: the audit trail, checked and exported, also while the server runs."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.cli._database import Data, Database, run

if TYPE_CHECKING:
    from interlock.domain.audit import Finding
    from interlock.services.audit.export import Report
    from interlock.services.core import Core

app = typer.Typer(help="Verify and export the audit trail.", no_args_is_help=True, rich_markup_mode=None)

Against = Annotated[
    Path | None, typer.Option(help="An earlier export: the trail must still contain each of its heads.")
]
File = Annotated[Path | None, typer.Option(help="Check this export instead of the database's trail.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]
Conversation = Annotated[str | None, typer.Option(help="Export only this thread. [default: everything]")]
Output = Annotated[Path | None, typer.Option(help="A new file. [default: standard output]")]


@app.command()
def verify(
    against: Against = None,
    file: File = None,
    as_json: AsJson = False,
    data: Data = None,
    database: Database = None,
) -> None:
    """Check the audit trail. Exit code 1 if it was tampered with, with one line for each finding."""
    from interlock.domain.errors import InvalidInput
    from interlock.services.audit import export as audit_export
    from interlock.services.audit import trail as auditing

    if against is not None and file is not None:
        raise InvalidInput("--file checks an export by itself: leave out --against")

    async def work(core: "Core") -> "Report":
        if file is not None:
            return await audit_export.verify_export(core, partial(_trail_of, file))
        return await auditing.verify(core, None if against is None else _lines(against))

    report = run(data, database, work)
    typer.echo(_as_json(report) if as_json else _as_text(report))
    if report.findings:
        raise typer.Exit(1)


@app.command()
def export(
    conversation: Conversation = None, output: Output = None, data: Data = None, database: Database = None
) -> None:
    """Write the audit trail as lines of JSON: entries, heads of chains, and a summary line."""
    from interlock.cli._new_file import new_file
    from interlock.services.audit import export as audit_export

    async def work(core: "Core") -> None:
        with new_file(output) as target:
            async for line in audit_export.export(core, conversation):
                target.write(line + "\n")

    run(data, database, work)


def _lines(path: Path) -> Iterator[str]:
    from interlock.domain.errors import InvalidInput

    try:
        with path.open(encoding="utf-8") as lines:
            yield from lines
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from error


def _trail_of(path: Path) -> Iterator[str]:
    from interlock.services.threads.export import trail_lines

    return trail_lines(_lines(path))


def _as_text(report: "Report") -> str:
    count = f"{_plural(report.entries, 'entry', 'entries')} in {_plural(report.chains, 'chain', 'chains')}"
    if not report.findings:
        return f"{count}: all intact"
    found = _plural(len(report.findings), "finding", "findings")
    return "\n".join([*map(_line, report.findings), f"{count}: {found}"])


def _plural(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _line(finding: "Finding") -> str:
    place = f" #{finding.number}" if finding.number is not None else ""
    # Whoever wrote to the database may have named a chain to look like several lines.
    chain = finding.chain if finding.chain.isprintable() else ascii(finding.chain)
    return f"{finding.kind} {chain or 'export'}{place}: {finding.text}"


def _as_json(report: "Report") -> str:
    import json

    findings = [
        {"kind": finding.kind, "conversation_id": finding.chain, "number": finding.number, "text": finding.text}
        for finding in report.findings
    ]
    return json.dumps({"chains": report.chains, "entries": report.entries, "findings": findings})
