"""OpenCode's server: what it asks in its terminal is asked in the inbox too, and its reply endpoint is told.

Its events come from all folders on one stream; what is asked, and the replies to it, belong to a folder each. A reply
that comes second gets 404.
"""

import asyncio
import signal
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import httpx

from interlock_client._transport import frames, segment
from interlock_client.bridge.dialogs import Dialogs, Inbox, say
from interlock_client.errors import InvalidInput, ServerFailed
from interlock_client.hook.call import Call, Outcome, digest, list_of, object_of, optional_text
from interlock_client.hook.requests import AT_TERMINAL, GONE, question_of

URL = "http://127.0.0.1:4096"
USERNAME = "opencode"
SILENCE = 35.0
"""Seconds without a sign of life after which a stream is taken for dead; one comes every ten."""
REPLY = 10.0
PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)
ASKED = {"permission.asked": "permission", "question.asked": "question"}
SETTLED = ("permission.replied", "question.replied", "question.rejected")
ENDED = ("session.idle", "session.error", "session.deleted")


class OpenCodeAgent:
    AGENT: str = "opencode"
    NAME: str = "OpenCode"


@dataclass(frozen=True)
class Dialog:
    """One thing that OpenCode waits for: a permission, or questions."""

    kind: str
    about: Mapping[str, Any]
    folder: str | None

    @property
    def id(self) -> str:
        return optional_text(self.about, "id")

    @property
    def session(self) -> str:
        return optional_text(self.about, "sessionID")


class OpenCode:
    """A server of OpenCode."""

    def __init__(self, url: str = URL, password: str = "", username: str = USERNAME) -> None:
        try:
            auth = httpx.BasicAuth(username, password) if password else None
            self._http = httpx.AsyncClient(base_url=url.rstrip("/"), auth=auth, timeout=REPLY, trust_env=False)
            is_address = self._http.base_url.scheme in ("http", "https") and bool(self._http.base_url.host)
        except httpx.InvalidURL:
            is_address = False
        if not is_address:
            raise InvalidInput(f"{url!r} is no address of a server of OpenCode: give one such as {URL}")
        self.url = url

    async def close(self) -> None:
        await self._http.aclose()

    @asynccontextmanager
    async def events(self) -> AsyncGenerator[AsyncGenerator[tuple[str | None, Mapping[str, Any]]]]:
        """One stream of what happens, with the folders in which it does; `httpx.TransportError` when it breaks."""
        timeout = httpx.Timeout(REPLY, read=SILENCE)
        async with self._http.stream("GET", "/global/event", timeout=timeout) as response:
            if response.status_code == 401:
                raise ServerFailed(f"{self.url} wants a password: set OPENCODE_SERVER_PASSWORD to the one it has")
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                raise ServerFailed(f"{self.url} is no server of OpenCode: start one with `opencode serve`")
            yield _events(response)

    async def pending(self, folder: str | None) -> list[Dialog]:
        """What is waited for there: OpenCode also lists what was asked in turns that were stopped since."""
        busy = object_of(await self._get("/session/status", folder)) or {}
        found: list[Dialog] = []
        for kind in ASKED.values():
            dialogs = map(object_of, list_of(await self._get(f"/{kind}", folder)))
            found += [Dialog(kind, one, folder) for one in dialogs if one is not None and one.get("sessionID") in busy]
        return found

    async def _get(self, path: str, folder: str | None) -> Any:
        return (await self._http.get(path, params=_in(folder))).raise_for_status().json()

    async def input_of(self, dialog: Dialog) -> Mapping[str, Any]:
        """All that the tool is called with, where it can be found: what is asked shows a part of it only."""
        tool = object_of(dialog.about.get("tool")) or {}
        message, call = optional_text(tool, "messageID"), optional_text(tool, "callID")
        if not message or not call:
            return {}
        path = f"/session/{segment(dialog.session)}/message/{segment(message)}"
        with suppress(httpx.HTTPError, ValueError):
            reply = object_of(await self._get(path, dialog.folder)) or {}
            for part in map(object_of, list_of(reply.get("parts"))):
                if part is not None and part.get("callID") == call:
                    return object_of((object_of(part.get("state")) or {}).get("input")) or {}
        return {}

    async def reply(self, dialog: Dialog, body: Mapping[str, Any]) -> None:
        """Tell it, as often as it takes to arrive."""
        failures = 0
        while True:
            try:
                path = f"/{dialog.kind}/{segment(dialog.id)}/reply"
                response = await self._http.post(path, json=body, params=_in(dialog.folder))
            except httpx.TransportError:
                await asyncio.sleep(PAUSES[min(failures, len(PAUSES) - 1)])
                failures += 1
                continue
            if response.status_code == 404:
                say("OpenCode was answered elsewhere a moment before")
            elif not response.is_success:
                say(f"OpenCode does not take the answer ({response.status_code} {response.text[:200]})")
            return


async def _events(response: httpx.Response) -> AsyncGenerator[tuple[str | None, Mapping[str, Any]]]:
    async for frame in frames(response.aiter_bytes()):
        data = frame.data or {}
        yield optional_text(data, "directory") or None, object_of(data.get("payload")) or {}


def _in(folder: str | None) -> dict[str, str]:
    return {"directory": folder} if folder else {}


class Watch:
    """Passes on what one server of OpenCode asks, for as long as it runs."""

    def __init__(self, opencode: OpenCode, inbox: Inbox, folders: Iterable[str] = ()) -> None:
        self._opencode = opencode
        self._dialogs = Dialogs(inbox)
        self._open_dialogs: dict[str, Dialog] = {}
        self._gone: set[str] = set()
        """What was asked in turns that were stopped; it comes up again with the next turn."""
        # Where it was started, and what is named; others are known once something happens there.
        self._folders: set[str | None] = {None, *folders}

    async def run(self) -> None:
        failures = 0
        try:
            while True:
                try:
                    async with self._opencode.events() as events:
                        async for folder, event in events:
                            failures = 0
                            await self._handle(folder, event)
                    problem = "the stream ended"
                except (httpx.HTTPError, ValueError) as error:
                    problem = f"{type(error).__name__} {error}".strip()
                if not failures:
                    say(f"{self._opencode.url} cannot be followed ({problem}); trying again")
                await asyncio.sleep(PAUSES[min(failures, len(PAUSES) - 1)])
                failures += 1
        finally:
            await self._dialogs.close_all("nobody follows OpenCode any more")

    async def _handle(self, folder: str | None, event: Mapping[str, Any]) -> None:
        name, about = optional_text(event, "type"), object_of(event.get("properties")) or {}
        if kind := ASKED.get(name):
            await self._ask(Dialog(kind, about, folder))
        elif name in SETTLED:
            self._close(optional_text(about, "requestID"), AT_TERMINAL)
        elif name == "server.connected":
            say(f"following {self._opencode.url}")
            for one in self._folders:
                await self._compare(one)
        elif name == "server.heartbeat" or name in ENDED:
            # A turn that is stopped takes what it asked with it, and does not tell of each.
            folders = {dialog.folder for dialog in self._open_dialogs.values()}
            for one in folders & {folder} if name in ENDED else folders:
                await self._compare(one)

    async def _compare(self, folder: str | None) -> None:
        """What is asked there now: what came while nobody followed, and what has gone."""
        pending = await self._opencode.pending(folder)
        ids = {dialog.id for dialog in pending}
        for dialog in tuple(self._open_dialogs.values()):
            if dialog.folder == folder and dialog.id not in ids:
                self._gone.add(dialog.id)
                self._close(dialog.id, GONE)
        for dialog in pending:
            await self._ask(dialog)

    def _close(self, asked_id: str, reason: str) -> None:
        self._open_dialogs.pop(asked_id, None)
        self._dialogs.close(asked_id, reason)

    async def _ask(self, dialog: Dialog) -> None:
        if not dialog.id or not dialog.session or dialog.id in self._open_dialogs or dialog.id in self._gone:
            return
        self._open_dialogs[dialog.id] = dialog
        self._folders.add(dialog.folder)
        call = _call(dialog, await self._opencode.input_of(dialog))

        async def answer(outcome: Outcome) -> None:
            await self._opencode.reply(dialog, _reply(call, outcome))

        # The same for whoever follows: one that is started again finds what it had asked.
        self._dialogs.open(dialog.id, OpenCodeAgent(), call, digest(OpenCodeAgent.AGENT, dialog.id), answer)


def _call(dialog: Dialog, given: Mapping[str, Any]) -> Call:
    folder = dialog.folder or ""
    questions = [one for one in map(object_of, list_of(dialog.about.get("questions"))) if one is not None]
    if dialog.kind == "question":
        shown = tuple(question_of(one, takes_several=one.get("multiple") is True) for one in questions)
        return Call(dialog.kind, dialog.session, "question", dict(dialog.about), folder, questions=shown)
    metadata = object_of(dialog.about.get("metadata")) or {}
    # What it says itself of the call may be more, such as the difference that an edit makes.
    more = {name: value for name, value in metadata.items() if value not in given.values()}
    args = {**more, **given} or {"patterns": list_of(dialog.about.get("patterns"))}
    tool = optional_text(dialog.about, "permission") or "tool"
    note = "" if given else ". OpenCode did not tell what the tool is called with"
    return Call(dialog.kind, dialog.session, tool, args, folder, note=note)


def _reply(call: Call, outcome: Outcome) -> Mapping[str, Any]:
    if call.questions:
        questions = map(object_of, list_of(call.args.get("questions")))
        return {
            "answers": [_split_labels(one or {}, text) for one, text in zip(questions, outcome.answers, strict=True)]
        }
    if outcome.verdict != "allow":
        return {"reply": "reject", "message": outcome.message}
    # Never for good: what is remembered is kept here, where it is listed and can be taken back.
    return {"reply": "once"}


def _split_labels(question: Mapping[str, Any], text: str) -> list[str]:
    """Several labels, where several may be chosen and nothing else was written."""
    labels = {
        optional_text(one, "label") for one in map(object_of, list_of(question.get("options"))) if one is not None
    }
    parts = [part.strip() for part in text.replace("，", ",").split(",")]
    return parts if question.get("multiple") is True and labels.issuperset(parts) else [text]


async def watch(opencode: OpenCode, inbox: Inbox, folders: Iterable[str] = ()) -> None:
    """Until it is stopped; `InterlockError` where that is not OpenCode, or it does not let us in."""
    running = asyncio.create_task(Watch(opencode, inbox, folders).run())
    stopped = asyncio.Event()

    def stop() -> None:
        stopped.set()
        running.cancel()

    with suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
    try:
        await running
    except asyncio.CancelledError:
        if not stopped.is_set():
            raise
    finally:
        await opencode.close()
        await inbox.close()
