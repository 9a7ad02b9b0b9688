"""`python -m interlock`."""

from interlock.cli.main import run

run()
