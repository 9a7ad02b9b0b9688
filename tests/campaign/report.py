"""What a campaign did and saw, as Markdown: a section for each part, written when that part has passed."""

from collections import Counter
from collections.abc import Sequence

from tests.campaign.campaign import Figures
from tests.campaign.settings import Settings


def add(settings: Settings, title: str, figures: Figures) -> None:
    """To the report, where one was asked for."""
    tables = {"faults": figures.faults, "servers that died at": figures.reached, "seen by clients": figures.seen}
    parts = [_table(name, counts) for name, counts in tables.items() if counts]
    _append(settings, title, parts)


def add_samples(settings: Settings, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    _append(settings, title, [_rows(columns, rows)])


def _append(settings: Settings, title: str, parts: Sequence[str]) -> None:
    if settings.report is None:
        return
    head = f"## {title}\n\nSeed {settings.seed}. No violation was found.\n"
    with settings.report.open("a") as file:
        file.write("\n".join([head, *parts]) + "\n")


def _table(name: str, counts: Counter[str]) -> str:
    return _rows([name, "count"], [[one, f"{count:,}"] for one, count in sorted(counts.items())])


def _rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
