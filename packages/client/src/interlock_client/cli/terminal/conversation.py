"""A conversation with an agent, line by line."""

import threading
from collections.abc import Generator
from concurrent.futures import CancelledError
from contextlib import closing

import typer

from interlock_client.cli._server import reason
from interlock_client.cli.terminal.event_printer import EventPrinter
from interlock_client.cli.terminal.inline import AnsweredElsewhere, Inline, NotAnswered
from interlock_client.cli.terminal.open_request import OpenRequest, from_pending
from interlock_client.cli.terminal.prompting import InputClosed, ask_line, discard_input
from interlock_client.cli.terminal.team_wording import TeamWording, language_of
from interlock_client.cli.terminal.wording import outcome
from interlock_client.errors import (
    AlreadySettled,
    Forbidden,
    InterlockError,
    InvalidInput,
    NetworkError,
    ServerUnavailable,
    ThreadBusy,
)
from interlock_client.events import ChatEvent, End, Interrupt
from interlock_client.sync import SyncInterlock

LONG_POLL = 30.0
BEGINNING = "0"
"""Before the first event of every log."""
CLIENT = {"client": "interlock chat"}


class Conversation:
    def __init__(
        self,
        client: SyncInterlock,
        agent: str | None,
        thread_id: str | None,
        *,
        editor: str | None = None,
        locale: str = "en",
    ) -> None:
        self._client = client
        self._agent = agent
        self._thread_id = thread_id
        self._editor = editor
        self._teller = EventPrinter(tells_requests=False)
        self._team = TeamWording(language_of(locale))
        self._voted: set[str] = set()
        """What this person has answered, and more people have to."""

    def run(self) -> None:
        """Until the input ends."""
        try:
            if self._thread_id is None:
                self._thread_id = self._client.create_thread(self._agent)
            typer.echo(f"thread {self._thread_id}; Ctrl+C stops the agent, Ctrl+D leaves")
            self._answer_pending(None)
            while True:
                if message := self._read_message():
                    self._talk(message)
        except InputClosed:
            typer.echo()

    def _read_message(self) -> str:
        try:
            return ask_line("you> ")
        except KeyboardInterrupt:
            typer.echo()
            return ""

    def _talk(self, message: str) -> None:
        try:
            last = self._print_run(self._client.chat(message, self._thread_id))
            self._answer_pending(last)
        except ThreadBusy as error:
            typer.echo(f"Not sent: {reason(error)}")
            self._answer_pending(None)
        except KeyboardInterrupt:
            self._teller.finish()
            typer.echo("stopped here; what was asked still waits")
        except InterlockError as error:
            self._teller.finish()
            typer.echo(f"interlock: {reason(error)}", err=True)

    def _print_run(self, events: "Generator[ChatEvent]") -> str | None:
        """Tell what a run does until it has ended; where in the log that was, if it waits for a person."""
        last, waits = None, False
        with closing(events):
            for event in events:
                self._teller.print_event(event)
                last, waits = event.id or last, waits or isinstance(event, Interrupt)
                if isinstance(event, End):
                    break
        self._teller.finish()
        return last if waits else None

    def _answer_pending(self, last: str | None) -> None:
        """Ask everything that the thread waits for, and follow what the answers lead to; until it waits no more."""
        while waiting := [one for one in self._read_pending() if one.id not in self._voted]:
            for one in waiting:
                self._ask(one)
            if self._voted.issuperset(one.id for one in waiting):
                # It waits for others, who answer elsewhere.
                return
            last = self._print_run(self._since(last, {one.id for one in waiting}))

    def _read_pending(self) -> list[OpenRequest]:
        assert self._thread_id is not None
        return [from_pending(one) for one in self._client.pending(self._thread_id)]

    def _since(self, last: str | None, asked: set[str]) -> "Generator[ChatEvent]":
        """What happens on the thread after that event, or after the run that asked these requests."""
        assert self._thread_id is not None
        with closing(self._client.follow_thread(self._thread_id, last or BEGINNING)) as events:
            if last is None:
                for event in events:
                    if isinstance(event, Interrupt) and asked & {one.request_id for one in event.requests}:
                        break
                next(event for event in events if isinstance(event, End))
            yield from events

    def _ask(self, waiting: OpenRequest) -> None:
        watch = _Watch(self._client, waiting)
        inline = Inline(waiting, watch.is_over, self._editor)
        inline.show()
        while not watch.is_over():
            discard_input()
            try:
                if self._send(waiting, inline, watch):
                    return
            except AnsweredElsewhere:
                return
            except (Forbidden, InvalidInput) as error:
                typer.echo(f"Not taken, and still waiting: {reason(error)}")
            except AlreadySettled as error:
                watch.stop()
                typer.echo(f"Not taken: {reason(error)}")
                return
            except (NetworkError, ServerUnavailable) as error:
                typer.echo(f"No reply: {reason(error)}. Don't assume that it ran.")

    def _send(self, waiting: OpenRequest, inline: Inline, watch: "_Watch") -> bool:
        try:
            response = inline.response()
        except NotAnswered:
            watch.stop()
            self._client.cancel(waiting.id)
            return True
        watch.stop()
        answered = self._client.respond(waiting.id, response, metadata=CLIENT)
        if answered.status == "pending" and answered.votes is not None:
            self._voted.add(waiting.id)
            key = "yes is in" if response.get("granted") else "no is in"
            typer.echo(self._team.text(key, yes=answered.votes.yes, needed=answered.votes.needed))
        return True


class _Watch:
    """Says at once when somebody else answers what is being asked here."""

    def __init__(self, client: SyncInterlock, waiting: OpenRequest) -> None:
        self._client = client
        self._waiting = waiting
        self._over = threading.Event()
        self._stopped = threading.Event()
        threading.Thread(target=self._run, name="interlock-watch", daemon=True).start()

    def is_over(self) -> bool:
        return self._over.is_set()

    def stop(self) -> None:
        """An answer is on its way from here: what comes of it is told by the reply."""
        self._stopped.set()

    def _run(self) -> None:
        try:
            request = self._client.request(self._waiting.id, wait=LONG_POLL)
            while request.status == "pending" and not self._stopped.is_set():
                request = self._client.request(self._waiting.id, wait=LONG_POLL)
        except (InterlockError, RuntimeError, CancelledError):
            return  # asked without it: who comes second is told so
        if request.status != "pending" and not self._stopped.is_set():
            self._over.set()
            typer.echo(f"\n{outcome(request, request.status)} Press Enter to go on.")
