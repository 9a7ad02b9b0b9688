"""Confirming in a terminal."""

import asyncio
import getpass
import threading
from collections.abc import Callable, Mapping
from typing import Any

from interlock_client._confirmations import ConfirmationConfig, ConfirmationRequest, ConfirmationResponse
from interlock_client._error_handling import ErrorHandlingConfirmationClient
from interlock_client._forms import Field, fields_of, response_of, rows_of
from interlock_client.visible import visible

DECLINE = "!"
"""What is typed to give no answer to what is no approval."""

Read = Callable[[str], str]


class Lines:
    """Lines typed by a person, each read in a thread of its own: the loop goes on, and a question may end unanswered.

    A line that was begun for another question is never taken for the present one.
    """

    def __init__(self, say: Callable[[str], None], warning: str) -> None:
        self._say = say
        self._warning = warning
        self._next_line: asyncio.Future[str] | None = None

    async def next(self, prompt: str, read: Read | None = None) -> str:
        """`EOFError` when there will be no more."""
        if self._next_line is not None:
            self._say(self._warning)
            await self._end_of(self._next_line)
        self._next_line = reading = _in_thread(read or input, prompt)
        line = await asyncio.shield(reading)
        self._next_line = None
        return line

    async def _end_of(self, reading: "asyncio.Future[str]") -> None:
        await asyncio.wait([reading])
        self._next_line = None
        reading.exception()


def _in_thread(read: Read, prompt: str) -> "asyncio.Future[str]":
    """In a daemon thread: a program may end while nobody types."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[str] = loop.create_future()

    def work() -> None:
        try:
            line, error = read(prompt), None
        except (EOFError, KeyboardInterrupt, OSError, ValueError) as failure:
            line, error = "", failure
        if not loop.is_closed():
            loop.call_soon_threadsafe(finish, line, error)

    def finish(line: str, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(line)
        else:
            done.set_exception(EOFError(str(error)))

    threading.Thread(target=work, name="interlock-terminal", daemon=True).start()
    return done


class CliConfirmationHandler(ErrorHandlingConfirmationClient):
    """Shows what is to be confirmed, with nothing hidden in it, and takes y or n; Enter alone is neither.

    What is of high risk is confirmed by typing out the tool's name.
    """

    def __init__(
        self,
        ws_url: str,
        *,
        key: str | None = None,
        token: str | None = None,
        user: str | None = None,
        locale: str | None = None,
        config: ConfirmationConfig | Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(ws_url, key=key, token=token, user=user, locale=locale, config=config)
        self._lines = Lines(self.say, self.wording.text("other line"))
        self._turn = asyncio.Lock()

    def say(self, text: str) -> None:
        print(text, flush=True)  # noqa: T201

    async def show_notification(self, message: str, level: str = "info") -> None:
        self.say(f"[{level}] {visible(message)}")

    async def on_confirmation_requested(self, request: ConfirmationRequest) -> None:
        # One question at a time, however many there are.
        async with self._turn:
            self._show(request)
            try:
                response = await self._decide(request)
            except EOFError:
                self.say(self.wording.text("closed"))
                return
        await self.send_confirmation(request.step_id, response)

    def _show(self, request: ConfirmationRequest) -> None:
        line = "=" * 50
        title = self.wording.text("title" if request.kind == "approval" else "asked")
        self.say("\n".join(["", line, title, line, *rows_of(request, self.wording), line]))

    async def _decide(self, request: ConfirmationRequest) -> ConfirmationResponse:
        fields = fields_of(request)
        if fields:
            return await self._fill_in(request, fields)
        confirmed = await (self._confirm_by_name(request) if request.is_high_risk else self._yes_or_no())
        return ConfirmationResponse(confirmed, self.wording.text("confirmed" if confirmed else "refused"))

    async def _yes_or_no(self) -> bool:
        while True:
            typed = (await self._lines.next(self.wording.text("confirm?"))).strip().lower()
            if typed in ("y", "n"):
                return typed == "y"
            self.say(self.wording.text("y or n"))

    async def _confirm_by_name(self, request: ConfirmationRequest) -> bool:
        name = visible(request.tool_name, keep="")
        while True:
            typed = (await self._lines.next(self.wording.text("type name?", name=name))).strip()
            if typed.lower() == "n" and name != typed:
                return False
            if typed == name and name:
                return True
            self.say(self.wording.text("name or n", name=name))

    async def _fill_in(self, request: ConfirmationRequest, fields: list[Field]) -> ConfirmationResponse:
        self.say(self.wording.text("decline", word=DECLINE))
        values: list[str] = []
        for field in fields:
            value = await self._value(field)
            if value is None:
                return ConfirmationResponse(False, self.wording.text("refused"))
            values.append(value)
        return ConfirmationResponse(True, metadata={"response": response_of(request, values)})

    async def _value(self, field: Field) -> str | None:
        self.say(visible(field.label))
        for number, (value, label) in enumerate(field.options, 1):
            visible_label = visible(label, keep="")
            self.say(f"  {number}. {visible_label}" + ("" if value == label else f" ({visible(value, keep='')})"))
        hint = self.wording.text("number or text" if field.allow_custom else "number") if field.options else ""
        while True:
            typed = await self._lines.next(f"{hint}> ", getpass.getpass if field.secret else None)
            if typed.strip() == DECLINE:
                return None
            value = field.value_of(typed)
            if value is not None:
                return value
            self.say(self.wording.text("not offered" if typed.strip() else "required"))
