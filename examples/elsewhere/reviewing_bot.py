"""A reviewer's bot: follows the inbox, and refuses what is never allowed.

INTERLOCK_KEY=... .venv/bin/python examples/elsewhere/reviewing_bot.py
"""

from interlock_client import AlreadySettled, SyncInterlock
from interlock_client.events import InboxAsked, InboxSettled

NEVER = ("rm -rf", "drop table")

with SyncInterlock.from_environment() as client:
    for event in client.follow_inbox():
        if isinstance(event, InboxSettled):
            print(f"{event.entry.headline}: {event.status} by {event.answered_by}")
        elif isinstance(event, InboxAsked) and event.entry.kind == "approval":
            args = str(client.request(event.entry.request_id).request_data["args"]).lower()
            if any(words in args for words in NEVER):
                try:
                    client.respond(event.entry.request_id, granted=False, reason="never allowed here")
                except AlreadySettled as first:
                    print(f"{first.answered_by} was first: {first.answer}")
