"""What was measured, as lines while it goes on and as one table at the end."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass

HEAD = """# Measurements

Ratios within one run of `make bench`. `.venv/bin/python -m bench --write docs/explanation/bench.md` writes this page.
Both sides of a row were measured on the same machine within minutes of each other; the figures themselves say little
about any other machine.

"""


@dataclass(frozen=True, slots=True)
class Row:
    part: str
    what: str
    measured: float
    against: float
    unit: str
    baseline: str
    """What it is compared with."""
    aim: str = ""

    @property
    def ratio(self) -> float:
        return self.measured / self.against if self.against else float("inf")

    def line(self) -> str:
        aim = f"   (aim: {self.aim})" if self.aim else ""
        return (
            f"{self.part:<10} {self.what:<52} {self.measured:9.1f} {self.unit:<8} "
            f"{self.baseline} {self.against:9.1f}   ratio {self.ratio:.2f}{aim}"
        )


class Table:
    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._load = os.getloadavg()[0]

    def add(self, row: Row) -> None:
        self._rows.append(row)
        print(row.line(), flush=True)

    def markdown(self, notes: Sequence[str] = ()) -> str:
        lines = ["| part | what | measured | against | ratio | aim |", "|---|---|---|---|---|---|"]
        lines += [
            f"| {row.part} | {row.what} | {row.measured:.1f} {row.unit} | {row.baseline}: {row.against:.1f} {row.unit} "
            f"| {row.ratio:.2f} | {row.aim} |"
            for row in self._rows
        ]
        machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
        return HEAD + "\n".join([f"Measured on: {machine}; load before: {self._load:.1f}.", "", *lines, *notes]) + "\n"
