"""The list of what waits, by urgency, one line each. The highlight stays on its request when others come and go."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from interlock_client.cli.terminal.open_request import OpenRequest
from interlock_client.cli.terminal.wording import KINDS, RISKS, SOON, age, one_line, time_left

GROUPS = ("EXPIRING SOON", "HIGH RISK", "WAITING")
NARROWEST = 40


class RequestList(OptionList):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
        Binding("G", "last", show=False),
        Binding("g", "first", show=False),
    ]
    DEFAULT_CSS = """
    RequestList { border: none; padding: 0; height: 1fr; max-height: 100%; background: transparent; }
    RequestList:focus { border: none; }
    RequestList > .option-list--option-disabled { color: $text; text-style: bold; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False, compact=True)

    @property
    def selected_id(self) -> str | None:
        """The id of the highlighted request."""
        option = self.highlighted_option
        return option.id if option else None

    def show(self, waiting: Sequence[OpenRequest], now: datetime, marks: Mapping[str, str]) -> None:
        """`marks` say of a request, by its id, where it stands with its people."""
        rows = list(_rows(waiting, now, max(self.size.width, NARROWEST) - 2, marks))
        if [id for id, _ in rows] == [option.id for option in self.options]:
            for index, (_, prompt) in enumerate(rows):
                if self.options[index].prompt != prompt:
                    self.replace_option_prompt_at_index(index, prompt)
            return
        selected_id, place, scrolled = self.selected_id, self.highlighted, self.scroll_y
        self.set_options([Option(prompt, id=id, disabled=id is None) for id, prompt in rows])
        self._highlight(selected_id, place)
        self.scroll_to(y=scrolled, animate=False)

    def _highlight(self, selected_id: str | None, place: int | None) -> None:
        enabled = [index for index, option in enumerate(self.options) if not option.disabled]
        if not enabled:
            return
        same = [index for index in enabled if self.options[index].id == selected_id]
        # Gone: the one that came to its place, which Enter only opens.
        near = [index for index in enabled if index >= (place or 0)] or enabled[-1:]
        self.highlighted = (same if selected_id and same else near)[0]


def _rows(
    waiting: Sequence[OpenRequest], now: datetime, width: int, marks: Mapping[str, str]
) -> Iterator[tuple[str | None, Content]]:
    for number, group in enumerate(GROUPS):
        members = sorted((one for one in waiting if _group(one, now) == number), key=_order)
        if members:
            yield None, Content(f"{group} · {len(members)}")
        for one in members:
            yield one.id, Content(_row(one, now, width, marks.get(one.id, "")))


def _group(one: OpenRequest, now: datetime) -> int:
    if one.expires_at is not None and (one.expires_at - now).total_seconds() < SOON:
        return 0
    return 1 if one.is_risky else 2


def _order(one: OpenRequest) -> tuple[float, float, str]:
    expires = one.expires_at.timestamp() if one.expires_at else float("inf")
    return expires, one.created_at.timestamp(), one.id


def _row(one: OpenRequest, now: datetime, width: int, mark: str) -> str:
    """Risk, kind, what it is about, agent, age and what is left of its time, in columns."""
    risk = RISKS.get(one.risk, "▲ HIGH") if one.risk else ""
    first = f"{_truncate(risk, 9)} {_truncate(KINDS[one.kind], 9)} "
    countdown = time_left((one.expires_at - now).total_seconds()) if one.expires_at else ""
    last = f" {_truncate(one_line(one.agent), 10)} {age((now - one.created_at).total_seconds()):>6} {countdown:>6}"
    about = f"[{mark}] {one_line(one.summary)}" if mark else one_line(one.summary)
    return first + _truncate(about, max(width - cell_len(first) - cell_len(last), 8)) + last


def _truncate(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(text, width - 1) + "…"
