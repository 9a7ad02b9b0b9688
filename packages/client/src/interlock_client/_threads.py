"""Talking to the agents that a server hosts."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Literal

from interlock_client import threads as wire
from interlock_client._following import Follower, event_of, follow_events
from interlock_client._patience import Patience
from interlock_client._transport import Call, Frame, Part, segment, thread_id_of
from interlock_client.errors import NetworkError, RateLimited, ServerUnavailable
from interlock_client.events import ChatEvent, End, chat_event

Action = Literal["continue", "cancel", "answer"]


class Threads(Part):
    async def create_thread(self, agent: str | None = None) -> str:
        """A new thread with an agent of the server, its default one unless one is named."""
        call = Call("POST", "/api/sessions", self._body(agent=agent))
        return (await self._transport.fetch(wire.Session, call)).thread_id

    async def threads(self, page_size: int = 20) -> AsyncGenerator[wire.SessionEntry]:
        """The caller's threads, the one last touched first."""
        page, seen = 1, 0
        while True:
            found = await self._got(wire.SessionList, "/api/sessions", {"page": page, "page_size": page_size})
            for thread in found.threads:
                yield thread
            seen += len(found.threads)
            if not found.threads or seen >= found.total:
                return
            page += 1

    async def delete_thread(self, thread_id: str) -> None:
        """Delete a thread for good: what runs is stopped, what is pending is cancelled."""
        await self._transport.fetch(wire.Deleted, Call("DELETE", f"/api/sessions/{segment(thread_id)}"))

    async def status(self, thread_id: str) -> wire.ThreadStatus:
        """Whether a thread waits for a person, and for what."""
        return await self._got(wire.ThreadStatus, f"/api/status/{segment(thread_id)}")

    async def history(self, thread_id: str) -> list[wire.Message]:
        return (await self._got(wire.History, f"/api/history/{segment(thread_id)}")).messages

    def chat(
        self, message: str, thread_id: str | None = None, *, agent: str | None = None, detached: bool = False
    ) -> AsyncGenerator[ChatEvent]:
        """Send a message, to a new thread unless one is named, and tell what the agent does until it ends or waits.

        Leaving the iteration stops the run, unless it is `detached`.
        """
        body = self._body(message=message, thread_id=thread_id, agent=agent)
        return self._run(Call("POST", "/api/chat", body, headers=_detached_params(detached)))

    def resume(
        self,
        thread_id: str,
        action: Action,
        *,
        answers: Sequence[Any] | None = None,
        request_id: str | None = None,
        reason: str | None = None,
        detached: bool = False,
    ) -> AsyncGenerator[ChatEvent]:
        """Reply to what a thread waits for, and tell what the agent does then.

        `answers` are texts; what a free interrupt asks takes any JSON (`answers=[False]`).
        A reply that does not fit gives `Failed` and `End` with the action `error`, and everything is still pending.
        """
        given = None if answers is None else list(answers)
        body = self._body(action=action, answers=given, request_id=request_id, reason=reason)
        call = Call("POST", f"/api/resume/{segment(thread_id)}", body, headers=_detached_params(detached))
        return self._run(call)

    def follow_thread(self, thread_id: str, last_event_id: str | None = None) -> AsyncGenerator[ChatEvent]:
        """Everything that happens on a thread from now on, or since an event. It resumes by itself."""
        follower = Follower(self._transport, _stream_of(thread_id), last_event_id)
        return follow_events(follower, chat_event)

    async def _run(self, call: Call) -> AsyncGenerator[ChatEvent]:
        """The stream of a POST. When it breaks off it is followed to its end: sent again it would be a new message."""
        async with aclosing(self._run_frames(call)) as frames:
            async for frame in frames:
                event = event_of(chat_event, frame)
                yield event
                if isinstance(event, End):
                    return

    async def _run_frames(self, call: Call) -> AsyncGenerator[Frame]:
        thread_id, last = "", None
        patience = Patience(self._transport.patience)
        while not thread_id:
            try:
                async with self._transport.stream(call) as (headers, frames):
                    thread_id = thread_id_of(headers)
                    async for frame in frames:
                        last = frame.id or last
                        if frame.data is not None:
                            yield frame
            except (NetworkError, RateLimited, ServerUnavailable) as error:
                if thread_id and last is not None:
                    break
                if thread_id or error.details.get("sent", error.status in (502, 504)):
                    raise
                await patience.pause(error)
        if last is None:
            raise NetworkError(f"{self._transport.url} ended the stream before anything was told")
        async with aclosing(Follower(self._transport, _stream_of(thread_id), last).frames()) as rest:
            async for frame in rest:
                yield frame


def _stream_of(thread_id: str) -> Call:
    return Call("GET", f"/api/stream/{segment(thread_id)}", repeatable=True)


def _detached_params(detached: bool) -> dict[str, str]:
    return {"x-on-disconnect": "continue"} if detached else {}
