"""Answers that are remembered, and what a later call comes to."""

from typing import Any

import httpx
from typer.testing import CliRunner

from interlock_client.cli.main import app
from tests.support.hitl import HitlClient, asked_by_agent, chatted, finished, of
from tests.support.puppet import Call, calls, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

GUARDED: Call = ("guarded", {"name": "first"})
OTHER_ARGS: Call = ("guarded", {"name": "second"})
OTHER_TOOL: Call = ("pay", {"amount": 1, "to": "bob"})


def remembered(scope: str, duration: str, *, allow: bool = True) -> dict[str, Any]:
    return {"granted": allow, "remember": True, "scope": scope, "duration": duration}


def is_asked(person: ThreadsClient, thread_id: str, call: Call) -> bool:
    """Let the agent make the call; whether somebody had to be asked. What was asked is cancelled again."""
    reply = chatted(person, thread_id, script(calls(call)))
    if "interrupt" not in reply.events:
        return False
    assert person.resume(thread_id, "cancel").status == 200
    return True


def wrong_fields(reply: httpx.Response) -> list[str]:
    return [error["field"] for error in reply.json()["error"]["details"]["errors"]]


def granted(owner: ThreadsClient, theirs: HitlClient, response: dict[str, Any], call: Call = GUARDED) -> str:
    """Answer one call of a new conversation, which is given back."""
    thread_id = owner.new_thread("puppet")
    asked_by_agent(owner, thread_id, call)
    theirs.respond(theirs.one_pending(thread_id)["request_id"], response)
    finished(owner, thread_id)
    return thread_id


def role(server: ServerProcess, person: ThreadsClient, *arguments: str) -> None:
    done = CliRunner().invoke(app, ["users", "role", person.username, *arguments, *server.where])
    assert done.exit_code == 0, done.output


def granted_by(reviewer: ThreadsClient, owner: ThreadsClient, theirs: HitlClient, response: dict[str, Any]) -> str:
    """A reviewer answers in a conversation of the owner's, which is given back."""
    here = owner.new_thread("puppet")
    asked_by_agent(owner, here, GUARDED)
    with of(reviewer) as reviews:
        reviews.respond(theirs.one_pending(here)["request_id"], response)
    finished(owner, here)
    return here
