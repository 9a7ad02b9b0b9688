"""`python -m interlock`."""

from interlock_client.cli.entry import run

run()
