"""What a call would do, put with the request for it where the agent runs, at the moment that it asks."""

import platform
from dataclasses import replace

from interlock.agents import previews
from interlock.domain.json_value import JsonObject
from interlock.domain.kinds import ApprovalBody
from interlock.domain.preview import FilePreview, FileSnapshot, NoPreview, Redact, as_body
from interlock.runners.graph_state import PendingInterrupt
from interlock.runners.loading import HostedAgent
from interlock.services.requests.opening import NewRequest


async def with_preview(agent: HostedAgent, asked: NewRequest, pending: PendingInterrupt, redact: Redact) -> NewRequest:
    if not isinstance(asked.body, ApprovalBody):
        return asked
    # No graph says so of itself.
    body = replace(asked.body, preview=None)
    previewer = agent.previewer(body.tool_name, pending.graph)
    if previewer is None:
        return replace(asked, body=body)

    def work() -> tuple[JsonObject | None, FileSnapshot | None]:
        found = previews.compute(previewer, body.args, pending.values)
        preview = None if found is None else as_body(found, redact)
        return preview, FileSnapshot.of(found, redact, platform.node()) if isinstance(found, FilePreview) else None

    done = await previews.in_time(work)
    preview, kept = (as_body(done, redact), None) if isinstance(done, NoPreview) else done
    form = replace(asked.form, file=kept) if asked.form else None
    return replace(asked, body=replace(body, preview=preview), form=form)
