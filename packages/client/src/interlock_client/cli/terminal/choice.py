"""One of several, with none chosen beforehand. Each is shown in full, however long."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from interlock_client.cli.terminal.contents import content
from interlock_client.cli.terminal.revealing import Line, Piece


class Choice(OptionList):
    """Moving only looks; blank, Enter or a number chooses, and sends nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
        Binding("space", "select", show=False),
        *(Binding(str(number), f"pick({number - 1})", show=False) for number in range(1, 10)),
    ]
    DEFAULT_CSS = """
    Choice { border: none; padding: 0; height: auto; background: transparent; }
    Choice:focus { border: none; }
    """

    class Chosen(Message):
        def __init__(self, choice: "Choice", index: int) -> None:
            super().__init__()
            self.choice = choice
            self.index = index

    def __init__(self, lines: Sequence[Line], *, chosen: int | None = None, id: str | None = None) -> None:
        super().__init__(id=id, markup=False, compact=True)
        self._choices = list(lines)
        self.chosen: int | None = chosen
        self.add_options([Option(self._prompt(index)) for index in range(len(self._choices))])

    def _prompt(self, index: int) -> Content:
        mark = "(•)" if index == self.chosen else "( )"
        number = f" {index + 1} " if index < 9 else "   "
        return content((Piece(f"{mark}{number}"), *self._choices[index]))

    def choose(self, index: int | None) -> None:
        self.chosen = index
        for each in range(len(self._choices)):
            self.replace_option_prompt_at_index(each, self._prompt(each))
        if index is not None:
            self.post_message(self.Chosen(self, index))

    def action_pick(self, index: int) -> None:
        if index < len(self._choices):
            self.highlighted = index
            self.choose(index)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.choose(event.option_index)

    def on_focus(self) -> None:
        if self.highlighted is None and self._choices:
            self.highlighted = 0
