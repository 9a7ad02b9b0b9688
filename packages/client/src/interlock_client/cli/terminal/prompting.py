"""Lines typed at a terminal, or piped in."""

import importlib
import sys
from collections.abc import Iterable
from contextlib import suppress

import typer

from interlock_client.cli.terminal.event_printer import style
from interlock_client.cli.terminal.revealing import Line
from interlock_client.cli.terminal.sections import Section

with suppress(ImportError):
    importlib.import_module("readline")  # from then on lines can be edited while they are typed


class InputClosed(Exception):
    """The input ended: nobody is there any more."""


def ask_line(prompt: str) -> str:
    """What was typed, without blanks around it."""
    try:
        return input(prompt).strip()
    except EOFError as error:
        raise InputClosed from error


def ask_secret(prompt: str) -> str:
    from getpass import getpass

    try:
        return getpass(prompt) if sys.stdin.isatty() else input()
    except EOFError as error:
        raise InputClosed from error


def discard_input() -> None:
    """What was typed before a question came is no answer to it."""
    if sys.stdin.isatty():
        try:
            import termios

            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        except (ImportError, OSError):
            return


def show_line(line: Line) -> None:
    typer.echo(style(line))


def show_section(section: Section) -> None:
    first, rule = ("║ ", "║ ") if section.by_agent else ("┌ ", "│ ")
    typer.echo(typer.style(f"{first}{section.heading}", bold=True))
    for line in section.lines:
        typer.echo(f"{rule}{style(line)}")


def show_numbered(lines: Iterable[Line]) -> None:
    for number, line in enumerate(lines, 1):
        typer.echo(f"  {number} {style(line)}")
