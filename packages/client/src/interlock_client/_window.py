"""Confirming in a window. tkinter is only imported when there is something to show."""

import asyncio
import gc
import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from interlock_client._confirmations import ConfirmationConfig, ConfirmationRequest, ConfirmationResponse
from interlock_client._error_handling import ErrorHandlingConfirmationClient
from interlock_client._forms import Field, fields_of, response_of, rows_of
from interlock_client._wording import Wording
from interlock_client.errors import InterlockError
from interlock_client.visible import visible

if TYPE_CHECKING:
    import tkinter as tk

LOOK_MILLISECONDS = 30
CLOSING = 10.0

Decide = Callable[[ConfirmationResponse], None]


class GuiConfirmationHandler(ErrorHandlingConfirmationClient):
    """Shows a window for each confirmation, in a thread of its own, so that nothing waits for it.

    No key confirms by itself, closing a window refuses, and what is of high risk is confirmed by typing out the tool's
    name.
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
        self._windows: Windows | None = None

    async def on_confirmation_requested(self, request: ConfirmationRequest) -> None:
        loop = asyncio.get_running_loop()
        decided: asyncio.Future[ConfirmationResponse] = loop.create_future()

        def decide(response: ConfirmationResponse) -> None:
            loop.call_soon_threadsafe(lambda: decided.done() or decided.set_result(response))

        if self._windows is None:
            self._windows = await asyncio.to_thread(Windows, self.wording)
        windows = self._windows
        windows.do(lambda screen: screen.show(request, decide))
        try:
            response = await decided
        finally:
            windows.do(lambda screen: screen.close(request.step_id))
        await self.send_confirmation(request.step_id, response)

    async def _finish(self) -> None:
        await super()._finish()
        if self._windows is not None:
            await asyncio.to_thread(self._windows.end)
            self._windows = None


class Windows:
    """The thread of the windows. Everything of tkinter is made, used and dropped in it, as tkinter wants it."""

    def __init__(self, wording: Wording) -> None:
        self._wording = wording
        self._work: queue.SimpleQueue[Callable[[Screen], None] | None] = queue.SimpleQueue()
        self._failure: Exception | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="interlock-windows", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise InterlockError(f"no window can be shown: {self._failure}", code="no_display") from self._failure

    def do(self, work: "Callable[[Screen], None]") -> None:
        self._work.put(work)

    def end(self) -> None:
        self._work.put(None)
        self._thread.join(CLOSING)

    def _run(self) -> None:
        try:
            import tkinter as tk

            root = tk.Tk()
        except Exception as error:
            self._failure = error
            return
        finally:
            self._ready.set()
        root.withdraw()
        screen = Screen(root, self._wording)
        root.after(LOOK_MILLISECONDS, self._look, root, screen)
        root.mainloop()
        root.destroy()
        # Dropped in another thread they would take the process down.
        del root, screen
        gc.collect()

    def _look(self, root: "tk.Tk", screen: "Screen") -> None:
        while not self._work.empty():
            work = self._work.get()
            if work is None:
                root.quit()
                return
            work(screen)
        root.after(LOOK_MILLISECONDS, self._look, root, screen)


@dataclass
class Screen:
    root: "tk.Tk"
    wording: Wording
    open: "dict[str, tk.Toplevel]" = field(default_factory=dict[str, Any])

    def show(self, request: ConfirmationRequest, decide: Decide) -> None:
        import tkinter as tk

        window = tk.Toplevel(self.root)
        self.open[request.step_id] = window
        word = self.wording.text
        window.title(word("title" if request.kind == "approval" else "asked"))

        def refuse() -> None:
            decide(ConfirmationResponse(False, word("refused")))

        window.protocol("WM_DELETE_WINDOW", refuse)
        window.bind("<Escape>", lambda _event: refuse())
        text = tk.Text(window, width=80, height=16, wrap="char")
        text.insert("1.0", "\n".join(rows_of(request, self.wording)))
        text.configure(state="disabled")
        text.pack(fill="both", expand=True)
        fields = fields_of(request)
        if fields:
            self._form(window, request, fields, decide)
        else:
            self._approval(window, request, decide)
        cancel = tk.Button(window, text=word("cancel"), command=refuse)
        cancel.pack(side="right")
        window.after_idle(cancel.focus_set)

    def close(self, step_id: str) -> None:
        window = self.open.pop(step_id, None)
        if window is not None:
            window.destroy()

    def _approval(self, window: "tk.Toplevel", request: ConfirmationRequest, decide: Decide) -> None:
        import tkinter as tk

        word, name = self.wording.text, visible(request.tool_name, keep="")

        def confirm() -> None:
            decide(ConfirmationResponse(True, word("confirmed")))

        if not request.is_high_risk:
            tk.Button(window, text=word("run"), command=confirm).pack(side="left")
            return
        tk.Label(window, text=word("type name", name=name)).pack(anchor="w")
        typed = tk.Entry(window, width=60)
        typed.pack(anchor="w")
        run = tk.Button(window, text=word("run"), command=confirm, state="disabled")
        run.pack(side="left")

        def look(_event: object) -> None:
            run.configure(state="normal" if name and typed.get().strip() == name else "disabled")

        typed.bind("<KeyRelease>", look)

    def _form(self, window: "tk.Toplevel", request: ConfirmationRequest, fields: list[Field], decide: Decide) -> None:
        import tkinter as tk

        entries = [self._entry(window, field) for field in fields]
        hint = tk.Label(window)

        def send() -> None:
            typed = [entry.get() for entry in entries]
            values = [one.value_of(text) for one, text in zip(fields, typed, strict=True)]
            taken = [value for value in values if value is not None]
            if len(taken) < len(fields):
                hint.configure(text=self.wording.text("not offered" if all(typed) else "required"))
                return
            decide(ConfirmationResponse(True, metadata={"response": response_of(request, taken)}))

        hint.pack(anchor="w")
        tk.Button(window, text=self.wording.text("send"), command=send).pack(side="left")

    def _entry(self, window: "tk.Toplevel", one: Field) -> "tk.Entry":
        import tkinter as tk

        rows = [visible(one.label), *(f"{n}. {visible(label, keep='')}" for n, (_, label) in enumerate(one.options, 1))]
        tk.Label(window, text="\n".join(rows), justify="left").pack(anchor="w")
        entry = tk.Entry(window, width=60, show="•" if one.secret else "")
        entry.pack(anchor="w")
        return entry
