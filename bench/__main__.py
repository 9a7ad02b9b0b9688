"""`make bench`: what is measured, side by side in one run. `--write FILE` keeps the table as a page."""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench import candidates, cycles, gateway, hook, kills, langgraph, pages, policies, streams, volume
from bench.table import Table

Part = Callable[[Table, Path, bool], None]


def _cycle(table: Table, folder: Path, small: bool) -> None:
    cycles.against_direct(table, folder, cycles.SMALL if small else cycles.Sizes())


def _stack(table: Table, folder: Path, small: bool) -> None:
    cycles.stack_against_embedded(table, folder, cycles.SMALL if small else cycles.Sizes())


def _volume(table: Table, folder: Path, small: bool) -> None:
    volume.against_few(table, folder, volume.SMALL if small else volume.SIZES)


def _candidates(table: Table, folder: Path, small: bool) -> None:
    candidates.against_few(table, folder, volume.SMALL if small else volume.SIZES)


def _streams(table: Table, folder: Path, small: bool) -> None:
    streams.against_few(table, folder, streams.SMALL if small else streams.most())


def _hook(table: Table, folder: Path, small: bool) -> None:
    hook.against_nothing(table, folder, hook.SMALL if small else hook.CALLS)


def _gateway(table: Table, folder: Path, small: bool) -> None:
    gateway.against_direct(table, folder, 9 if small else 150)


def _langgraph(table: Table, folder: Path, small: bool) -> None:
    langgraph.against_threads(table, folder, langgraph.SMALL_CYCLES if small else langgraph.CYCLES)
    langgraph.search_against_few(table, folder, langgraph.SMALL if small else langgraph.SIZES)


def _pages(table: Table, folder: Path, small: bool) -> None:
    pages.against_nothing(table, folder, pages.SMALL if small else pages.Sizes())


def _kills(table: Table, folder: Path, small: bool) -> None:
    kills.against_the_lease(table, folder, kills.SMALL if small else kills.KILLS)


def _policies(table: Table, folder: Path, small: bool) -> None:
    asks = policies.SMALL if small else policies.ASKS
    policies.own_part(table, folder, asks)
    policies.against_none(table, folder, asks)


PARTS: dict[str, Part] = {
    "cycle": _cycle,
    "stack": _stack,
    "volume": _volume,
    "candidates": _candidates,
    "streams": _streams,
    "hook": _hook,
    "gateway": _gateway,
    "langgraph": _langgraph,
    "pages": _pages,
    "policies": _policies,
    "kills": _kills,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measures, as ratios within one run.")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="which of them; all without")
    parser.add_argument("--small", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table there, in Markdown")
    given = parser.parse_args()
    table = Table()
    for name in given.parts or PARTS:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            PARTS[name](table, Path(folder), given.small)
    if given.write:
        given.write.write_text(table.markdown())


if __name__ == "__main__":
    main()
