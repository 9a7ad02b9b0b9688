"""The second act before something is allowed: a second key, or, where the risk is high, a word typed in full."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from interlock_client.cli.terminal.choice import Choice
from interlock_client.cli.terminal.contents import join_lines
from interlock_client.cli.terminal.revealing import Line, line
from interlock_client.cli.terminal.wording import HIGH_RISK, ONCE, Remember

GUARD = 0.4
"""Seconds in which keys do nothing: they were meant for what was there before."""


@dataclass(frozen=True, slots=True)
class Act:
    title: str
    lines: Sequence[Line]
    words: tuple[str, ...] = ()
    """One of them has to be typed; without any a second `a` is enough."""
    remember: Sequence[Remember] = (ONCE,)


class ConfirmScreen(Screen[Remember | None]):
    """Gives how it is to be remembered when the act is confirmed, None when it is not."""

    app: App[None]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "again", show=False),
        Binding("h", "high", show=False),
        Binding("ctrl+s", "send", show=False, priority=True),
        Binding("escape", "leave", show=False),
    ]
    DEFAULT_CSS = """
    ConfirmScreen { layout: vertical; }
    ConfirmScreen #title { background: $error-muted; color: $text; height: auto; padding: 0 1; text-style: bold; }
    ConfirmScreen #act { height: 1fr; padding: 0 1; }
    ConfirmScreen Input { height: 1; border: none; margin: 0 1; background: $boost; }
    ConfirmScreen #remember, ConfirmScreen #high { margin: 0 1; }
    ConfirmScreen #notice, ConfirmScreen #keys { height: auto; padding: 0 1; }
    ConfirmScreen #keys { color: $text-muted; }
    """

    def __init__(self, act: Act) -> None:
        super().__init__()
        self._act = act
        self._shown_at = float("inf")
        self._is_high = False

    def compose(self) -> ComposeResult:
        yield Static(Content(self._act.title), id="title", markup=False)
        with VerticalScroll(id="act"):
            yield Static(join_lines(self._act.lines), markup=False)
            if len(self._act.remember) > 1:
                sentences = [line(one.sentence) for one in self._act.remember]
                yield Choice(sentences, chosen=0, id="remember")
            if self._may_raise:
                yield Static(Content(self._high()), id="high", markup=False)
        yield Static(id="notice", markup=False)
        if self._words:
            yield Input(id="word", compact=True)
        yield Static(Content(self._keys()), id="keys", markup=False)

    def on_mount(self) -> None:
        self._shown_at = time.monotonic()
        if self._words:
            self.query_one("#word").focus()
            self._show_text(f"To do this, type {' or '.join(self._words)} in full, then Ctrl+S.")
        elif len(self._act.remember) > 1:
            self.query_one("#remember").focus()

    @property
    def ready(self) -> bool:
        return time.monotonic() - self._shown_at > GUARD

    @property
    def _words(self) -> tuple[str, ...]:
        return self._act.words

    @property
    def _may_raise(self) -> bool:
        return len(self._act.remember) > 1 and any(one.may_raise for one in self._act.remember)

    def _high(self) -> str:
        mark = "[x]" if self._is_high else "[ ]"
        return f"{mark} h also for high-risk calls; without it any call of a higher risk than this one is asked about."

    def action_high(self) -> None:
        if self._may_raise:
            self._is_high = not self._is_high
            self.query_one("#high", Static).update(Content(self._high()))

    def _keys(self) -> str:
        how = "type the word, Ctrl+S" if self._words else "a again"
        moves = "   Tab moves" if len(self._act.remember) > 1 else ""
        return f"{how}: do it   Esc: back, nothing is sent{moves}"

    def _remember(self) -> Remember:
        found = self.query("#remember")
        if not found:
            return self._act.remember[0]
        chosen = found.only_one(Choice).chosen
        return self._act.remember[chosen or 0]

    def action_again(self) -> None:
        if not self._words:
            self._confirm()

    def action_send(self) -> None:
        if self._words and self.query_one("#word", Input).value.strip() not in self._words:
            self._show_text(f"That is not it: type {' or '.join(self._words)} in full.")
        elif self._words:
            self._confirm()

    def _confirm(self) -> None:
        if not self.ready:
            return
        remember = self._remember()
        if self._is_high and not remember.may_raise:
            self._show_text("High-risk calls go with any arguments or every tool only; h takes it back.")
        elif self._is_high:
            self._ask(remember.with_high_risk(), HIGH_RISK)
        elif remember.scope == "all_tools" and not self._words:
            # Much is given away at once: that takes the word as well.
            self._ask(remember, ("YES",))
        else:
            self.dismiss(remember)

    def _ask(self, remember: Remember, words: tuple[str, ...]) -> None:
        self.app.push_screen(ConfirmScreen(Act(f"{remember.sentence}?", (), words, (remember,))), self._dismiss_with)

    def _dismiss_with(self, remember: Remember | None) -> None:
        if remember is not None:
            self.dismiss(remember)

    def action_leave(self) -> None:
        self.dismiss(None)

    def _show_text(self, text: str) -> None:
        self.query_one("#notice", Static).update(Content(text))
